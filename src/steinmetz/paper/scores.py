"""Scores of a point: which there are, a key that names one, and a table of them with intervals.

Nothing heavy is imported, so that the names in a grid can be checked when it is read.
"""

from typing import NamedTuple

from pydantic import ConfigDict, RootModel

from steinmetz import registry

# Scores along the path, and what tables call them. W1: Wasserstein-1 of the push-forward (or of the
# posterior predictive) to noisy data, to the clean truth, to that of the reference, or to that of
# the same flow after half of its steps.
SCORES = {
    "w1_noisy": "W1 noisy",
    "w1_clean": "W1 clean",
    "w1_predictive": "W1 predictive",
    "w1_reference": "W1 to reference",
    "w1_halfway": "W1 since halfway",
    "crps": "CRPS",
    "coverage_50": "50 % band",
    "coverage_90": "90 % band",
    "coverage_95": "95 % band",
}
# Parts of the path, and what tables call them.
PARTS = {"path": "whole path", "sampled": "sampled range", "extrapolated": "extrapolated"}
# Of what R² is known: parts of the path, fresh states and Ψ; in the order of the table.
R2_PARTS = ("path", "path_sampled", "path_extrapolated", "test", "energy")
# Single numbers of a point.
_SINGLE = ("active", "count", "seconds")


def component_kind(name: str) -> str:
    """S of S11, mu of mu: components of a kind are scored together."""
    return name.rstrip("0123456789")


class Interval(NamedTuple):
    """A number and its 95 % interval."""

    value: float
    low: float
    high: float


class ScoreKey(NamedTuple):
    """Which number of a point: its name and, where it has them, kind of component and part.

    The kind is that of `component_kind`, or 'all'; the part is one of `PARTS`, for r2 one of
    `R2_PARTS`.
    """

    name: str
    component: str = "all"
    part: str = "path"

    @classmethod
    def parse(cls, text: str) -> "ScoreKey":
        """The key of active, count, seconds, r2.PART or SCORE.COMPONENT.PART.

        Anything else is a ValueError with the nearest name that there is. Whether the component
        exists depends on the study, and is checked by the grid.
        """
        name, *rest = text.split(".")
        if name in SCORES and len(rest) == 2 and rest[1] in PARTS:
            return cls(name, *rest)
        if name == "r2" and len(rest) == 1 and rest[0] in R2_PARTS:
            return cls(name, part=rest[0])
        if text in _SINGLE:
            return cls(text)
        scores = [f"{score}.all.{part}" for score in SCORES for part in PARTS]
        known = [*_SINGLE, *(f"r2.{part}" for part in R2_PARTS), *scores]
        raise ValueError(registry.unknown("score", text, known))


# What single numbers are called.
_CALLED = {"active": "parameters", "count": "parameters not zero", "seconds": "seconds"}


def named(key: ScoreKey) -> str:
    """A score in the words of the tables."""
    if key.name == "r2":
        return f"R² {key.part.replace('_', ' ')}"
    kind = "" if key.component == "all" else f" {key.component}"
    part = "" if key.part == "path" else f", {PARTS[key.part]}"
    return _CALLED.get(key.name) or f"{SCORES[key.name]}{kind}{part}"


class ScoreTable(RootModel[dict[str, dict[str, dict[str, Interval]]]]):
    """Score → kind of component → part of the path → interval."""

    model_config = ConfigDict(frozen=True)

    def get(self, key: ScoreKey) -> Interval | None:
        """A score of a kind of component on a part of the path; None where there is none.

        The reference has no distance to itself, and a path need not leave the sampled range.
        """
        return self.root.get(key.name, {}).get(key.component, {}).get(key.part)
