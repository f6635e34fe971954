"""Many data sets in numbers: means with intervals, and whether ranks are uniform."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Int
from pydantic import Field
from scipy.special import ndtri

from steinmetz.assess import measures, ranks
from steinmetz.calibrate.judged import DataSet, Judged, Record, Region
from steinmetz.calibrate.ways import DRAWS, LEVELS, ORACLE

# Data sets of which less of the range is covered by the 95 % band are counted.
FEW = 0.6
# Classes of ranks: a truth outside of all draws is nothing special among them.
CLASSES = 100
PARTS = ("in range", "beyond")


class Mean(Record):
    """Over data sets, with its 95 % interval: seeds are drawn anew.

    Laws share the random numbers of a seed, so that its data sets are not independent.
    """

    value: float
    low: float
    high: float


class Uniform(Record):
    """Ranks over data sets: the largest distance from uniform, and what uniform ranks keep.

    `shift` and `spread` are mean and deviation of the ranks as scores of a standard normal.
    """

    excess: float = Field(description="in standard errors")
    limit: float = Field(description="that 95 of 100 uniform samples keep below")
    shift: float = Field(description="0 if uniform; above it, truths lie above the middle of draws")
    spread: float = Field(description="1 if uniform; below it, draws are wider than they had to be")

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


def mean(values: list[float], seeds: list[int]) -> Mean:
    """With a bootstrap interval over seeds, always the same."""
    array = np.array(values)
    each = [array[np.array(seeds) == seed].mean() for seed in dict.fromkeys(seeds)]
    low, high = measures.interval(np.random.default_rng(0), np.array(each))
    return Mean(value=float(array.mean()), low=float(low), high=float(high))


def _way(data: list[DataSet], name: str) -> Way:
    """Means of one way."""
    own, seeds = [each.ways[name] for each in data], [each.seed for each in data]
    r2 = [each.r2 for each in own if each.r2 is not None]
    found = [each.rank for each in own if each.rank is not None]
    inside = [each.clean["in range"].coverage[95] for each in own if "in range" in each.clean]
    return Way(
        clean=_figures(data, name, lambda each: each.clean),
        noisy=_figures(data, name, lambda each: each.noisy),
        r2=mean(r2, seeds) if len(r2) == len(seeds) else None,
        below=float(np.mean(np.array(inside) < FEW)) if inside else None,
        ranks=_uniform(found) if found else None,
    )


def classed(found: list[int]) -> Int[np.ndarray, "truths"]:
    """Ranks in equal classes, which are themselves ranks among fewer draws."""
    return np.array(found) * CLASSES // (DRAWS + 1)


def _uniform(found: list[int]) -> Uniform:
    """Ranks beside uniform ones."""
    scores = ndtri((np.array(found) + 0.5) / (DRAWS + 1))
    return Uniform(
        excess=ranks.excess(classed(found), CLASSES - 1),
        limit=ranks.limit(len(found), CLASSES - 1),
        shift=float(scores.mean()),
        spread=float(scores.std()),
    )


def _figures(
    data: list[DataSet], name: str, part_of: Callable[[Judged], dict[str, Region]]
) -> Figures:
    """Means in range and beyond."""
    found = {}
    for part in PARTS:
        some = [each for each in data if part in part_of(each.ways[name])]
        sure = [part_of(each.ways[ORACLE])[part] for each in some if ORACLE in each.ways]
        if some:
            every = [part_of(each.ways[name])[part] for each in some]
            found[part] = _means(every, sure, [each.seed for each in some])
    return found


def _means(every: list[Region], sure: list[Region], seeds: list[int]) -> dict[str, Mean]:
    """Of one part of the path: coverage, width, scores, and width beside that of the oracle."""
    found = {f"coverage {level}": [each.coverage[level] for each in every] for level in LEVELS}
    found["width"] = [each.width for each in every]
    found["interval score"] = [each.interval_score for each in every]
    found["crps"] = [each.crps for each in every if each.crps is not None]
    if len(sure) == len(every):
        pairs = zip(every, sure, strict=True)
        found["width / oracle"] = [region.width / other.width for region, other in pairs]
    return {
        name: mean(values, seeds) for name, values in found.items() if len(values) == len(every)
    }
