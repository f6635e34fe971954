"""Shapes of classical terms: energy, slopes and SymPy form, each written once for all numbers.

Every shape is polyconvex within the bounds of its constants (`vocabulary.py`), and has slope one in
I1 or I2 at the reference, where it feels them.
"""

from collections.abc import Callable

import numpy as np

from steinmetz.materials import principal
from steinmetz.potentials import affine
from steinmetz.potentials.shape import Constants, Invariants, Numerics, Shape, Value, over_volume


def _over(label: str, q: float) -> str:
    """A label, with a power of the volume; files cannot have a slash in a name."""
    return label if q == 0 else f"{label} J^-{q:.3g}"


def _norm(place: int, symbol: str) -> Shape:
    """(6/a) (I/3)^(a/2) J^−q of I1 = ‖F‖² or I2 = ‖cof F‖²."""

    def energy(numerics: Numerics, x: Invariants, p: Constants) -> Value:
        return 6 / p[0] * (x[place] / 3) ** (p[0] / 2) * over_volume(numerics, x[2], p[1])

    def slopes(numerics: Numerics, x: Invariants, p: Constants) -> Invariants:
        own = (x[place] / 3) ** (p[0] / 2 - 1) * over_volume(numerics, x[2], p[1])
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
    **affine.SHAPES,
    "stretches": _stretches(0, "sum l"),
    "areas": _stretches(1, "sum ll"),
    "volume power": _of_volume(
        lambda n, J, k: over_volume(n, J, k) / abs(k),
        lambda n, J, k: -np.sign(k) * over_volume(n, J, k + 1),
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
        lambda n, J, k: (over_volume(n, J, k) + over_volume(n, J, -k)) / k**2,
        lambda n, J, k: (over_volume(n, J, 1 - k) - over_volume(n, J, k + 1)) / k,
        lambda s, J, k: (J**k + J**-k) / k**2,
        lambda p: f"J^{p[0]:.3g} + J^-{p[0]:.3g}",
        lambda p: True,
        lambda p: p[0] > 1,
    ),
}
