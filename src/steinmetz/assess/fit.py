"""Whether a law fits its data as well as the stated noise says, no worse and no better (method §6).

The stated deviation has two parts: noise, which every datum has, and the discrepancy floor, which
the law may use or not. So what is expected is a range, from data without any discrepancy to data
with all of it, widened by chance. Residuals are in units of the whole deviation; the share w of the
noise in its variance says how small they may be.
"""

from collections.abc import Iterator
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from pydantic import Field

from steinmetz.assess import measures
from steinmetz.assess.outliers import Growth, Outlier, farthest, growth, outliers
from steinmetz.records import Document

Stress = Float[np.ndarray, "rows components"]
Cells = Bool[np.ndarray, "rows components"]

# Chance of a false alarm on each side of a range.
_CHANCE = 1e-3
_NORMAL = NormalDist()
_SIGMAS = _NORMAL.inv_cdf(1 - _CHANCE)
# A median of absolute values scatters more than a standard deviation: 1.16/√n against 0.71/√n.
_MEDIAN_SCATTER = 1.16
# Rows that are averaged where a trend is looked for, at least, and parts of the range, at most.
_FEWEST = 8
_PARTS = 8
# Name of the column that is the stress of the law.
PREDICTION = "its prediction"
# The band whose coverage is checked.
_LEVEL = "90"


class Range(Document):
    """A number and the range in which chance and the stated floor leave it."""

    value: float
    low: float
    high: float

    @property
    def inside(self) -> bool:
        """Whether it is what was expected."""
        return self.low <= self.value <= self.high


class Trend(Document):
    """The largest mean residual over a part of the data, in its standard errors."""

    value: float
    limit: float
    place: str = Field(description="component, and the range of what it was sorted by")


class Covered(Range):
    """Share of values inside the 90 % band."""

    of: str = Field(description="which values")
    effective: float = Field(description="so many independent values would say as much")


class Fit(Document):
    """Residuals of a law beside the noise that was stated."""

    rows: int
    cells: int
    parameters: int
    misfit: Range = Field(description="χ²/n")
    scatter: Range = Field(description="robust deviation of the residuals, in stated ones")
    trend: Trend | None = Field(description="none where there are too few rows")
    coverage: Covered | None
    growth: Growth | None = Field(None, description="none where there are too few values")
    outliers: list[Outlier] = Field(default_factory=list, description="the farthest first")
    tails: bool = Field(False, description="whether the noise was said to have outliers")


class Residuals(NamedTuple):
    """What a law leaves of its data, row by row.

    `values` are (y − ŷ)/sd, `share` that of the noise in sd², `sorted_by` are columns along which a
    trend may show, by name; a column per component where it depends on it. Where errors have heavy
    `tails`, `values` are normal scores of the residuals, which are `raw`. `places` name the rows.
    """

    values: Stress
    share: Stress
    observed: Cells
    components: tuple[str, ...]
    sorted_by: dict[str, Stress]
    raw: Stress | None = None
    places: tuple[str, ...] = ()

    @property
    def tails(self) -> bool:
        """Whether errors have heavy tails."""
        return self.raw is not None

    @property
    def sizes(self) -> dict[str, Stress]:
        """Columns along which the scatter may grow: the size of the prediction, and the others."""
        others = {name: column for name, column in self.sorted_by.items() if name != PREDICTION}
        return {f"|{PREDICTION}|": np.abs(self.sorted_by[PREDICTION]), **others}


class Seen(NamedTuple):
    """Values and predictive draws that a band is judged by, and the share of noise in both."""

    draws: Float[np.ndarray, "draws rows components"]
    values: Stress
    share: Stress
    observed: Cells
    of: str


def examine(left: Residuals, parameters: int, seen: Seen) -> Fit:
    """All numbers that say whether law and stated noise fit each other."""
    r, share = left.values[left.observed], left.share[left.observed]
    scatter = _scatter(r, share, parameters)
    limit = farthest(len(r), _CHANCE) * max(scatter.value, 1.0)
    distance = left.values if left.raw is None else left.raw
    clipped = np.clip(left.values, -limit, limit)
    return Fit(
        rows=int(left.observed.any(axis=1).sum()),
        cells=len(r),
        parameters=parameters,
        misfit=_misfit(r, share, parameters),
        scatter=scatter,
        trend=_trend(left),
        coverage=_coverage(seen),
        growth=growth(clipped, left.share, left.observed, left.sizes, _CHANCE),
        outliers=outliers(distance, left.observed, (left.places, left.components), limit),
        tails=left.tails,
    )


