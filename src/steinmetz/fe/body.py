"""A body of one substance: forces, tangents, sensitivities and stresses at displacements.

Programs are compiled for one draw at a time: on a processor that is as fast as many at once, and
memory does not grow with the number of draws.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.fe import kernel
from steinmetz.fe.space import Cubature, Space
from steinmetz.fe.substance import Substance

Vector = Float[np.ndarray, "all"]
Theta = Float[np.ndarray, "parameters"]


class Forces(NamedTuple):
    """Forces of a body on its nodes, and the values of its matrix where they were asked for."""

    internal: Vector
    matrix: Float[np.ndarray, "nonzeros"] | None = None


@jax.jit
def _inputs(cubature: Cubature, moved: Array) -> tuple[Array, Array]:
    """Inputs of the law at all points, and the least of J and J̄."""
    at = kernel.points(cubature, moved)
    return at.inputs.reshape(-1, 3), jnp.min(at.mixed[..., 2:])


@jax.jit
def _residual(cubature: Cubature, moved: Array, slopes: Array) -> Array:
    return kernel.residual(cubature, moved, slopes)


@jax.jit
def _tangent(
    cubature: Cubature, moved: Array, slopes: Array, curvatures: Array
) -> tuple[Array, Array]:
    forces = kernel.residual(cubature, moved, slopes)
    return forces, kernel.tangent(cubature, moved, slopes, curvatures)


@jax.jit
def _sensitivity(cubature: Cubature, moved: Array, changes: Array) -> Array:
    """∂(forces)/∂θ of every cell: forces are linear in the slopes of the law."""
    return jax.vmap(lambda slopes: kernel.residual(cubature, moved, slopes), 2)(changes)


@jax.jit
def _cauchy(cubature: Cubature, moved: Array, slopes: Array) -> Array:
    return kernel.cauchy(cubature, moved, slopes).reshape(-1, 3, 3)


class Body(NamedTuple):
    """A mesh filled with a substance."""

    space: Space
    cubature: Cubature
    substance: Substance

    @classmethod
    def of(cls, space: Space, substance: Substance) -> "Body":
        """The tables of a space where JAX finds them."""
        return cls(space, Cubature(*jax.tree.map(jnp.asarray, tuple(space.cubature))), substance)

    def _moved(self, u: Vector) -> Array:
        cells = self.space.mesh.cells
        return jnp.asarray(u[self.space.gather].reshape(*cells.shape, -1))

    def inputs(self, u: Vector) -> Float[np.ndarray, "points 3"]:
        """I1, I2 and J at all points, the projected ones where the volume is projected."""
        return np.asarray(_inputs(self.cubature, self._moved(u))[0])

    def forces(self, theta: Theta, u: Vector, matrix: bool = False) -> Forces | None:
        """Internal forces, with the tangent matrix if it is asked for; None where J ≤ 0."""
        moved = self._moved(u)
        inputs, least = _inputs(self.cubature, moved)
        if not least > 0:
            return None
        x = np.asarray(inputs)
        if not matrix:
            slopes = self.substance.slopes(theta, x)
            found = Forces(self._assembled(_residual(self.cubature, moved, slopes)))
        else:
            slopes, curvatures = self.substance.local(theta, x)
            parts = _tangent(self.cubature, moved, slopes, curvatures)
            entries = np.asarray(parts[1]).ravel()
            found = Forces(self._assembled(parts[0]), self.space.matrix(entries))
        return found if np.isfinite(found.internal).all() else None

    def _assembled(self, cells: Array) -> Vector:
        place = self.space.gather.ravel()
        return np.bincount(place, np.asarray(cells).ravel(), self.space.unknowns)

    def sensitivity(self, theta: Theta, u: Vector) -> Float[np.ndarray, "all parameters"]:
        """∂(internal forces)/∂θ at fixed displacements."""
        moved = self._moved(u)
        x = np.asarray(_inputs(self.cubature, moved)[0])
        changes = self.substance.changes(theta, x)
        every = _sensitivity(self.cubature, moved, changes)
        return np.stack([self._assembled(each) for each in every], axis=1)

    def stress(self, theta: Theta, u: Vector) -> Float[np.ndarray, "points 3 3"]:
        """Cauchy stress at all points."""
        moved = self._moved(u)
        x = np.asarray(_inputs(self.cubature, moved)[0])
        slopes = self.substance.slopes(theta, x)
        return np.asarray(_cauchy(self.cubature, moved, slopes))
