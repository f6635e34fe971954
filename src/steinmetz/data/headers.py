"""What the name of a column says: which quantity, which component, which unit.

Every spelling is listed here; a name that is not is no quantity, whatever its numbers look like.
"""

import re
from typing import Literal, NamedTuple

from steinmetz.data import units
from steinmetz.errors import InputError

Quantity = Literal[
    "stretch", "strain", "true strain", "shear", "F", "stress", "force", "area", "lateral stretch",
    "lateral strain", "lateral true strain", "mode", "curve", "other",
]  # fmt: skip
Measure = Literal["P", "S", "sigma"]
# Measures as people name them in a flag or a comment.
MEASURES: dict[str, Measure] = {
    **dict.fromkeys(("nominal", "engineering", "first_piola", "P"), "P"),
    **dict.fromkeys(("second_piola", "S"), "S"),
    **dict.fromkeys(("cauchy", "true", "sigma"), "sigma"),
}
IN_WORDS: dict[Measure, str] = {
    "P": "nominal (first Piola–Kirchhoff)",
    "S": "second Piola–Kirchhoff",
    "sigma": "Cauchy (true)",
}
SPELLINGS: dict[Quantity, tuple[str, ...]] = {
    "stretch": ("stretch", "lambda", "stretch_ratio"),
    "strain": ("strain", "engineering_strain", "eng_strain", "nominal_strain"),
    "true strain": ("true_strain", "log_strain", "logarithmic_strain", "hencky_strain"),
    "shear": ("shear", "gamma", "shear_strain", "amount_of_shear"),
    "F": ("f", "deformation_gradient"),
    "force": ("force", "load"),
    "area": ("area", "undeformed_area", "initial_area", "reference_area", "cross_section"),
    "lateral stretch": ("lateral_stretch", "transverse_stretch", "thickness_stretch"),
    "lateral strain": ("lateral_strain", "transverse_strain", "thickness_strain"),
    "lateral true strain": ("lateral_true_strain", "transverse_true_strain"),
    "mode": ("mode", "test", "experiment", "test_mode"),
    "curve": ("curve",),
}
STRESSES: dict[Measure | Literal[""], tuple[str, ...]] = {
    "P": (
        *("p", "pk1", "nominal_stress", "engineering_stress", "eng_stress", "nominal"),
        *("first_piola", "first_piola_stress", "first_piola_kirchhoff", "piola"),
        "first_piola_kirchhoff_stress",
    ),
    "S": (
        *("s", "pk2", "second_piola", "second_piola_stress", "second_piola_kirchhoff"),
        "second_piola_kirchhoff_stress",
    ),
    "sigma": ("cauchy", "cauchy_stress", "true_stress"),
    "": ("stress", "shear_stress"),
}
_WORDS: dict[str, tuple[Quantity, Measure | Literal[""]]] = {
    **{word: (quantity, "") for quantity, words in SPELLINGS.items() for word in words},
    **{word: ("stress", measure) for measure, words in STRESSES.items() for word in words},
}
# Letters that say nothing without an index: S, P and F alone may be anything.
_NEED_INDEX = ("f", "p", "s")
_GREEK = {"λ": "lambda", "σ": "sigma", "ε": "strain", "γ": "gamma", "ν": "nu"}
_AXES = str.maketrans("xyz", "123")
_BRACKETS = r"^(?P<name>.*?)\s*[(\[](?P<inside>[^()\[\]]*)[)\]]\s*$"
_SLASH = r"^(?P<name>.+?)\s+(?:/|in)\s*(?P<inside>\S.*)$"
_SUFFIX = r"^(?P<name>.+?)[_ ](?P<inside>[^_ ]+)$"
_INDEX = r"^[123xyz]\s*,?\s*[123xyz]?$"
_INDEXED = r"^(?P<word>.*?)_?(?P<index>[123][123]?|(?:xx|xy|xz|yx|yy|yz|zx|zy|zz))?$"


class Meaning(NamedTuple):
    """What a header says.

    `axes` are empty, one digit (a direction) or two (a component); `unit` is the text of a unit as
    it stands there; `deviation` marks the column of a standard deviation (sd_…).
    """

    header: str
    quantity: Quantity
    measure: Measure | Literal[""] = ""
    axes: str = ""
    unit: str = ""
    deviation: bool = False


def measure(word: str) -> Measure:
    """The measure of a word such as 'nominal', or a sentence with those there are."""
    found = MEASURES.get(word, MEASURES.get(word.lower()))
    if found is None:
        raise InputError(f"measure '{word}' is not known; possible: {', '.join(MEASURES)}")
    return found


def bare(header: str) -> str:
    """A header without its unit."""
    return _without_unit(header.strip())[0].strip()


def read(header: str) -> Meaning:
    """The meaning of one header."""
    text = header.strip()
    deviation = text.lower().startswith("sd_")
    name, unit = _without_unit(text[3:] if deviation else text)
    plain = name
    for letter, word in _GREEK.items():
        plain = plain.replace(letter, word)
    plain = re.sub(r"[{}()\[\],]", "", plain.strip().lower())
    plain = re.sub(r"[\s\-_.]+", "_", plain).strip("_")
    found = re.match(_INDEXED, plain)
    word, index = (found["word"], found["index"] or "") if found else (plain, "")
    index = index.translate(_AXES)
    quantity, measure = _WORDS.get(word, ("other", ""))
    if word in _NEED_INDEX and len(index) < 2:
        quantity, measure = "other", ""
    if word == "sigma":  # alone, books mean either stress by it
        quantity, measure = "stress", "sigma" if index else ""
    return Meaning(header.strip(), quantity, measure, index, unit, deviation)


def _without_unit(text: str) -> tuple[str, str]:
    """A name without its unit, and the unit: in brackets, after a slash, or as a known ending."""
    found = re.match(_BRACKETS, text)
    if found and found["name"] and not re.match(_INDEX, found["inside"].strip().lower()):
        return found["name"], found["inside"].strip()
    found = re.match(_SLASH, text)
    if found:
        return found["name"], found["inside"].strip()
    found = re.match(_SUFFIX, text)
    unit = units.parse(found["inside"]) if found else None
    if found and unit is not None and unit.name != "1":
        return found["name"], found["inside"]
    return text, ""
