"""Shapes of classical terms: energy, slopes and SymPy form, each written once for all numbers.

Every shape is polyconvex within the bounds of its constants (`vocabulary.py`), and has slope one in
I1 or I2 at the reference, where it feels them.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from steinmetz.materials import principal

# A number or an array, of numpy, JAX or SymPy.
Value = Any
# numpy, jax.numpy or sympy.
Numerics = Any
# I1, I2, J at one state or at many, and the constants of a term.
Invariants = tuple[Value, Value, Value]
Constants = tuple[Value, ...]
# Share of the locking limit from which −log(1 − z) goes on as its parabola: it stays finite.
_LOCKED = 0.999


class Shape(NamedTuple):
    """A family of terms: its energy, its slopes in I1, I2 and J, and its SymPy form.

    `label` names a term by its constants. `least` is the least value of the first constant if it is
    free, `constant` its name. `feels` is what the energy is infinite with where J stays bounded:
    ‖F‖, ‖cof F‖, or nothing but J itself. `bursts` says whether it is infinite as J → 0 without a
    barrier, `outgrows` whether it grows faster than J as J → ∞, whatever F.
    """

    energy: Callable[[Numerics, Invariants, Constants], Value]
    slopes: Callable[[Numerics, Invariants, Constants], Invariants]
    symbolic: Callable[[Invariants, Constants], Value]
    label: Callable[[Constants], str]
    least: float = 1.0
    constant: str = "exponent"
    feels: Literal["F", "cof F", "J"] = "F"
    bursts: Callable[[Constants], Value] = lambda p: False
    outgrows: Callable[[Constants], Value] = lambda p: False


def _over(label: str, q: float) -> str:
    """A label, with a power of the volume; files cannot have a slash in a name."""
    return label if q == 0 else f"{label} J^-{q:.3g}"


def _volume(numerics: Numerics, J: Value, q: Value) -> Value:
    """J^−q."""
    return numerics.exp(-q * numerics.log(J))


def _norm(place: int, symbol: str) -> Shape:
    """(6/a) (I/3)^(a/2) J^−q of I1 = ‖F‖² or I2 = ‖cof F‖²."""

    def energy(numerics: Numerics, x: Invariants, p: Constants) -> Value:
        return 6 / p[0] * (x[place] / 3) ** (p[0] / 2) * _volume(numerics, x[2], p[1])

    def slopes(numerics: Numerics, x: Invariants, p: Constants) -> Invariants:
        own = (x[place] / 3) ** (p[0] / 2 - 1) * _volume(numerics, x[2], p[1])
        zero = numerics.zeros_like(own)
        volume = -p[1] * energy(numerics, x, p) / x[2]
        return (own, zero, volume) if place == 0 else (zero, own, volume)

    def symbolic(x: Invariants, p: Constants) -> Value:
        """Not evaluated by SymPy, which would pull the 3 out of the power."""
        import sympy

        inner = x[place] * x[2] ** (-2 * p[1] / p[0]) / 3
        power = sympy.Pow(inner, p[0] / 2, evaluate=False)
        return sympy.Mul(6 / p[0], power, evaluate=False)

    def excess(p: Constants) -> Value:
        """The power of J in the least of it, where F is a multiple of a rotation; times three."""
        return (1 + place) * p[0] - 3 * p[1]

    return Shape(
        energy,
        slopes,
        symbolic,
        lambda p: _over(f"{symbol}^{p[0]:.3g}", p[1]),
        feels="cof F" if place else "F",
        bursts=lambda p: excess(p) < 0,
        outgrows=lambda p: excess(p) > 3,
    )


def _stretches(place: int, symbol: str) -> Shape:
    """(4/α²) Σ λ_i^α, or the same sum over products of two stretches, the stretches of cof F.

    The invariants of cof F are I2, I1 J² and J².
    """

    def own(x: Invariants) -> Invariants:
        return x if place == 0 else (x[1], x[0] * x[2] ** 2, x[2] ** 2)

    def energy(numerics: Numerics, x: Invariants, p: Constants) -> Value:
        return 4 / p[0] ** 2 * principal.power_sum(numerics, p[0] / 2, own(x))

    def slopes(numerics: Numerics, x: Invariants, p: Constants) -> Invariants:
        factor, J = 4 / p[0] ** 2, x[2]
        each = principal.power_slopes(numerics, p[0] / 2, own(x))
        first, second, third = (factor * slope for slope in each)
        if place == 0:
            return first, second, third
        return J**2 * second, first, 2 * J * (x[0] * second + third)

    def symbolic(x: Invariants, p: Constants) -> Value:
        import sympy

        stretches = sympy.symbols("lambda1:4", positive=True)
        each = stretches if place == 0 else tuple(x[2] / stretch for stretch in stretches)
        return 4 / p[0] ** 2 * sympy.Add(*(stretch ** p[0] for stretch in each))

    return Shape(
        energy,
        slopes,
        symbolic,
        lambda p: f"{symbol}^{p[0]:.3g}",
        feels="cof F" if place else "F",
        outgrows=lambda p: (1 + place) * p[0] > 3,
    )


def _of_i1(outer: Callable[[Numerics, Value, Value], tuple[Value, Value]], **more: Value) -> Shape:
    """f(I1 J^−q − 3; p): `outer` gives f and f′."""

    def parts(numerics: Numerics, x: Invariants, p: Constants) -> tuple[Value, Value, Value]:
        volume = _volume(numerics, x[2], p[1])
        return (*outer(numerics, x[0] * volume - 3, p[0]), volume)

    def energy(numerics: Numerics, x: Invariants, p: Constants) -> Value:
        return parts(numerics, x, p)[0]

    def slopes(numerics: Numerics, x: Invariants, p: Constants) -> Invariants:
        _, slope, volume = parts(numerics, x, p)
        zero = numerics.zeros_like(slope)
        return slope * volume, zero, -p[1] * x[0] * slope * volume / x[2]

    return Shape(energy, slopes, **{"outgrows": lambda p: p[1] == 0, **more})


def _exponential(numerics: Numerics, y: Value, b: Value) -> tuple[Value, Value]:
    slope = numerics.exp(b * y)
    return slope / b, slope


def _locking(numerics: Numerics, y: Value, m: Value) -> tuple[Value, Value]:
    """−m log(1 − y/m), and its parabola beyond the share `_LOCKED` of the limit."""
    z = y / m
    inside = numerics.minimum(z, _LOCKED)
    left, beyond = 1 - inside, z - inside
    value = -numerics.log(left) + beyond / left + 0.5 * (beyond / left) ** 2
    return m * value, 1 / left + beyond / left**2


def _softplus(numerics: Numerics, y: Value, b: Value) -> tuple[Value, Value]:
    """2/b log((1 + e^by)/2): from slope one at rest to slope two."""
    tail = numerics.exp(-b * numerics.abs(y))
    value = 2 / b * (numerics.logaddexp(b * y, 0.0) - np.log(2))
    return value, 2 * numerics.where(y > 0, 1.0, tail) / (1 + tail)


def _power(numerics: Numerics, y: Value, k: Value) -> tuple[Value, Value]:
    """y^k of what is positive."""
    positive = numerics.maximum(y, 0.0)
    return positive**k, k * positive ** (k - 1)


def _symbolic(
    outer: Callable[[Value, Value, Value], Value],
) -> Callable[[Invariants, Constants], Value]:
    """f(y; p) through SymPy."""

    def form(x: Invariants, p: Constants) -> Value:
        import sympy

        return outer(sympy, x[0] * x[2] ** -p[1] - 3, p[0])

    return form


def _exponential_form(s: Numerics, y: Value, b: Value) -> Value:
    return s.Mul(1 / b, s.exp(y if b == 1 else s.Mul(b, y, evaluate=False)), evaluate=False)


def _locking_form(s: Numerics, y: Value, m: Value) -> Value:
    limit = m if m.is_Integer else s.Float(m, 17 if m.is_Rational else None)
    share = s.Mul(-1, y, s.Pow(limit, -1, evaluate=False), evaluate=False)
    return s.Mul(-m, s.log(1 + share), evaluate=False)


def _name(form: str) -> Callable[[Constants], str]:
    """A label in which I1 stands barred where the volume is taken out of it."""
    return lambda p: form.format(p[0]).replace("I1", "I1bar" if p[1] else "I1")


def _of_volume(
    energy: Callable[[Numerics, Value, Value], Value],
    slope: Callable[[Numerics, Value, Value], Value],
    symbolic: Callable[[Value, Value, Value], Value],
    label: Callable[[Constants], str],
    bursts: Callable[[Constants], bool],
    outgrows: Callable[[Constants], bool],
) -> Shape:
    """A function of the volume alone."""

    def slopes(numerics: Numerics, x: Invariants, p: Constants) -> Invariants:
        zero = numerics.zeros_like(x[2] * p[0])
        return zero, zero, slope(numerics, x[2], p[0]) + zero

    def form(x: Invariants, p: Constants) -> Value:
        import sympy

        return symbolic(sympy, x[2], p[0])

    return Shape(
        lambda numerics, x, p: energy(numerics, x[2], p[0]),
        slopes, form, label, feels="J", bursts=bursts, outgrows=outgrows,
    )  # fmt: skip


def _log_square(numerics: Numerics, J: Value, _: Value) -> Value:
    """(log J)², convex as far as J = e, and its tangent beyond."""
    log = numerics.log(J)
    return numerics.where(np.e > J, log**2, 2 * J / np.e - 1)


SHAPES: dict[str, Shape] = {
    "norm": _norm(0, "|F|"),
    "cofactor": _norm(1, "|cof F|"),
    "exponential": _of_i1(
        _exponential,
        symbolic=_symbolic(_exponential_form),
        label=_name("exp({:.3g} I1)"),
        least=0.0,
        constant="rate",
    ),
    "locking": _of_i1(
        _locking,
        symbolic=_symbolic(_locking_form),
        label=_name("lock(I1, {:.3g})"),
        constant="limit",
    ),
    "softplus": _of_i1(
        _softplus,
        symbolic=_symbolic(lambda s, y, b: 2 / b * s.log((1 + s.exp(b * y)) / 2)),
        label=_name("softplus({:.3g} I1)"),
        least=0.0,
        constant="rate",
        outgrows=lambda p: False,
    ),
    "power": _of_i1(
        _power, symbolic=_symbolic(lambda s, y, k: y**k), label=_name("(I1 - 3)^{:.3g}")
    ),
    "stretches": _stretches(0, "sum l"),
    "areas": _stretches(1, "sum ll"),
    "volume power": _of_volume(
        lambda n, J, k: _volume(n, J, k) / abs(k),
        lambda n, J, k: -np.sign(k) * _volume(n, J, k + 1),
        lambda s, J, k: J**-k / abs(k),
        lambda p: f"J^{-p[0]:.3g}",
        lambda p: p[0] > 0,
        lambda p: p[0] < -1,
    ),
    "log": _of_volume(
        lambda n, J, _: -n.log(J),
        lambda n, J, _: -1 / J,
        lambda s, J, _: -s.log(J),
        lambda p: "log J",
        lambda p: True,
        lambda p: False,
    ),
    "volume square": _of_volume(
        lambda n, J, _: (J - 1) ** 2,
        lambda n, J, _: 2 * (J - 1),
        lambda s, J, _: (J - 1) ** 2,
        lambda p: "(J - 1)^2",
        lambda p: False,
        lambda p: True,
    ),
    "log square": _of_volume(
        _log_square,
        lambda n, J, _: n.where(np.e > J, 2 * n.log(J) / J, 2 / np.e),
        lambda s, J, _: s.log(J) ** 2,
        lambda p: "(log J)^2",
        lambda p: True,
        lambda p: False,
    ),
    "volume pair": _of_volume(
        lambda n, J, k: (_volume(n, J, k) + _volume(n, J, -k)) / k**2,
        lambda n, J, k: (_volume(n, J, 1 - k) - _volume(n, J, k + 1)) / k,
        lambda s, J, k: (J**k + J**-k) / k**2,
        lambda p: f"J^{p[0]:.3g} + J^-{p[0]:.3g}",
        lambda p: True,
        lambda p: p[0] > 1,
    ),
}
