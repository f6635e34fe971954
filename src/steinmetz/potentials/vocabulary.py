"""The terms among which a law may choose, with a price for those that are rarely met.

Fixed constants are the ones that textbooks have; free ones start from a grid and are then fitted.
Bounds keep every term polyconvex: ‖F‖^a J^−q needs a ≥ 1 + q, and so does ‖cof F‖^a J^−q.
"""

from collections.abc import Iterator, Sequence
from itertools import product
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
# Price of what no textbook has; of two invariants in one argument, which is as good as a further
# term; and of what has no meaning.
_RARE, _SHARED, _STRANGE = 2.0, 6.0, 8.0
# Price of every power by which an energy rises faster than the square of ‖cof F‖: textbooks have
# the square and less, and tests with one face free hardly tell I2² from I1.
_STEEP = 6.0
_UNUSUAL = ("softplus", "root exponential", "root locking")
# Weights of I2 beside I1 that are tried.
_RATIOS = (0.3, 3.0)
# Simple values to which a fitted constant may be put.
NICE = {
    "norm": tuple(_OF_NORM),
    "cofactor": tuple(_OF_COFACTOR),
    "stretches": (*_OF_STRETCHES, 2.0),
    "areas": (*_OF_AREAS, 2.0),
    "exponential": (0.5, 1.0, 2.0),
}
# And those of weights in an argument, by their places; without I2 a term is another shape but for
# units.
_NICE_WEIGHTS = {2: (1.0,)}
_NICE_OF_UNIT = {2: (0.0, 1.0), 3: (0.0,)}
# Sums over stretches that are invariants.
SAME = {("stretches", 2.0): "norm", ("areas", 2.0): "cofactor"}


class Atom(NamedTuple):
    """A term, the constants at which it is tried, and the price of taking it, beside BIC's."""

    term: Term
    constants: tuple[float, ...]
    price: float

    @property
    def free(self) -> tuple[float, ...]:
        """The values of the free constants."""
        return tuple(self.constants[place] for place in self.term.free)

    @property
    def asked(self) -> float:
        """The price with that of an energy that rises faster than the square of ‖cof F‖."""
        return self.price + _STEEP * _steepness(self.term.shape, self.constants)

    def snapped(self, place: int, value: float) -> "Atom":
        """The same with a constant fixed at a simple value."""
        constants = (*self.constants[:place], value, *self.constants[place + 1 :])
        term = self.term.snapped(place, value)
        shape = term.shape if term.free else SAME.get((term.shape, value), term.shape)
        return Atom(term._replace(shape=shape), constants, self.price)

    def moved(self, values: Sequence[float]) -> "Atom":
        """The same with its free constants elsewhere, not below the least ones."""
        found = list(self.constants)
        for place, value in zip(self.term.free, values, strict=True):
            found[place] = max(float(value), self.term.constants[place] * 1.001)
        return self._replace(constants=tuple(found))


def _steepness(shape: str, constants: tuple[float, ...]) -> float:
    """By how much an energy rises faster than the square of ‖cof F‖ where J stays as it is.

    What rises faster than any power counts as the fourth power, in as far as I2 weighs.
    """
    first, volume, *more = constants
    weight = min(more[0], 1.0) if more else 1.0
    if shape in ("cofactor", "areas", "common norm") and volume == 0:
        return weight * max(first - 2, 0.0)
    return 2 * weight if more and shape != "unit" else 0.0