def _misfit(
    r: Float[np.ndarray, "cells"], share: Float[np.ndarray, "cells"], parameters: int
) -> Range:
    """χ²/n of n − k degrees of freedom.

    At least that of noise alone, Σ w ξ², with as many degrees again taken by the choice of the
    structure; at most that of noise and floor together.
    """
    n, total = len(r), float(np.sum(share))
    low = 0.0
    if total > 2 * parameters:
        size = float(np.sum(share**2)) / total
        freedom = total / size
        low = (1 - 2 * parameters / total) * size * chi_square(freedom, _CHANCE) / n
    high = chi_square(float(max(n - parameters, 1)), 1 - _CHANCE) / n
    return Range(value=float(np.mean(r**2)), low=low, high=high)


def chi_square(freedom: float, chance: float) -> float:
    """Quantile of χ², after Wilson and Hilferty."""
    part = 2 / (9 * freedom)
    root: float = max(1 - part + _NORMAL.inv_cdf(chance) * part**0.5, 0.0)
    return freedom * root**3


def _scatter(
    r: Float[np.ndarray, "cells"], share: Float[np.ndarray, "cells"], parameters: int
) -> Range:
    """1.48 median |r|, which outliers do not move, where noise is most of the stated deviation."""
    mostly = share > 0.5
    if mostly.sum() < 2 * _FEWEST:
        mostly = np.ones(len(r), bool)
    n = int(mostly.sum())
    error = _SIGMAS * _MEDIAN_SCATTER / n**0.5
    left = max(1 - 2 * parameters / len(r), 0.0)
    least = float(np.sqrt(np.median(share[mostly]) * left))
    value = float(np.median(np.abs(r[mostly]))) / _NORMAL.inv_cdf(0.75)
    return Range(value=value, low=max(least * (1 - error), 0.0), high=1 + error)


def _trend(left: Residuals) -> Trend | None:
    """The part of the data whose residuals are most of one sign, beyond what the floor allows.

    Means over neighbouring cells are compared with the scatter of all residuals of a component; the
    limit allows for how many parts are looked at.
    """
    found = list(_means(left))
    if not found:
        return None
    value, place = max(found)
    limit = _NORMAL.inv_cdf(1 - _CHANCE / len(found))
    return Trend(value=value, limit=limit, place=place)


def _means(left: Residuals) -> Iterator[tuple[float, str]]:
    """Mean residual of every part in its standard errors, and where it is."""
    for index, name in enumerate(left.components):
        seen = left.observed[:, index]
        r, floor = left.values[seen, index], np.sqrt(1 - left.share[seen, index])
        parts = min(len(r) // _FEWEST, _PARTS)
        if parts < 2:
            continue
        scatter = float(np.sqrt(np.mean(r**2))) + np.finfo(float).tiny
        for label, columns in left.sorted_by.items():
            along = columns[seen, index]
            for part in np.array_split(np.argsort(along, kind="stable"), parts):
                beyond = max(abs(float(np.mean(r[part]))) - float(np.mean(floor[part])), 0.0)
                ends = f"{along[part].min():.3g} to {along[part].max():.3g}"
                yield beyond * len(part) ** 0.5 / scatter, f"{name} where {label} is {ends}"


def _coverage(seen: Seen) -> Covered | None:
    """Share inside the 90 % band beside what so few values and draws can tell.

    A band of S draws is short by (S − 1)/(S + 1); a band with a floor that the data do not have is
    too wide.
    """
    if not seen.observed.any():
        return None
    inside = measures.inside(seen.draws, seen.values, seen.observed)[_LEVEL]
    value, level, count = float(inside[seen.observed].mean()), int(_LEVEL) / 100, len(seen.draws)
    reach = _NORMAL.inv_cdf((1 + level) / 2)
    ratio = reach / np.sqrt(np.maximum(seen.share[seen.observed], 1e-12))
    widest = float(np.mean([2 * _NORMAL.cdf(float(z)) - 1 for z in ratio]))
    least = level * (count - 1) / (count + 1)
    effective = effective_values(inside, seen.observed)
    below = _SIGMAS * (least * (1 - least) / effective) ** 0.5
    above = _SIGMAS * (widest * (1 - widest) / effective) ** 0.5
    ends = {"low": max(least - below, 0.0), "high": min(widest + above, 1.0)}
    return Covered(value=value, **ends, of=seen.of, effective=effective)


def effective_values(inside: Cells, observed: Cells) -> float:
    """How many independent values have as uncertain a share.

    Cells of a row and neighbouring rows share the error of the law: runs of rows are taken
    together.
    """
    count, rows = int(observed.sum()), observed.any(axis=1)
    at = np.sum(inside & observed, axis=1)[rows] / np.sum(observed, axis=1)[rows]
    share = float(np.mean(inside[observed]))
    variance = float(np.var(at)) * measures.correlation_time(at) / len(at)
    if variance <= 0 or share in (0.0, 1.0):
        return float(count)
    return float(np.clip(share * (1 - share) / variance, 1.0, count))
