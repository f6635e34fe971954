"""What the laws of a mixture say together: answers, where they differ, and how wide bands are."""

from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from steinmetz.assess import answers
from steinmetz.assess.answers import Difference, Predicted, Spread
from steinmetz.engine.judge import PathPredictions
from steinmetz.engine.problem import Problem
from steinmetz.predict.bands import Bands
from steinmetz.records import Observations, StressMap

# Points of the path, and rows of the data, that are looked at.
_POINTS, _ROWS = 60, 100
# Answers whose differences are looked for.
LEADING = 5

Mask = Bool[np.ndarray, "states components"]
Draws = Float[np.ndarray, "draws points components"]


class Place(NamedTuple):
    """Where an answer differs most: the point of the path, the component, and by how much."""

    point: int
    component: int
    by: Difference


class Answer(NamedTuple):
    """Laws that predict the same, by number, with their weight together.

    The first stands for them. `sampled` is where it differs most from all laws in the range of the
    data, `extrapolated` beyond it.
    """

    laws: list[int]
    weight: float
    sampled: Place | None = None
    extrapolated: Place | None = None


class Answers(NamedTuple):
    """All of them, those of most weight first, and how wide the bands are in range and beyond."""

    found: tuple[Answer, ...]
    sampled: Spread | None
    extrapolated: Spread | None

    def of(self, law: int) -> Answer:
        """The answer to which a law belongs."""
        return next(answer for answer in self.found if law in answer.laws)


def answers_of(problem: Problem, bands: Bands, along: PathPredictions) -> Answers | None:
    """What the laws say along the path and at the data; None where there is one law alone."""
    if len(bands.parts) < 2:
        return None
    points = _some(len(problem.path.coordinate), _POINTS)
    observed = problem.path.observed[points]
    path = _predicted(bands, _states(problem.path.map, points), observed)
    rows = _some(len(problem.train.state), _ROWS)
    data = _predicted(bands, _states(problem.train.map, rows), _seen(problem.train, rows))
    weights = np.array([part.weight for part in bands.parts])
    groups = [Answer(laws, float(weights[laws].sum())) for laws in answers.alike(_both(path, data))]
    groups.sort(key=lambda answer: -answer.weight)
    inside = (problem.path.sampled[points][:, None] & observed)[observed]
    cells, band = np.argwhere(observed), answers.band(path)

    def place(laws: list[int], some: Bool[np.ndarray, "cells"]) -> Place | None:
        by = answers.furthest(path, band, laws, some)
        return (
            None
            if by is None
            else Place(int(points[cells[by.cell, 0]]), int(cells[by.cell, 1]), by)
        )

    placed = [
        answer._replace(
            sampled=place(answer.laws, inside), extrapolated=place(answer.laws, ~inside)
        )
        for answer in groups[:LEADING]
    ]  # fmt: skip
    low, high = np.quantile(along.pushed[:, points][:, observed], (0.025, 0.975), axis=0)
    variances = answers.Variances.of(path)
    wide = [answers.spread(variances, high - low, some) for some in (inside, ~inside)]
    return Answers((*placed, *groups[LEADING:]), *wide)


def _some(size: int, most: int) -> Int[np.ndarray, "some"]:
    """Numbers of evenly spaced places, the first and the last among them."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).astype(int))


def _states(at: StressMap, some: Int[np.ndarray, "some"]) -> StressMap:
    """Taken by numpy: nothing is compiled."""
    inputs, operator = (jax.device_put(np.asarray(part)[some]) for part in at)
    return StressMap(inputs, operator)


def _seen(observations: Observations, some: Int[np.ndarray, "some"]) -> Mask:
    return np.asarray(np.asarray(observations.observed)[some])


def _predicted(bands: Bands, at: StressMap, observed: Mask) -> Predicted:
    """What laws and draws predict in the observed cells of some states."""
    stress, energy = bands._replace(discrepancy=None).push(at)
    missed = np.zeros(observed.shape)
    if bands.discrepancy is not None:
        missed += np.mean(bands.discrepancy.at(energy) ** 2, axis=0)[:, None]
    centres = bands.centres(at)[:, observed]
    return Predicted(centres, np.asarray(stress)[:, observed], bands.owner, missed[observed])


def _both(first: Predicted, second: Predicted) -> Predicted:
    """Cells of both."""
    join = np.concatenate
    return Predicted(
        join([first.centres, second.centres], axis=1),
        join([first.draws, second.draws], axis=1),
        first.owner,
        join([first.missed, second.missed]),
    )
