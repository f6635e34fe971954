"""Textbook laws as data: of which terms each is made, and what its parameters are.

Shapes have slope one at the reference (`potentials/classical.py`), so most parameters are a
coefficient c times a number. A slot is one term: a shape, its exponent where the law prescribes
one, and parameters as functions of c and of the constant s of the shape.
"""

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from steinmetz.potentials.affine import chain_modulus
from steinmetz.potentials.shape import Value

Formula = Callable[[Value, Value], Value]


class Slot(NamedTuple):
    """A term of a law; any constant will do where none is prescribed, fitted ones among them."""

    shape: str
    constant: float | None
    parameters: Mapping[str, Formula]


class Family(NamedTuple):
    """A law by its name, and its slots.

    Every slot is filled *once*; or slots are alternatives for `counts` terms at least and at most,
    whose equal parameters are *added* or *numbered*. `symbols` are the sets of parameters that bear
    the name where they are added. An `isochoric` law has no volume in its shear part. `pull` is
    what stands before log J or J − 1 to make it stress-free: n where that would be long.
    """

    name: str
    slots: tuple[Slot, ...]
    ways: Literal["once", "added", "numbered"] = "once"
    symbols: tuple[tuple[str, ...], ...] = ()
    counts: tuple[int, int] = (1, 8)
    isochoric: bool = False
    pull: str = "n"


class Volume(NamedTuple):
    """A function of the volume by its formula, and its parameter as a multiple of c."""

    formula: str
    symbol: str
    factor: float


def _times(factor: float) -> Formula:
    return lambda c, s: factor * c


def _constant(factor: float = 1.0) -> Formula:
    return lambda c, s: factor * s + 0.0 * c


def _ogden(sign: int) -> Mapping[str, Formula]:
    """Of μ/α Σ λ^α; where J = 1 the sum over products of two stretches is that of λ^−α."""
    return {"μ": lambda c, s: sign * 4 * c / s, "α": _constant(float(sign))}


def _added(name: str, slots: tuple[Slot, ...], *symbols: str, **more: Value) -> Family:
    """A law whose equal parameters are added up."""
    every = tuple(tuple(row.split()) for row in symbols)
    return Family(name, slots, "added", every, **more)


# Powers of I1 in powers of I1 − 3, and I2 − 3.
_LINEAR = Slot("norm", 2.0, {"C10": _times(1.0)})
_QUADRATIC = (
    Slot("norm", 4.0, {"C10": _times(1.0), "C20": _times(1 / 6)}),
    Slot("power", 2.0, {"C20": _times(1.0)}),
)
_CUBIC = (
    Slot("norm", 6.0, {"C10": _times(1.0), "C20": _times(1 / 3), "C30": _times(1 / 27)}),
    Slot("power", 3.0, {"C30": _times(1.0)}),
)
_SECOND = Slot("cofactor", 2.0, {"C01": _times(1.0)})
_OF_I1 = (_LINEAR, *_QUADRATIC, *_CUBIC)
_OGDEN = (
    Slot("stretches", None, _ogden(1)),
    Slot("norm", 2.0, _ogden(1)),
    Slot("areas", None, _ogden(-1)),
    Slot("cofactor", 2.0, _ogden(-1)),
)
_LOPEZ_PAMIES = Slot("norm", None, {"μ": _times(2.0), "α": _constant(1 / 2)})
_HARTMANN_NEFF = (
    Slot("norm", 6.0, {"α": _times(1 / 27)}),
    Slot("cofactor", 3.0, {"c01": _times(2 / 27**0.5)}),
    Slot("norm", 2.0, {"c10": _times(1.0)}),
)

# The first that fits gives its name.
FAMILIES: tuple[Family, ...] = (
    _added("the neo-Hooke law", (Slot("norm", 2.0, {"μ": _times(2.0)}),), "μ", pull="μ"),
    _added("the Mooney–Rivlin law", (_LINEAR, _SECOND), "C10 C01", pull="(2 C10 + 4 C01)"),
    _added("Yeoh's law", _OF_I1, "C10 C20", "C10 C30", "C10 C20 C30", counts=(2, 8), pull="2 C10"),
    _added("Isihara's law", (_LINEAR, *_QUADRATIC, _SECOND), "C10 C01 C20", pull="(2 C10 + 4 C01)"),
    _added("Biderman's law", (*_OF_I1, _SECOND), "C10 C01 C20 C30", pull="(2 C10 + 4 C01)"),
    Family("Gent's law", (Slot("locking", None, {"μ": _times(2.0), "Jm": _constant()}),), pull="μ"),
    Family(
        "the Arruda–Boyce law",
        (
            Slot(
                "chains", None, {"μ": lambda c, s: c / chain_modulus(s), "λm": lambda c, s: s**0.5}
            ),
        ),
        pull="n",
    ),
    Family(
        "the Fung–Demiray law",
        (Slot("exponential", None, {"μ": _times(2.0), "b": _constant()}),),
        pull="μ",
    ),
    Family(
        "Carroll's law",
        (
            Slot("norm", 2.0, {"a": _times(1.0)}),
            Slot("norm", 8.0, {"b": _times(1 / 108)}),
            Slot("cofactor", 1.0, {"c": _times(12**0.5)}),
        ),
    ),
    Family("the Hartmann–Neff law", _HARTMANN_NEFF, isochoric=True),
    Family("the Hartmann–Neff law", _HARTMANN_NEFF[:2], isochoric=True),
    Family("the Lopez-Pamies law", (_LOPEZ_PAMIES,), "numbered", counts=(1, 2)),
    Family("Ogden's law", _OGDEN, "numbered", counts=(1, 4)),
)

# By what makes the shear part stress-free (nothing, −n log J, −n (J − 1)) and the shape.
VOLUMES: Mapping[tuple[str, str], Volume] = {
    ("isochoric", "volume square"): Volume("κ/2 (J - 1)²", "κ", 2.0),
    ("isochoric", "log square"): Volume("κ/2 (log J)²", "κ", 2.0),
    ("isochoric", "log"): Volume("κ (J - 1 - log J)", "κ", 1.0),
    ("isochoric", "volume pair"): Volume("κ/{twice} (J^{k} + J^-{k} - 2)", "κ", 2.0),
    ("barrier", "volume square"): Volume("-{n} log J + λ/2 (J - 1)²", "λ", 2.0),
    ("barrier", "log square"): Volume("-{n} log J + λ/2 (log J)²", "λ", 2.0),
    ("linear", "volume square"): Volume("-{n} (J - 1) + λ/2 (J - 1)²", "λ", 2.0),
}
# A name of its own for a shear part with a volume part.
TOGETHER: Mapping[tuple[str, str, str], str] = {
    ("the neo-Hooke law", "barrier", "log square"): "the Simo–Pister law"
}
