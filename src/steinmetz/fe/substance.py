"""A law as finite elements need it: slopes of Ψ̂ in I1, I2 and J, and the slopes of those.

A law of a compressible material is taken as it is. That of an incompressible one is a function of
I1 and I2 where J = 1: it is completed as exports are, with modified invariants and a bulk modulus K
(`potentials/volume.py`), so that the volume hardly changes where K is large.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.errors import InputError
from steinmetz.potentials import volume
from steinmetz.potentials.base import Potential, slopes
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import INVARIANTS, Term, Terms, slopes_of
from steinmetz.potentials.shape import Constants
from steinmetz.records import Reference
from steinmetz.shapes import Points, Theta

Numbers = Float[np.ndarray, "parameters"]
Rows = Float[np.ndarray, "data 3"]
Draws = Float[np.ndarray, "draws parameters"]


class Piece(eqx.Module):
    """A potential that is added to others: a whole network, or one term of a law.

    Laws share their terms, so that what is compiled for one serves all that contain it. `isochoric`
    says that it is a function of the modified invariants.
    """

    potential: Potential
    reference: Reference = eqx.field(static=True)
    isochoric: bool = eqx.field(static=True)

    def slopes(self, theta: Theta, x: Points) -> Points:
        """∇Ψ̂ at many (I1, I2, J)."""
        if not self.isochoric:
            return slopes(self.potential, self.reference, theta, x)
        at = (x[:, 0], x[:, 1], x[:, 2])
        inner = jnp.stack(volume.modified(jnp, at), axis=1)
        own = slopes(self.potential, self.reference, theta, inner)
        return jnp.stack(volume.pulled(jnp, (own[:, 0], own[:, 1]), at), axis=1)


# K/2 (J − 1)², its parameter being K/2.
_SWELLING = Piece(Terms(INVARIANTS, (volume.VOLUME,)), Reference((3.0, 3.0, 1.0)), False)


@jax.jit
def _first(piece: Piece, theta: Array, x: Array) -> Array:
    return piece.slopes(theta, x)


@jax.jit
def _both(piece: Piece, theta: Array, x: Array) -> tuple[Array, Array]:
    def along(direction: Array) -> tuple[Array, Array]:
        every = jnp.broadcast_to(direction, x.shape)
        pair: tuple[Array, Array] = jax.jvp(lambda at: piece.slopes(theta, at), (x,), (every,))
        return pair

    found: tuple[Array, Array] = jax.vmap(along, out_axes=(None, 2))(jnp.eye(3))
    return found


@jax.jit
def _changes(piece: Piece, theta: Array, x: Array) -> Array:
    changes: Array = jax.jacfwd(lambda each: piece.slopes(each, x))(theta)
    return changes


def _slopes(piece: Piece, theta: Numbers, x: Rows) -> Rows:
    """∇Ψ̂ of a piece: in NumPy for a term, compiled for a network."""
    if not isinstance(piece.potential, Terms):
        return np.asarray(_first(piece, theta, x))
    ((term, coefficient, constants),) = piece.potential.placed(theta)
    if not piece.isochoric:
        return np.asarray(coefficient * _normalised(piece.reference, term, constants, x))
    at = (x[:, 0], x[:, 1], x[:, 2])
    inner = np.stack(volume.modified(np, at), axis=1)
    own = coefficient * _normalised(piece.reference, term, constants, inner)
    return np.stack(volume.pulled(np, (own[:, 0], own[:, 1]), at), axis=1)


def _normalised(
    reference: Reference, term: Term, constants: Constants, x: Float[np.ndarray, "data inputs"]
) -> Float[np.ndarray, "data inputs"]:
    """∇T̂ at many x, of a term whose coefficient is one."""
    found = slopes_of(term, constants, np.concatenate([x, np.array([reference.point])]))
    return np.asarray(found[:-1] - (found[-1] - found[-1] @ reference.responses))


class Substance(NamedTuple):
    """A law as the sum of its pieces, with the places of their parameters in θ; `bulk` is K.

    Slopes of terms are taken in NumPy, where nothing is compiled; curvatures are JAX's.
    """

    pieces: tuple[Piece, ...]
    places: tuple[slice, ...]
    bulk: float | None = None

    @classmethod
    def of(
        cls, potential: Potential, reference: Reference, bulk: float | None = None
    ) -> "Substance":
        """Term by term, where a law is composed of terms."""
        parts: list[tuple[Potential, int]] = [(potential, potential.size)]
        if isinstance(potential, Terms):
            parts = [(Terms(potential.inputs, (term,)), term.size) for term in potential.terms]
        ends = np.cumsum([size for _, size in parts])
        places = tuple(slice(end - size, end) for (_, size), end in zip(parts, ends, strict=True))
        pieces = tuple(Piece(part, reference, bulk is not None) for part, _ in parts)
        return cls(pieces, places, bulk)

    def _with(self, theta: Numbers) -> list[tuple[Piece, np.ndarray]]:
        """Pieces of the law with their parameters."""
        return [(p, theta[place]) for p, place in zip(self.pieces, self.places, strict=True)]

    def _every(self, theta: Numbers) -> list[tuple[Piece, np.ndarray]]:
        """The same, and what keeps the volume of an incompressible law."""
        kept = [] if self.bulk is None else [(_SWELLING, np.array([self.bulk / 2]))]
        return [*self._with(theta), *kept]

    def slopes(self, theta: Numbers, x: Rows) -> Rows:
        """∇Ψ̂ at many (I1, I2, J)."""
        return np.asarray(sum(_slopes(piece, own, x) for piece, own in self._every(theta)))

    def local(self, theta: Numbers, x: Rows) -> tuple[Rows, Float[np.ndarray, "data 3 3"]]:
        """∇Ψ̂ and ∇∇Ψ̂ at many (I1, I2, J)."""
        every = [_both(piece, own, x) for piece, own in self._every(theta)]
        first, second = (sum(np.asarray(pair[n]) for pair in every) for n in (0, 1))
        return np.asarray(first), np.asarray(second)

    def changes(self, theta: Numbers, x: Rows) -> Float[np.ndarray, "data 3 parameters"]:
        """∂(∇Ψ̂)/∂θ: one more axis, last."""
        columns = []
        for piece, own in self._with(theta):
            alone = isinstance(piece.potential, Terms) and len(own) == 1
            one = np.ones(1)
            columns.append(_slopes(piece, one, x)[..., None] if alone else _changes(piece, own, x))
        return np.concatenate(columns, axis=2)

    def shear(self, theta: Numbers) -> float:
        """The shear modulus at small strain, 2 (Ψ̂₁ + Ψ̂₂)."""
        first = self.slopes(theta, np.array([[3.0, 3.0, 1.0]]))[0]
        return float(2 * (first[0] + first[1]))


def of_law(law: Law, bulk: float | None = None) -> Substance:
    """The law of an isotropic material; an incompressible one gets a bulk modulus if none is given.

    What is given must be of a law that has none of its own.
    """
    inputs = law.graph.inputs
    if inputs == INVARIANTS:
        if bulk is not None:
            raise InputError("--bulk: the law says itself how the volume changes; leave it out")
        return Substance.of(law.graph, law.reference)
    if inputs != INVARIANTS[:2]:
        raise InputError(
            f"finite elements need a law in I1, I2 and J, this one is in {', '.join(inputs)}"
        )
    return Substance.of(law.graph, law.reference, volume.stiff(law) if bulk is None else bulk)
