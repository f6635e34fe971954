"""Laplace's approximation of a log density: its mode and the covariance there (method §5).

It stands below the posterior and the samplers, because both need it: the posterior to say where a
law lies and how sharply the data hold it, the samplers to see every target as if it were round.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.shapes import Matrix, Particles, Scalar, Vector

# A log density, up to a constant.
LogDensity = Callable[[Vector], Scalar]
# Standardised residuals: −½ of the sum of their squares is a term of a log density.
Rows = Callable[[Vector], Float[Array, "rows"]]

# Least eigenvalue, as a share of the largest: a flat direction must not make a step infinite.
_SMALLEST = 1e-3


class Laplace(eqx.Module):
    """The Gaussian N(centre, root rootᵀ) that touches a log density at its mode.

    In coordinates v with u = centre + root v (whitening) it is the standard normal.
    """

    centre: Vector
    root: Matrix

    def forward(self, v: Vector) -> Vector:
        """u of one point v."""
        return self.centre + self.root @ v

    def forward_all(self, v: Particles) -> Particles:
        """u of many points v, as one product of matrices."""
        return self.centre + v @ self.root.T

    def inverse(
        self, u: Float[Array, "*particles dimension"]
    ) -> Float[Array, "*particles dimension"]:
        """v of one point u, or of many: for draws of a sampler that saw u itself."""
        return jnp.transpose(jnp.linalg.solve(self.root, (u - self.centre).T))


class Search(NamedTuple):
    """How a mode is looked for: Newton steps, trial lengths 1, ½, ¼ … of each, and its clipping.

    `longest` is the most that a coordinate may change in one step; None sets no limit.
    """

    steps: int
    lengths: int
    longest: float | None = None


def gauss_newton(*rows: Rows) -> Callable[[Vector], Matrix]:
    """u → JᵀJ, J the Jacobian of all rows at u: a curvature that is never negative."""

    def curvature(u: Vector) -> Matrix:
        jacobian = jax.jacfwd(lambda v: jnp.concatenate([row(v) for row in rows]))(u)
        return jnp.matmul(jacobian.T, jacobian)

    return curvature


def positive(hessian: Matrix) -> Matrix:
    """|λ|, and at least a thousandth of the largest; the identity where it is not finite."""
    finite = jnp.all(jnp.isfinite(hessian))
    unit = jnp.eye(len(hessian), dtype=hessian.dtype)
    values, vectors = jnp.linalg.eigh(jnp.where(finite, hessian, unit))
    size = jnp.abs(values)
    tiny = float(np.finfo(hessian.dtype).tiny) ** 0.5
    size = jnp.maximum(size, jnp.maximum(_SMALLEST * jnp.max(size), tiny))
    return jnp.matmul(vectors * size, vectors.T)


def at_mode(
    log_density: LogDensity, curvature: Callable[[Vector], Matrix], start: Vector, search: Search
) -> Laplace:
    """The approximation at the mode that damped Newton steps reach from `start`.

    A step is C⁻¹ ∇log p, C the curvature, which must be positive definite. Of its trial lengths the
    one with the highest finite density is taken, if that is higher than here. With C = L Lᵀ at the
    end, the root is L⁻ᵀ. Where the steps do not suffice, the centre is the highest point reached.
    """

    def step(u: Vector, _: None) -> tuple[Vector, None]:
        slope = jax.grad(log_density)(u)
        move = jnp.linalg.solve(curvature(u), slope)
        if search.longest is not None:
            move = jnp.clip(move, -search.longest, search.longest)
        lengths = 0.5 ** jnp.arange(search.lengths)
        values = jax.vmap(lambda length: log_density(u + length * move))(lengths)
        best = jnp.argmax(jnp.where(jnp.isfinite(values), values, -jnp.inf))
        better = values[best] > log_density(u)
        return jnp.where(better, u + lengths[best] * move, u), None

    centre = jax.lax.scan(step, start, None, length=search.steps)[0]
    lower = jnp.linalg.cholesky(curvature(centre))
    inverse = jax.scipy.linalg.solve_triangular(lower, jnp.eye(len(centre)), lower=True)
    return Laplace(centre, inverse.T)
