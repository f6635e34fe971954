"""Single values that lie too far from a law, and parts of the data that scatter too much.

Both say in which way the stated noise is wrong where χ²/n alone does not.
"""

from collections.abc import Iterator
from statistics import NormalDist

import numpy as np
from jaxtyping import Bool, Float
from pydantic import Field

from steinmetz.records import Document

Stress = Float[np.ndarray, "rows components"]
Cells = Bool[np.ndarray, "rows components"]

_NORMAL = NormalDist()
# Outliers that are named.
MOST = 1000
# Parts of a range that are compared, at most, and values of each, at least.
_PARTS, _FEWEST = 6, 20


class Outlier(Document):
    """A value that lies too far from the law for its noise."""

    place: str = Field(description="row, or line of a table")
    component: str
    deviations: float = Field(description="measured less predicted, in deviations of the noise")


class Growth(Document):
    """The part of the data that scatters most beyond the noise of the others."""

    value: float = Field(description="how improbable, in standard errors")
    limit: float
    ratio: float = Field(description="its scatter over what the noise of the others says")
    place: str
    end: str = Field(description="'small' or 'large' stress, or 'inside' a range")


def outliers(
    residuals: Stress, observed: Cells, names: tuple[tuple[str, ...], tuple[str, ...]], limit: float
) -> list[Outlier]:
    """Values further away than the limit, the farthest first; `names` are of rows and columns.

    At most `MOST` of them.
    """
    rows, components = names
    far = np.argwhere(observed & (np.abs(residuals) > limit))
    order = np.argsort(-np.abs(residuals[far[:, 0], far[:, 1]]), kind="stable")[:MOST]
    return [
        Outlier(
            place=rows[row] if rows else f"row {row + 1}",
            component=components[column],
            deviations=float(residuals[row, column]),
        )
        for row, column in far[order]
    ]


def farthest(cells: int, chance: float) -> float:
    """How many deviations none of so many normal values is away, but for a chance."""
    return _NORMAL.inv_cdf(1 - chance / (2 * max(cells, 1)))


def growth(
    residuals: Stress, share: Stress, used: Cells, sorted_by: dict[str, Stress], chance: float
) -> Growth | None:
    """The part with the largest mean square beside that of all parts.

    Noise has the share w of the stated variance, and the law may use the rest or not: a common
    factor of the noise is allowed for, and all of the rest.
    """
    r, w = residuals[used] ** 2, share[used]
    found = []
    for label, column in sorted_by.items():
        means = list(_means(r, w, column[used]))
        common = max(float(np.median([m / max(s, 1e-9) for m, s, _ in means] or [1.0])), 1.0)
        for number, (mean, noise, along) in enumerate(means):
            ratio = mean / (common * noise + 1 - noise)
            ends = f"where {label} is {along.min():.3g} to {along.max():.3g}"
            end = {0: "small", len(means) - 1: "large"}.get(number, "inside")
            found.append(
                (_errors(ratio, len(along)), ratio, ends, end if "|" in label else "inside")
            )
    if not found:
        return None
    limit = _NORMAL.inv_cdf(1 - chance / len(found))
    # Stress and deformation grow together: what the stress explains is its own.
    first = [each for each in found if each[0] > limit and each[3] != "inside"]
    value, ratio, place, end = max(first or found, key=lambda each: each[0])
    return Growth(value=value, limit=limit, ratio=float(ratio**0.5), place=place, end=end)


def _means(
    r: Float[np.ndarray, "cells"], w: Float[np.ndarray, "cells"], along: Float[np.ndarray, "cells"]
) -> Iterator[tuple[float, float, Float[np.ndarray, "part"]]]:
    """Mean square, share of the noise and places of every part of the range."""
    parts = min(len(r) // _FEWEST, _PARTS)
    if parts < 2:
        return
    for part in np.array_split(np.argsort(along, kind="stable"), parts):
        yield float(r[part].mean()), float(w[part].mean()), along[part]


def _errors(ratio: float, count: int) -> float:
    """A mean square of so many values as a standard normal number, after Wilson and Hilferty."""
    part = 2 / (9 * count)
    return float((ratio ** (1 / 3) - 1 + part) / part**0.5)
