"""Which laws of a mixture give the same answer, where answers differ, and what makes bands wide.

One law can be written in several ways, as other terms with other coefficients: where the
predictions of two differ by much less than the posterior of each is wide, they are one answer.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from pydantic import Field

from steinmetz.pieces import cellwise, quantiles
from steinmetz.records import Document

# Laws are one answer if they differ by less than this share of the deviation within laws, root
# mean square over all cells.
ALIKE = 0.5
# Cells whose deviation is smaller, relatively to the largest, say nothing: all laws agree at rest.
_REST = 1e-6
# Draws of an answer whose median is taken; with fewer, its most probable law stands for it.
_DRAWS = 20

Cells = Bool[np.ndarray, "cells"]
Values = Float[np.ndarray, "cells"]


class Predicted(NamedTuple):
    """What the laws of a mixture predict in some cells: states times components.

    `centres` are those of every law at its fitted values, `draws` those of the posterior, whose law
    is `owner`. `missed` is the variance of what all laws miss, which is in no draw.
    """

    centres: Float[np.ndarray, "laws cells"]
    draws: Float[np.ndarray, "draws cells"]
    owner: Int[np.ndarray, "draws"]
    missed: Values

    @property
    def means(self) -> Float[np.ndarray, "laws cells"]:
        """The mean of the draws of every law; zero where it has none."""
        mine = (self.owner == np.arange(len(self.centres))[:, None]).astype(float)
        return np.asarray(mine @ self.draws / np.maximum(mine.sum(axis=1), 1)[:, None])


class Band(NamedTuple):
    """Lower border, median and upper border in every cell."""

    low: Values
    middle: Values
    high: Values


class Variances(NamedTuple):
    """Of draws in every cell: between laws, within laws, and of what all laws miss."""

    between: Values
    within: Values
    missed: Values

    @classmethod
    def of(cls, seen: Predicted) -> "Variances":
        """Means of laws count as often as their laws were drawn."""

        def some(draws: np.ndarray, centres: np.ndarray) -> np.ndarray:
            means = centres[seen.owner]
            return np.stack([np.var(means, axis=0), np.mean((draws - means) ** 2, axis=0)])

        between, within = cellwise(some, seen.draws, seen.means)
        return cls(between, within, seen.missed)


class Spread(Document):
    """How wide the bands are in a part of the path, and what makes them so.

    Shares are those of the variance, and add up to one.
    """

    width: float = Field(description="median width of the 95 % band of laws, in the unit of stress")
    between: float = Field(description="share that laws differ by")
    within: float = Field(description="share by parameters, the law given")
    discrepancy: float = Field(description="share that all laws are thought to miss")


class Difference(NamedTuple):
    """Where an answer is furthest from the median of all laws: the cell, both, and how wide.

    `half` is half the width of the band of all laws there.
    """

    cell: int
    own: float
    every: float
    half: float


def alike(seen: Predicted) -> list[list[int]]:
    """Laws by answer, those of most weight first; the first of an answer stands for it."""
    deviation = np.sqrt(Variances.of(seen).within)
    telling = deviation > _REST * deviation.max(initial=0.0)
    scaled = seen.centres[:, telling] / deviation[telling]
    found: list[list[int]] = []
    for number, own in enumerate(scaled):
        for answer in found:
            if np.sqrt(np.mean((own - scaled[answer[0]]) ** 2)) < ALIKE:
                answer.append(number)
                break
        else:
            found.append([number])
    return found


def band(seen: Predicted) -> Band:
    """Lower border, median and upper border of the 95 % band of draws."""
    return Band(*quantiles(seen.draws, (0.025, 0.5, 0.975)))


def furthest(seen: Predicted, of: Band, answer: list[int], cells: Cells) -> Difference | None:
    """Where the median of an answer is furthest from that of all laws, among some cells."""
    some = np.flatnonzero(cells)
    if not some.size:
        return None
    low, every, high = (part[some] for part in of)
    mine = np.isin(seen.owner, answer)
    own = seen.centres[answer[0], some]
    if mine.sum() >= _DRAWS:
        own = np.median(seen.draws[mine][:, some], axis=0)
    place = int(np.argmax(np.abs(own - every)))
    half = float(high[place] - low[place]) / 2
    return Difference(int(some[place]), float(own[place]), float(every[place]), half)


def spread(found: Variances, width: Values, cells: Cells) -> Spread | None:
    """What makes the bands wide in some cells; None where there are none, or no width."""
    parts = [float(np.mean(part[cells])) if cells.any() else 0.0 for part in found]
    total = sum(parts)
    if total <= 0:
        return None
    between, within, missed = (part / total for part in parts)
    middle = float(np.median(width[cells]))
    return Spread(width=middle, between=between, within=within, discrepancy=missed)
