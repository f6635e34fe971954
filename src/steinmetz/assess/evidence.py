"""What a point of the certificate is, and what points are made from.

A point is *proven* where signs, activations or the construction of the material decide it for every
state; *checked* where no counter-example was met at the states that its sentence names; *violated*
where one was; *not demanded* where the material does not ask for it.
"""

from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from steinmetz.assess.proof import Proofs
from steinmetz.assess.response import Response
from steinmetz.materials.base import Material
from steinmetz.materials.demands import Demands
from steinmetz.potentials.law import Law

Status = Literal["proven", "checked", "violated", "not demanded"]
Flags = Bool[np.ndarray, "laws"]
Figures = Float[np.ndarray, "laws"]
Codes = Int[np.ndarray, "laws"]

PROVEN, CHECKED, VIOLATED = 0, 1, 2
_WORDS: tuple[Status, ...] = ("proven", "checked", "violated")
# Rounding in what is measured, relative to the numbers it is the difference of.
ROUNDING = 1e-9


class Point(NamedTuple):
    """One claim about the law (first) and every draw, with the figure that was measured of each."""

    name: str
    demanded: bool
    codes: Codes
    figures: Figures
    short: str
    sentence: str

    @property
    def status(self) -> Status:
        """That of all laws together: the worst."""
        return _WORDS[int(self.codes.max())] if self.demanded else "not demanded"

    @property
    def law(self) -> Status:
        """That of the law itself."""
        return _WORDS[int(self.codes[0])] if self.demanded else "not demanded"

    @property
    def violated(self) -> Flags:
        """Laws that break what is demanded."""
        return np.asarray((self.codes == VIOLATED) & self.demanded)

    def count(self, status: Status) -> int:
        """Laws of one status."""
        if not self.demanded:
            return len(self.codes) if status == "not demanded" else 0
        return int(np.sum(self.codes == _WORDS.index(status))) if status in _WORDS else 0


class Evidence(NamedTuple):
    """All that points are made from; `falling` and `bent` are counter-examples that were met."""

    law: Law
    every: Float[np.ndarray, "laws parameters"]
    material: Material
    demands: Demands
    proofs: Proofs
    falling: Bool[np.ndarray, "laws increasing"]
    bent: Flags
    response: Response
    turned: float
    removes: bool


def codes_of(proven: Flags, broken: Flags) -> Codes:
    """The status of every law: a counter-example counts more than a proof."""
    return np.where(broken, VIOLATED, np.where(proven, PROVEN, CHECKED))


def any_of(flags: Bool[np.ndarray, "rows columns"], axis: int) -> Bool[np.ndarray, "_"]:
    """Along an axis."""
    return np.asarray(flags.any(axis=axis))


def told(codes: Codes) -> int:
    """Of whom a sentence speaks: the first with the worst status, so the law itself if it can."""
    return int(np.argmax(codes))


def least(figures: Figures) -> str:
    """What the least figure among draws adds to a sentence about the law."""
    return f", least {figures[1:].min():.4g} among draws" if len(figures) > 1 else ""


def nothing(seen: Evidence, name: str, why: str) -> Point:
    """A point that the material does not demand and for which it names no place to look."""
    none = np.zeros(len(seen.every), bool)
    codes = codes_of(none, none)
    return Point(name, False, codes, np.full(len(codes), np.nan), name, why)
