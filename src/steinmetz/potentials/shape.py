"""What a term of mechanics is made of: a shape, written once for all kinds of numbers."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

# A number or an array, of numpy, JAX or SymPy.
Value = Any
# numpy, jax.numpy or sympy.
Numerics = Any
# I1, I2, J at one state or at many, and the constants of a term.
Invariants = tuple[Value, Value, Value]
Constants = tuple[Value, ...]


class Shape(NamedTuple):
    """A family of terms: its energy, its slopes in I1, I2 and J, and its SymPy form.

    `label` names a term by its constants. `least` is the least value of the first constant if it is
    free, `constants` are the names of those that may be. `feels` is what the energy is infinite
    with where J stays bounded: ‖F‖, ‖cof F‖, or nothing but J itself. `bursts` says whether it is
    infinite as J → 0 without a barrier, `outgrows` whether it grows faster than J as J → ∞,
    whatever F.
    """

    energy: Callable[[Numerics, Invariants, Constants], Value]
    slopes: Callable[[Numerics, Invariants, Constants], Invariants]
    symbolic: Callable[[Invariants, Constants], Value]
    label: Callable[[Constants], str]
    least: float = 1.0
    constants: tuple[str, ...] = ("exponent", "power of the volume")
    feels: Literal["F", "cof F", "J"] = "F"
    bursts: Callable[[Constants], Value] = lambda p: False
    outgrows: Callable[[Constants], Value] = lambda p: False


def over_volume(numerics: Numerics, J: Value, q: Value) -> Value:
    """J^−q."""
    return numerics.exp(-q * numerics.log(J))
