"""Units of stress, force, area and strain: as people write them, and how large they are.

A unit is declared or it is not known; nothing here guesses one from numbers.
"""

import re
from typing import Literal, NamedTuple

from steinmetz.errors import InputError

Kind = Literal["stress", "force", "area", "ratio"]


class Unit(NamedTuple):
    """A unit by its usual name; `size` in Pa, N or m², or as a plain number."""

    name: str
    kind: Kind
    size: float


_SIZES: dict[Kind, dict[str, float]] = {
    "stress": {
        **{"Pa": 1.0, "kPa": 1e3, "MPa": 1e6, "GPa": 1e9, "bar": 1e5, "mbar": 1e2},
        **{"psi": 6894.757293168361, "ksi": 6894757.293168361, "atm": 101325.0},
        **{"kgf/cm^2": 98066.5, "dyn/cm^2": 0.1, "gf/cm^2": 98.0665},
    },
    "force": {
        **{"N": 1.0, "kN": 1e3, "mN": 1e-3, "µN": 1e-6, "lbf": 4.4482216152605},
        **{"kgf": 9.80665, "gf": 9.80665e-3, "dyn": 1e-5},
    },
    "area": {"mm^2": 1e-6, "cm^2": 1e-4, "m^2": 1.0, "µm^2": 1e-12, "in^2": 6.4516e-4},
    "ratio": {"1": 1.0, "%": 0.01},
}
_KNOWN = {
    name: Unit(name, kind, size) for kind, sizes in _SIZES.items() for name, size in sizes.items()
}
# Other names of the same.
_ALIASES = {
    **{"N/mm^2": "MPa", "MN/m^2": "MPa", "N/m^2": "Pa", "kN/m^2": "kPa", "mN/mm^2": "kPa"},
    **{"kg/cm^2": "kgf/cm^2", "lbf/in^2": "psi", "lb/in^2": "psi", "sqmm": "mm^2"},
    **{"lb": "lbf", "um^2": "µm^2", "uN": "µN", "percent": "%", "pct": "%"},
    **{"-": "1", "mm/mm": "1", "m/m": "1", "in/in": "1", "dimensionless": "1", "none": "1"},
}
_BY_NAME = {**_KNOWN, **{alias: _KNOWN[name] for alias, name in _ALIASES.items()}}
# Without regard to capitals, where that is one unit; mN and MN, mPa and MPa are not.
_LOWERED = {name.lower(): unit for name, unit in _BY_NAME.items()}
_CAPITALS_MATTER = {"mpa", "mn", "gpa"}
_QUANTITY = r"\s*([-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][-+]?\d+)?)\s*(\D.*?)\s*$"


def parse(text: str) -> Unit | None:
    """The unit of a text such as 'MPa', '[N/mm²]' or '%'; None where it is none."""
    plain = text.strip().strip("[]()").strip()
    plain = plain.replace("²", "^2").replace("**2", "^2").replace("μ", "µ").replace(" ", "")
    plain = re.sub(r"(?<=[a-zA-Z])2$", "^2", plain)
    if plain in _BY_NAME:
        return _BY_NAME[plain]
    lowered = plain.lower()
    if lowered in _CAPITALS_MATTER and plain not in (lowered, lowered.upper(), lowered.title()):
        return None  # mPa is a thousandth of a pascal, and hardly meant
    return _LOWERED.get(lowered)


def names(kind: Kind) -> str:
    """All units of a kind, for messages."""
    return ", ".join(_SIZES[kind])


def of_stress(text: str) -> Unit:
    """A unit of stress, or a sentence with those there are."""
    unit = parse(text)
    if unit is None or unit.kind != "stress":
        raise InputError(f"'{text}' is not a unit of stress; possible: {names('stress')}, N/mm^2")
    return unit


def pressure(text: str) -> tuple[float, Unit]:
    """A stress such as '2 GPa': its value and its unit."""
    value, unit = _quantity(text)
    if unit is None or unit.kind != "stress" or not 0 < value < float("inf"):
        raise InputError(
            f"'{text}' is not a modulus; write a positive number and its unit, such as '2 GPa' "
            f"({names('stress')})"
        )
    return value, unit


def _quantity(text: str) -> tuple[float, Unit | None]:
    """A number and the unit behind it; zero and None where it is none."""
    found = re.match(_QUANTITY, text)
    unit = parse(found[2]) if found else None
    return float(found[1].replace(",", ".")) if found else 0.0, unit


def area(text: str) -> float:
    """An area such as '12.5 mm^2' in m²."""
    value, unit = _quantity(text)
    if unit is None or unit.kind != "area" or not 0 < value < float("inf"):
        raise InputError(
            f"'{text}' is not an area; write a positive number and its unit, such as '12.5 mm^2' "
            f"({names('area')})"
        )
    return value * unit.size
