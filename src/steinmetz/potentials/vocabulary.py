"""The terms among which a law may choose, with a price for those that are rarely met.

Fixed constants are the ones that textbooks have; free ones start from a grid and are then fitted.
Bounds keep every term polyconvex: ‖F‖^a J^−q needs a ≥ 1 + q, and so does ‖cof F‖^a J^−q.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from steinmetz.potentials.classical import SHAPES
from steinmetz.potentials.mechanics import Term

# Exponents of ‖F‖ and ‖cof F‖, with their price.
_OF_NORM = {1.0: 0, 2.0: 0, 3.0: 1, 4.0: 0, 6.0: 1, 8.0: 2}
_OF_COFACTOR = {1.0: 0, 2.0: 0, 3.0: 2, 4.0: 1, 6.0: 2}
# The same without the volume: ‖F‖^a J^(−a/3) and ‖cof F‖^a J^(−2a/3).
_ISOCHORIC = {1.5: 2, 2.0: 0, 3.0: 2, 4.0: 1, 6.0: 1}
_ISOCHORIC_COFACTOR = {3.0: 0, 4.0: 1, 6.0: 2}
# Exponents of the principal stretches, and of their products in pairs; 2 is I1 and I2.
_OF_STRETCHES = {1.0: 1, 3.0: 2, 4.0: 2, 6.0: 2}
_OF_AREAS = {1.0: 1, 4.0: 2}
# Rates of exponentials.
_RATES = {0.5: 2, 1.0: 1, 2.0: 2, 5.0: 2}
# Powers k of J^−k/|k|, and pairs J^k + J^−k.
_OF_VOLUME = {1.0: 1, 2.0: 1, 3.0: 2, 4.0: 2, 5.0: 2, -3.0: 2, -4.0: 2, -5.0: 2}
_PAIRS = {2.0: 1, 3.0: 2, 4.0: 2, 5.0: 1}
# Price of what no textbook has.
_RARE = 2.0
# Simple values to which a fitted constant may be put.
NICE = {
    "norm": tuple(_OF_NORM),
    "cofactor": tuple(_OF_COFACTOR),
    "stretches": tuple(_OF_STRETCHES),
    "areas": tuple(_OF_AREAS),
    "exponential": (0.5, 1.0, 2.0),
}


class Atom(NamedTuple):
    """A term, the constants at which it is tried, and the price of taking it, beside BIC's."""

    term: Term
    constants: tuple[float, float]
    price: float

    def snapped(self, value: float) -> "Atom":
        """The same with its constant fixed at a simple value."""
        constants = (value, self.constants[1])
        return Atom(Term(self.term.shape, constants, self.term.barrier), constants, self.price)

    def moved(self, value: float) -> "Atom":
        """The same with its free constant elsewhere, not below the least one."""
        least = self.term.constants[0]
        return self._replace(constants=(max(float(value), least * 1.001), self.constants[1]))


def vocabulary(reach: float, incompressible: bool) -> list[Atom]:
    """All atoms for data whose largest I1 − 3 is `reach`."""
    fixed = [*_deviatoric(incompressible), *([] if incompressible else _volumetric())]
    return [*fixed, *_free(reach, incompressible)]


def _deviatoric(incompressible: bool) -> Iterator[Atom]:
    """Terms with fixed constants that feel the shape."""
    of_exponents = {
        "norm": _OF_NORM,
        "cofactor": _OF_COFACTOR,
        "stretches": _OF_STRETCHES,
        "areas": _OF_AREAS,
    }
    for shape, exponents in of_exponents.items():
        for exponent, price in exponents.items():
            yield from _both(shape, (exponent, 0.0), price, incompressible)
    for rate, price in _RATES.items():
        yield from _both("exponential", (rate, 0.0), price, incompressible)
    if incompressible:
        yield from (_fixed("power", (power, 0.0), 1) for power in (2.0, 3.0))
        return
    for exponent, price in _ISOCHORIC.items():
        yield _fixed("norm", (exponent, exponent / 3), price)
    for exponent, price in _ISOCHORIC_COFACTOR.items():
        yield _fixed("cofactor", (exponent, 2 * exponent / 3), price)
    for shape in ("norm", "cofactor"):
        yield from _both(shape, (2.0, 1.0), 1, incompressible)
    for rate, price in _RATES.items():
        yield _fixed("exponential", (rate, 2 / 3), price)
    yield from (_fixed("power", (power, 2 / 3), 1) for power in (2.0, 3.0))


def _volumetric() -> Iterator[Atom]:
    """Functions of the volume."""
    for name in ("log", "volume square", "log square"):
        yield _fixed(name, (0.0, 0.0), 0)
    for power, price in _OF_VOLUME.items():
        yield _fixed("volume power", (power, 0.0), price)
    for power, price in _PAIRS.items():
        yield _fixed("volume pair", (power, 0.0), price)


def _free(reach: float, incompressible: bool) -> Iterator[Atom]:
    """Terms whose constant is fitted, on a grid of starts."""
    grids = {
        "norm": (1.0, np.geomspace(1, 12, 12)),
        "cofactor": (1.0, np.geomspace(1, 6, 8)),
        "stretches": (1.0, np.geomspace(1, 12, 10)),
        "areas": (1.0, np.geomspace(1, 8, 8)),
        "exponential": (0.0, np.geomspace(0.3, 12, 10) / reach),
        "softplus": (0.0, np.geomspace(1, 30, 6) / reach),
        "locking": (reach, reach * (1 + np.geomspace(0.05, 8, 10))),
    }
    for shape, (least, grid) in grids.items():
        for value in grid:
            term = Term(shape, (least, 0.0), not incompressible, free=True)
            yield Atom(term, (float(value), 0.0), _RARE if shape == "softplus" else 1.0)
    if not incompressible:
        for shape in ("exponential", "locking"):
            least, grid = grids[shape]
            for value in grid:
                yield Atom(Term(shape, (least, 2 / 3), free=True), (float(value), 2 / 3), 1.0)


def _fixed(shape: str, constants: tuple[float, float], price: int) -> Atom:
    return Atom(Term(shape, constants), constants, float(price))


def _both(
    shape: str, constants: tuple[float, float], price: int, incompressible: bool
) -> Iterator[Atom]:
    """With the linear normalisation and with a barrier; without a volume there is no difference.

    A barrier must push: where the term pulls at the reference, it would be concave.
    """
    yield _fixed(shape, constants, price)
    barred = Term(shape, constants, barrier=True)
    if not incompressible and float(barred.pressure(np, constants)) > 0:
        yield Atom(barred, constants, float(price))


def nice(atom: Atom) -> list[float]:
    """The simple values near which the constant of a free atom is."""
    known = [
        value for value in NICE.get(atom.term.shape, ()) if value >= SHAPES[atom.term.shape].least
    ]
    near = sorted(known, key=lambda value: abs(value - atom.constants[0]))[:2]
    return [value for value in near if abs(value - atom.constants[0]) < 0.5]
