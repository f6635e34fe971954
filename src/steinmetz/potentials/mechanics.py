"""Potentials in terms of mechanics: Ψ = Σ c_i T_i(I1, I2, J), every T_i polyconvex by itself.

A term is a *shape* with constants: a power of ‖F‖ or ‖cof F‖, an exponential, a locking logarithm,
a function of the volume. Shapes have slope one at the reference, so that a coefficient is half a
shear modulus there. What is convex and non-decreasing in ‖F‖ = √I1 and ‖cof F‖ = √I2 and convex in
J is polyconvex: more than what is convex in (I1, I2, J). With non-negative coefficients the sum is,
too. A term with a *barrier* is made stress-free by −n log J in place of the −n (J − 1) of the
reference (method §1): the energy of such a term is infinite at zero volume. Constants of a term may
be free: they are then parameters beside the coefficient, counted from their least values upwards.
"""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from steinmetz.potentials.base import Potential
from steinmetz.potentials.classical import SHAPES
from steinmetz.potentials.shape import Constants, Invariants, Numerics, Value
from steinmetz.shapes import Inputs, Points, Scalar, Theta

# Inputs of terms; J is missing where the volume cannot change.
INVARIANTS = ("I1", "I2", "J")
# Parameter vectors of many laws, and something that is so or not of each.
Laws = Float[np.ndarray, "laws parameters"]
Flags = Bool[np.ndarray, "laws"]
# Slopes and energies of many laws at many x.
Many = Float[np.ndarray, "laws data inputs"]
Energies = Float[np.ndarray, "laws data"]
# Shapes whose free constant is measured in its least value.
_LONG = ("locking", "root locking")
# v of the normalisation: what slopes add to the stress at F = I.
_WEIGHTS = (2.0, 4.0, 1.0)
_REFERENCE = (3.0, 3.0, 1.0)


class Term(NamedTuple):
    """A shape with its constants; `free` are the places of those counted from there upwards."""

    shape: str
    constants: tuple[float, ...]
    barrier: bool = False
    free: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Parameters: the coefficient, and the free constants."""
        return 1 + len(self.free)

    def at(self, excess: Sequence[Value]) -> Constants:
        """The constants where free ones are `excess` above their least values."""
        found: list[Value] = list(self.constants)
        for place, above in zip(self.free, excess, strict=True):
            found[place] = found[place] + above
        return tuple(found)

    def excess(self, constants: Sequence[Value]) -> list[Value]:
        """How far the free ones of some constants are above their least values."""
        return [constants[place] - self.constants[place] for place in self.free]

    def snapped(self, place: int, value: float) -> "Term":
        """The same with a free constant fixed at a value."""
        constants = (*self.constants[:place], value, *self.constants[place + 1 :])
        left = tuple(other for other in self.free if other != place)
        return self._replace(constants=constants, free=left)

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

    def bursts(self, p: Constants) -> Value:
        """Whether its energy is infinite at zero volume."""
        return self.barrier | SHAPES[self.shape].bursts(p)

    def label(self, p: Constants | None = None) -> str:
        """A name for people."""
        return SHAPES[self.shape].label(self.constants if p is None else p)


class Terms(Potential):
    """Ψ(θ, x) = Σ c_i T_i(x); θ has every coefficient, followed by the excesses of free ones."""

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
            excess = [theta[place + number] for number in range(1, term.size)]
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

    def pushed(self, every: Laws, x: Float[np.ndarray, "data inputs"]) -> tuple[Many, Energies]:
        """∇Ψ and Ψ of many laws at many x, in numpy: nothing is compiled for a structure."""
        at = tuple(part[None] for part in _invariants(np, x.T))
        slopes = np.zeros((len(every), *x.shape))
        energies = np.zeros((len(every), len(x)))
        columns = every.T[:, :, None]
        for term, coefficient, constants in self.placed(columns):
            parts = term.slopes(np, (at[0], at[1], at[2]), constants)
            for index in range(x.shape[1]):
                slopes[:, :, index] += coefficient * parts[index]
            energies += coefficient * term.energy(np, (at[0], at[1], at[2]), constants)
        return slopes, energies

    def names(self) -> tuple[str, ...]:
        """A name per parameter: the label of a term, and those of its free constants."""
        found: list[str] = []
        for term in self.terms:
            names = SHAPES[term.shape].constants
            label = term.label() if not term.free else f"{term.shape}"
            found += [label, *(f"{label}.{names[place]}" for place in term.free)]
        return tuple(
            name if found[:index].count(name) == 0 else f"{name} {found[:index].count(name) + 1}"
            for index, name in enumerate(found)
        )

    def bursts(self, every: Laws) -> Flags:
        """Whether Ψ̂ of every law is infinite at zero volume: one of its terms is."""
        return _any(len(every), [(c > 0) & term.bursts(p) for term, c, p in self.placed(every.T)])

    def endless(self, every: Laws) -> Flags:
        """Whether Ψ̂ of every law is infinite at infinite strain, ‖F‖ → ∞, however J goes along.

        A term of ‖F‖ is, and so is one of ‖cof F‖ if there is a barrier: where ‖cof F‖ is bounded,
        the volume vanishes. As J → ∞, −n (J − 1) of the normalisation must not win: some term must
        grow faster than J, or n be negative. With powers of J in their denominators, terms of F and
        cof F need something else that is infinite with J.
        """
        placed = self.placed(every.T)
        parts = [(SHAPES[term.shape], c > 0, p) for term, c, p in placed]
        felt = [there for shape, there, _ in parts if shape.feels != "J"]
        if len(self.inputs) == 2:
            return _any(len(every), felt)
        pull = np.zeros(len(every))
        for term, c, p in placed:
            pull = pull + (0.0 if term.barrier else c * term.pressure(np, p))
        small = 1e-12 * np.sum(np.abs(every), axis=1)
        outgrown = _any(len(every), [there & shape.outgrows(p) for shape, there, p in parts])
        kept, swelling = outgrown | (pull <= small), outgrown | (pull < -small)
        found = np.zeros(len(every), bool)
        for shape, there, p in parts:
            if shape.feels != "J":
                enough = kept if p[1] == 0 else swelling
                found |= there & enough & (self.bursts(every) | (shape.feels == "F"))
        return found

    def units(self, modulus: float) -> Float[np.ndarray, "parameters"]:
        """The natural unit of every parameter: the modulus, and the size of a free constant."""
        found: list[float] = []
        for term in self.terms:
            own = term.constants[0] if term.shape in _LONG else 1.0
            found += [modulus, *(own if place == 0 else 1.0 for place in term.free)]
        return np.array(found)


def _any(laws: int, flags: list[Value]) -> Flags:
    """Where one of several flags of every law is set."""
    return np.asarray(np.any([np.zeros(laws, bool), *flags], axis=0))


def _invariants(numerics: Numerics, x: Value) -> Invariants:
    """I1, I2 and J; J is one where the material cannot change its volume."""
    return (x[0], x[1], x[2] if len(x) == 3 else numerics.ones_like(x[0]))


def slopes_of(
    term: Term, constants: Constants, x: Float[np.ndarray, "data inputs"]
) -> Float[np.ndarray, "data inputs"]:
    """∇T at many x, in numpy: for searches over many terms."""
    found = term.slopes(np, _invariants(np, x.T), constants)
    return np.stack([np.broadcast_to(part, len(x)) for part in found[: x.shape[1]]], axis=1)