def vocabulary(reach: tuple[float, float], incompressible: bool) -> list[Atom]:
    """All atoms for data whose largest I1 − 3 and I2 − 3 are `reach`."""
    fixed = [*_deviatoric(incompressible), *([] if incompressible else _volumetric())]
    shaped = [*_free(reach[0], incompressible), *_common(reach, incompressible)]
    return [*fixed, *shaped, *_units(max(reach), incompressible)]


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
    """Terms of one invariant whose constant is fitted, on a grid of starts."""
    far = _root(reach)
    grids = {
        "norm": (1.0, np.geomspace(1, 12, 12)),
        "cofactor": (1.0, np.geomspace(1, 6, 8)),
        "stretches": (1.0, np.geomspace(1, 12, 10)),
        "areas": (1.0, np.geomspace(1, 8, 8)),
        "exponential": (0.0, np.geomspace(0.3, 12, 10) / reach),
        "softplus": (0.0, np.geomspace(1, 30, 6) / reach),
        "locking": (reach, reach * (1 + np.geomspace(0.05, 8, 10))),
        "chains": (1.0, (1 + reach / 3) * np.geomspace(1, 20, 6)),
        "root exponential": (0.0, np.geomspace(0.5, 8, 4) / far),
        "root locking": (far, far * (1 + np.geomspace(0.05, 4, 6))),
    }
    for shape, (least, grid) in grids.items():
        price = _RARE if shape in _UNUSUAL else 1.0
        for value in grid:
            yield _fitted(shape, (least, 0.0), {0: value}, price, not incompressible)
    if not incompressible:
        for shape in ("exponential", "locking", "chains"):
            least, grid = grids[shape]
            for value in grid:
                yield _fitted(shape, (least, 2 / 3), {0: value}, 1.0, False)


def _common(reach: tuple[float, float], incompressible: bool) -> Iterator[Atom]:
    """Terms of I1 and I2 at once: the constant of the shape and the weight of I2 are fitted."""
    far = max(reach)
    grids = {
        "exponential": (0.0, np.geomspace(0.3, 12, 5) / far),
        "locking": (min(reach) / 2, far * (1 + np.geomspace(0.05, 8, 5))),
        "common norm": (1.0, np.array([1.2, 3, 4, 6, 10])),
        "root exponential": (0.0, np.geomspace(0.5, 8, 3) / _root(far)),
    }
    for shape, (least, grid) in grids.items():
        for value, ratio in product(grid, _RATIOS):
            start = {0: value, 2: ratio}
            yield _fitted(shape, (least, 0.0, 0.0), start, _SHARED, not incompressible)


def _units(reach: float, incompressible: bool) -> Iterator[Atom]:
    """Softplus units of a network: where they bend, how sharply, and along what is fitted.

    They are for what no other term holds, so they are dear.
    """
    bends = list(product(np.array([4, 12]) / reach, np.array([0.15, 0.4, 0.7]) * reach))
    for rate, shift in bends:
        along = (0.0, 1.0, 0.0, 0.0, 0.0)
        yield _fitted("unit", along, {0: rate, 4: shift}, _STRANGE, False)
        if incompressible:
            start = {0: rate, 2: 1.0, 4: shift}
            yield _fitted("unit", along, start, _STRANGE, False)
    for sign, (rate, shift) in product((1.0, -1.0), () if incompressible else bends):
        start = {0: rate, 2: 1.0, 3: 1.0, 4: shift}
        yield _fitted("unit", (0.0, sign, 0.0, 0.0, 0.0), start, _STRANGE, False)


def _root(reach: float) -> float:
    """How far √12 (‖F‖ − √3) goes where I1 − 3 goes to `reach`."""
    return float(12**0.5 * ((3 + reach) ** 0.5 - 3**0.5))


def _fitted(
    shape: str, least: tuple[float, ...], start: dict[int, float], price: float, barrier: bool
) -> Atom:
    """A term with free constants, from their least values upwards, at a start."""
    constants = tuple(float(start.get(place, value)) for place, value in enumerate(least))
    return Atom(Term(shape, least, barrier, tuple(start)), constants, price)


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


def nice(atom: Atom) -> list[tuple[int, float]]:
    """The simple values near which free constants of an atom are, each with its place."""
    found: list[tuple[int, float]] = []
    for place in atom.term.free:
        shape = atom.term.shape
        weights = _NICE_OF_UNIT if shape == "unit" else _NICE_WEIGHTS
        known = NICE.get(shape, ()) if place == 0 else weights.get(place, ())
        least, at = SHAPES[shape].least if place == 0 else 0.0, atom.constants[place]
        near = sorted((value for value in known if value >= least), key=lambda v: abs(v - at))
        found += [(place, value) for value in near[:2] if abs(value - at) < 0.5]
    return found
