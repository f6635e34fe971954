"""Scores along the validation path with intervals: W1, CRPS and coverage (method §6, §8).

Only components that vary along the path are judged. Every score is given for all of them and for
each kind (S, mu), on the whole path, in the sampled range and beyond it.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from steinmetz.assess import measures
from steinmetz.engine.judge import PathPredictions
from steinmetz.paper.records import PerComponent
from steinmetz.paper.scores import Interval, ScoreTable, component_kind
from steinmetz.records import ValidationPath

# Bootstrap samples of W1, which has to be summed anew for each.
_RESAMPLED = 200
# Points of the path at which W1 is resampled: it is smooth along the path.
_RESAMPLED_POINTS = 50
# Bootstrap samples of a mean over the path, which cost little.
_RESAMPLED_MEANS = 400
# So few chains cannot be resampled as wholes; their draws, thinned, are taken for independent.
_CHAINS = 8

# Draws along the path; how many there are differs from one distribution to the next.
Draws = Float[np.ndarray, "_ points components"]
# A score of the chosen components on a part of the path, both given as masks.
Measure = Callable[[np.ndarray, np.ndarray], Interval]


class PathDraws(NamedTuple):
    """Distributions along the path, of the components `names` that vary there.

    `noisy` are draws of validation data; `particles` says how many of the draws of `pushed` stand
    beside each other, its other draws being later snapshots of them. `halfway` is the push-forward
    of a flow after half of its steps.
    """

    names: tuple[str, ...]
    sampled: Bool[np.ndarray, "points"]
    particles: int
    pushed: Draws
    predictive: Draws
    truth: PerComponent
    noisy: Draws
    halfway: Draws | None = None

    @classmethod
    def of(
        cls, along: PathPredictions, path: ValidationPath, particles: int, halfway: Draws | None
    ) -> "PathDraws":
        """Without the components that stay as they are."""
        moves = np.ptp(np.asarray(along.truth), axis=0) > 0
        names = tuple(np.array(path.components)[moves].tolist())
        every = along.pushed, along.predictive, along.truth, along.noisy
        kept = cls(
            names, path.sampled, particles, *(np.asarray(each)[..., moves] for each in every)
        )
        return kept._replace(halfway=None if halfway is None else halfway[..., moves])

    def each(self, measure: Measure) -> dict[str, dict[str, Interval]]:
        """A score by kind of component and part of the path; parts without a point are left out."""
        kinds, inside = [component_kind(name) for name in self.names], self.sampled
        parts = {"path": np.ones_like(inside), "sampled": inside, "extrapolated": ~inside}
        there = {name: part for name, part in parts.items() if part.any()}
        table = {}
        for kind in ("all", *dict.fromkeys(kinds)):
            chosen = np.array([kind in ("all", other) for other in kinds])
            table[kind] = {name: measure(chosen, part) for name, part in there.items()}
        return table


def judge(
    seed: int, draws: PathDraws, reference: Draws | None
) -> tuple[dict[str, PerComponent], ScoreTable]:
    """W1 and CRPS at every point of the path, and the means of all scores with intervals.

    W1 compares distributions: of the push-forward with noisy data, with the truth as a point mass
    and, if there is one, with the reference and with that of halfway; of the predictive with noisy
    data. CRPS and coverage judge the predictive against one draw of the data, as if that were what
    was measured.
    """
    random = np.random.default_rng(seed)
    pairs = {
        "w1_noisy": (draws.pushed, draws.noisy),
        "w1_clean": (draws.pushed, draws.truth[None]),
        "w1_predictive": (draws.predictive, draws.noisy),
    }
    if reference is not None:
        pairs["w1_reference"] = (draws.pushed, reference.astype(float))
    along, table = {}, {}
    for name, (a, b) in pairs.items():
        along[name] = measures.wasserstein_alike(a, b)
        table[name] = draws.each(_distance(random, along[name], a, b, draws.particles))
    if draws.halfway is not None:  # the same particles earlier: there is nothing to resample
        moved = measures.wasserstein(draws.pushed, draws.halfway)
        table["w1_halfway"] = draws.each(_plain(moved))
    observed = draws.noisy[0]
    along["crps"] = measures.crps(draws.predictive, observed)
    per_point = {"crps": along["crps"]}
    for level, (low, high) in measures.bands(draws.predictive).items():
        per_point[f"coverage_{level}"] = ((observed >= low) & (observed <= high)).astype(float)
    for name, values in per_point.items():
        table[name] = draws.each(_mean(random, values))
    return along, ScoreTable(table)


def constants(
    draws: PathDraws, values: Mapping[str, np.ndarray], reference: Draws | None
) -> dict[str, dict[str, PerComponent]]:
    """W1 at every point of the path of predictors that say the same everywhere.

    `values` has a number for each component that varies. An ensemble that is farther from the data
    than these has learned nothing. W1 of one value to a sample is its mean distance from it.
    """
    targets = {"w1_noisy": draws.noisy, "w1_clean": draws.truth[None]}
    if reference is not None:
        targets["w1_reference"] = reference.astype(float)
    return {
        name: {score: np.abs(target - value).mean(axis=0) for score, target in targets.items()}
        for name, value in values.items()
    }


def _distance(
    random: np.random.Generator, along: PerComponent, a: Draws, b: Draws, particles: int
) -> Measure:
    """Mean of W1 along the path with its 95 % bootstrap interval.

    Particles, whole with all their snapshots, and noise draws are resampled. A resampled W1 is
    biased upwards, so its scatter about its own mean is put around the value.
    """
    places = np.unique(np.linspace(0, a.shape[1] - 1, _RESAMPLED_POINTS).astype(int))
    groups = particles if particles > _CHAINS else None
    some = a[:, places], b[:, places]
    resampled = measures.wasserstein_resampled(random, *some, _RESAMPLED, groups)

    def measure(chosen: np.ndarray, part: np.ndarray) -> Interval:
        value = float(along[part][:, chosen].mean())
        scatter = resampled[:, part[places]][:, :, chosen].mean(axis=(1, 2))
        low, high = np.quantile(scatter - scatter.mean(), [0.025, 0.975])
        return Interval(value, max(0.0, value + float(low)), value + float(high))

    return measure


def _plain(along: PerComponent) -> Measure:
    """Mean over points and components, known as it is."""

    def measure(chosen: np.ndarray, part: np.ndarray) -> Interval:
        value = float(along[part][:, chosen].mean())
        return Interval(value, value, value)

    return measure


def _mean(random: np.random.Generator, values: PerComponent) -> Measure:
    """Mean over points and components, with a 95 % bootstrap interval over runs of points.

    Neighbours on the path share the error of the law, so runs of them are resampled as wholes.
    """

    def measure(chosen: np.ndarray, part: np.ndarray) -> Interval:
        at = values[part][:, chosen].mean(axis=1)
        block = measures.run_length(at)
        low, high = measures.interval(random, at, _RESAMPLED_MEANS, block=block)
        return Interval(float(at.mean()), float(low), float(high))

    return measure
