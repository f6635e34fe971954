"""Many data sets in numbers: means with intervals, and whether ranks are uniform."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Int
from pydantic import Field

from steinmetz.assess import measures, ranks
from steinmetz.calibrate.judged import DataSet, Judged, Record, Region
from steinmetz.calibrate.ways import DRAWS, LEVELS, ORACLE

# Data sets of which less of the range is covered by the 95 % band are counted.
FEW = 0.6
# Classes of ranks: a truth outside of all draws is nothing special among them.
CLASSES = 100
PARTS = ("in range", "beyond")


class Mean(Record):
    """Over data sets, with its 95 % interval: data sets are drawn anew."""

    value: float
    low: float
    high: float


class Uniform(Record):
    """Ranks over data sets: the largest distance from uniform, and what uniform ranks keep."""

    excess: float = Field(description="in standard errors")
    limit: float = Field(description="that 95 of 100 uniform samples keep below")

    @property
    def inside(self) -> bool:
        """Whether they may be uniform."""
        return self.excess <= self.limit


Figures = dict[str, dict[str, Mean]]
"""By part of the path, and by name: coverage by level, width, interval score and so on."""


class Way(Record):
    """One way to average laws over many data sets."""

    clean: Figures
    noisy: Figures
    r2: Mean | None
    below: float | None = Field(
        description="share of the data sets with less than 0.6 of the range inside the 95 % band"
    )
    ranks: Uniform | None


class Group(Record):
    """Data sets of one law and noise."""

    law: str
    noise: float
    count: int
    ways: dict[str, Way]


def summed(data: list[DataSet]) -> dict[str, Way]:
    """All ways that every data set has."""
    names = [name for name in data[0].ways if all(name in each.ways for each in data)]
    return {name: _way(data, name) for name in names}


def grouped(data: list[DataSet]) -> list[Group]:
    """The same for every law and noise."""
    keys = dict.fromkeys((each.law, each.noise) for each in data)
    found = []
    for law, noise in keys:
        some = [each for each in data if (each.law, each.noise) == (law, noise)]
        found.append(Group(law=law, noise=noise, count=len(some), ways=summed(some)))
    return found


def mean(values: list[float]) -> Mean:
    """With a bootstrap interval, always the same."""
    array = np.array(values)
    low, high = measures.interval(np.random.default_rng(0), array)
    return Mean(value=float(array.mean()), low=float(low), high=float(high))


def _way(data: list[DataSet], name: str) -> Way:
    """Means of one way."""
    own = [each.ways[name] for each in data]
    sure = [each.ways.get(ORACLE) for each in data]
    r2 = [each.r2 for each in own if each.r2 is not None]
    found = [each.rank for each in own if each.rank is not None]
    inside = [each.clean["in range"].coverage[95] for each in own if "in range" in each.clean]
    return Way(
        clean=_figures(own, sure, lambda each: each.clean),
        noisy=_figures(own, sure, lambda each: each.noisy),
        r2=mean(r2) if r2 else None,
        below=float(np.mean(np.array(inside) < FEW)) if inside else None,
        ranks=_uniform(found) if found else None,
    )


def classed(found: list[int]) -> Int[np.ndarray, "truths"]:
    """Ranks in equal classes, which are themselves ranks among fewer draws."""
    return np.array(found) * CLASSES // (DRAWS + 1)


def _uniform(found: list[int]) -> Uniform:
    """Ranks beside uniform ones."""
    limit = ranks.limit(len(found), CLASSES - 1)
    return Uniform(excess=ranks.excess(classed(found), CLASSES - 1), limit=limit)


def _figures(
    own: list[Judged], sure: list[Judged | None], part_of: Callable[[Judged], dict[str, Region]]
) -> Figures:
    """Means in range and beyond."""
    found = {}
    for part in PARTS:
        pairs = [
            (part_of(each)[part], None if other is None else part_of(other)[part])
            for each, other in zip(own, sure, strict=True)
            if part in part_of(each)
        ]
        if pairs:
            found[part] = _means(pairs)
    return found


def _means(pairs: list[tuple[Region, Region | None]]) -> dict[str, Mean]:
    """Of one part of the path: coverage, width, scores, and width beside that of the oracle."""
    every = [region for region, _ in pairs]
    found = {f"coverage {level}": [each.coverage[level] for each in every] for level in LEVELS}
    found["width"] = [each.width for each in every]
    found["interval score"] = [each.interval_score for each in every]
    found["crps"] = [each.crps for each in every if each.crps is not None]
    found["width / oracle"] = [
        region.width / other.width for region, other in pairs if other is not None
    ]
    return {name: mean(values) for name, values in found.items() if len(values) == len(every)}
