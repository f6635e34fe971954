"""The scores of a law and its posterior, as one typed record with one set of keys.

Method §6, §8.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from pydantic import Field

from steinmetz.assess import measures
from steinmetz.assess.fit import Fit
from steinmetz.assess.loo import Density
from steinmetz.records import Document, Observations

Stress = Float[np.ndarray, "states components"]
Draws = Float[np.ndarray, "draws states components"]
Cells = Bool[np.ndarray, "states components"]
Coverage = dict[str, float | None]
"""Share of the values inside the central band, by its level in per cent."""


class Parts(Document):
    """A number on the whole validation path, in the sampled range and beyond it."""

    path: float | None
    sampled: float | None
    extrapolated: float | None


class R2(Document):
    """R² of the law against the clean truth where there is one, else against data."""

    train: float | None
    test: float | None = Field(description="fresh states, or held-out rows")
    path: float | None = None
    path_sampled: float | None = None
    path_extrapolated: float | None = None
    per_component: dict[str, float] = Field(
        description="on the test; those without variance left out"
    )


class Scores(Document):
    """Everything measured of a law and its posterior."""

    r2: R2
    w1: dict[str, Parts] = Field(
        default_factory=dict,
        description="Wasserstein-1, mean along the path, by pair of distributions",
    )
    coverage: Coverage = Field(description="of noisy data by the predictive bands")
    coverage_fitted: Coverage | None = Field(
        None, description="of fitted rows, where others are held out"
    )
    coverage_sampled: Coverage | None = None
    coverage_extrapolated: Coverage | None = None
    coverage_clean: Coverage | None = Field(
        None, description="of the clean truth by the push-forward bands"
    )
    other: dict[str, float | None] = Field(
        default_factory=dict, description="further scores, by the name of their file"
    )
    fit: Fit = Field(description="residuals and coverage beside what the stated noise leads to")
    elpd: Density = Field(description="log predictive density of data left out, by tensor")


class Ensembles(NamedTuple):
    """Draws along the path with the truth and noisy copies of it."""

    pushed: Draws
    predictive: Draws
    truth: Stress
    noisy: Draws


def r2(prediction: Stress, known: Observations) -> float | None:
    """R² of a prediction at the states of some observations, over the cells that were observed."""
    return measures.r2(prediction, np.asarray(known.values), np.asarray(known.observed))


def per_component(prediction: Stress, known: Observations) -> dict[str, float]:
    """R² of each component; those without variance are left out."""
    values, seen = np.asarray(known.values), np.asarray(known.observed)
    return measures.r2_per_component(prediction, values, known.components, seen)


def varying(truth: Stress, observed: Cells) -> Cells:
    """Observed cells of the components that vary along the path."""
    spread = [
        np.ptp(column[seen]) if seen.any() else 0.0
        for column, seen in zip(truth.T, observed.T, strict=True)
    ]
    return observed & (np.array(spread) > 0)


def wasserstein(
    along: Ensembles, cells: Cells, inside: Bool[np.ndarray, "states"]
) -> dict[str, Parts]:
    """W1 of three pairs of distributions, mean over components and along the path."""
    pairs = {
        "push_forward_noisy": (along.pushed, along.noisy),
        "push_forward_clean": (along.pushed, along.truth[None]),
        "predictive_noisy": (along.predictive, along.noisy),
    }
    moving = cells.any(axis=0)
    count = cells[:, moving].sum(axis=1)
    result = {}
    for name, (a, b) in pairs.items():
        each = [measures.wasserstein_alike(a[..., i], b[..., i]) for i in np.flatnonzero(moving)]
        distance = np.stack(each, axis=1) if each else np.zeros((len(cells), 0))
        total = np.sum(np.where(cells[:, moving], distance, 0.0), axis=1)
        result[name] = parts(total / np.maximum(count, 1), inside)
    return result


def parts(values: Float[np.ndarray, "states"], inside: Bool[np.ndarray, "states"]) -> Parts:
    """Means over the whole path, the sampled range and the rest."""
    return Parts(
        path=float(values.mean()),
        sampled=float(values[inside].mean()) if inside.any() else None,
        extrapolated=float(values[~inside].mean()) if not inside.all() else None,
    )
