"""Potentials in terms of mechanics: Ψ = Σ c_i T_i(I1, I2, J), every T_i polyconvex by itself.

A term is a *shape* with constants: a power of ‖F‖ or ‖cof F‖, an exponential, a locking logarithm,
a function of the volume. Shapes have slope one at the reference, so that a coefficient is half a
shear modulus there. What is convex and non-decreasing in ‖F‖ = √I1 and ‖cof F‖ = √I2 and convex in
J is polyconvex: more than what is convex in (I1, I2, J). With non-negative coefficients the sum is,
too. A term with a *barrier* is made stress-free by −n log J in place of the −n (J − 1) of the
reference (method §1): the energy of such a term is infinite at zero volume. One constant of a term
may be free: it is then a parameter beside the coefficient, counted from its least value upwards.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from steinmetz.potentials.base import Potential
from steinmetz.potentials.classical import SHAPES, Constants, Invariants, Numerics, Value
from steinmetz.shapes import Inputs, Points, Scalar, Theta

# v of the normalisation: what slopes add to the stress at F = I.
_WEIGHTS = (2.0, 4.0, 1.0)
_REFERENCE = (3.0, 3.0, 1.0)


class Term(NamedTuple):
    """A shape with its constants; `free`: the first of them is counted from there upwards."""

    shape: str
    constants: tuple[float, float]
    barrier: bool = False
    free: bool = False

    @property
    def size(self) -> int:
        """Parameters: the coefficient, and the free constant."""
        return 1 + self.free

    def at(self, excess: Value) -> Constants:
        """The constants where the free one is `excess` above its least value."""
        return (self.constants[0] + excess, self.constants[1]) if self.free else self.constants

    def slopes(self, numerics: Numerics, x: Invariants, p: Constants) -> Invariants:
        """∂T/∂I1, ∂T/∂I2, ∂T/∂J, those of the barrier among them."""
        own = SHAPES[self.shape].slopes(numerics, x, p)
        if not self.barrier:
            return own
        return own[0], own[1], own[2] - self.pressure(numerics, p) / x[2]

    def energy(self, numerics: Numerics, x: Invariants, p: Constants) -> Value:
        """T at a state."""
        own = SHAPES[self.shape].energy(numerics, x, p)
        return own - self.pressure(numerics, p) * numerics.log(x[2]) if self.barrier else own

    def pressure(self, numerics: Numerics, p: Constants) -> Value:
        """n, the pressure at the reference that the barrier takes away."""
        point = tuple(numerics.asarray(value) for value in _REFERENCE)
        slopes = SHAPES[self.shape].slopes(numerics, point, p)
        return sum(weight * slope for weight, slope in zip(_WEIGHTS, slopes, strict=True))

    @property
    def bursts(self) -> bool:
        """Whether its energy is infinite at zero volume."""
        return self.barrier or SHAPES[self.shape].bursts(self.constants)

    def label(self, p: Constants | None = None) -> str:
        """A name for people."""
        return SHAPES[self.shape].label(self.constants if p is None else p)


class Terms(Potential):
    """Ψ(θ, x) = Σ c_i T_i(x); θ has every coefficient, followed by the excess of a free one."""

    inputs: tuple[str, ...] = eqx.field(static=True)
    terms: tuple[Term, ...] = eqx.field(static=True)
    nonnegative: tuple[bool, ...] = eqx.field(static=True)

    def __init__(self, inputs: tuple[str, ...], terms: tuple[Term, ...]) -> None:
        """All parameters are non-negative: coefficients, and excesses over the least constants."""
        self.inputs, self.terms = inputs, terms
        self.nonnegative = (True,) * sum(term.size for term in terms)

    def placed(self, theta: Value) -> list[tuple[Term, Value, Constants]]:
        """Every term with its coefficient and its constants."""
        found, place = [], 0
        for term in self.terms:
            excess = theta[place + 1] if term.free else 0.0
            found.append((term, theta[place], term.at(excess)))
            place += term.size
        return found

    def energy(self, theta: Theta, x: Inputs) -> Scalar:
        """Ψ(θ, x), not normalised by the reference."""
        at = _invariants(jnp, x)
        total: Scalar = jnp.zeros((), theta.dtype)
        for term, coefficient, constants in self.placed(theta):
            total = total + coefficient * term.energy(jnp, at, constants)
        return total

    def gradients(self, theta: Theta, x: Points) -> Points:
        """∇Ψ at many x, written out."""
        at, total = _invariants(jnp, x.T), jnp.zeros_like(x)
        for term, coefficient, constants in self.placed(theta):
            slopes = jnp.stack(term.slopes(jnp, at, constants)[: len(self.inputs)], axis=1)
            total = total + coefficient * slopes
        return total

    def names(self) -> tuple[str, ...]:
        """A name per parameter: the label of a term, and that of its free constant."""
        found: list[str] = []
        for term in self.terms:
            shape = SHAPES[term.shape]
            label = term.label() if not term.free else f"{term.shape}"
            found += [label, f"{label}.{shape.constant}"] if term.free else [label]
        return tuple(
            name if found[:index].count(name) == 0 else f"{name} {found[:index].count(name) + 1}"
            for index, name in enumerate(found)
        )

    def units(self, modulus: float) -> Float[np.ndarray, "parameters"]:
        """The natural unit of every parameter: the modulus, and the size of a free constant."""
        found: list[float] = []
        for term in self.terms:
            scale = term.constants[0] if term.shape == "locking" else 1.0
            found += [modulus, scale] if term.free else [modulus]
        return np.array(found)


def _invariants(numerics: Numerics, x: Value) -> Invariants:
    """I1, I2 and J; J is one where the material cannot change its volume."""
    return (x[0], x[1], x[2] if len(x) == 3 else numerics.ones_like(x[0]))


def slopes_of(
    term: Term, constants: Constants, x: Float[np.ndarray, "data inputs"]
) -> Float[np.ndarray, "data inputs"]:
    """∇T at many x, in numpy: for searches over many terms."""
    found = term.slopes(np, _invariants(np, x.T), constants)
    return np.stack([np.broadcast_to(part, len(x)) for part in found[: x.shape[1]]], axis=1)
