"""Laws judged by their likelihood, each with the noise at its own prediction (method §4).

Where the noise is stated, that is the discrepancy alone; where a part of it is to be estimated, or
errors have the tails of Student's t, coefficients and noise are integrated out (`data.estimate`).
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from steinmetz.data import noise, student
from steinmetz.data.estimate import Estimate, Grid, Noise
from steinmetz.data.noise import Level
from steinmetz.data.quadratic import compress
from steinmetz.records import Observations
from steinmetz.shapes import Cells
from steinmetz.sparsify.written import Problem, Written

# Draws of estimated noise, and points of the grid they come from.
_DRAWS, _POINTS = 2000, 41
# Weight of a law, beside that of the best, from which on its noise counts.
_LEAST = 0.01
# Times that a fit is reweighted where errors have heavy tails.
_REWEIGHTED = 12
# Change of a prediction, in the root-mean-square stress, that is none.
_STILL = 1e-4


class Judged(NamedTuple):
    """A law judged under the noise at its own prediction."""

    law: Written
    prediction: Cells
    level: Level

    def under(self, observations: Observations, deviation: Cells) -> Written:
        """The law with χ² under a common noise, and −2 log likelihood less that noise's constant.

        For the law at whose prediction the noise is judged, both are the same.
        """
        seen = np.asarray(observations.observed)
        size = np.asarray(deviation)[seen]
        left = (np.asarray(observations.values) - np.asarray(self.prediction))[seen] / size
        assert self.law.unlikely is not None
        unlikely = self.law.unlikely - 2 * float(np.sum(np.log(size)))
        return self.law._replace(misfit=float(left @ left), unlikely=unlikely)


class Judge(NamedTuple):
    """What laws are judged by: data, and what is known of their noise.

    `floor` is the discrepancy, or None if it is to be estimated; `unknown` is there where the noise
    is estimated too, or where its tails are heavy.
    """

    observations: Observations
    floor: float | None
    unknown: Noise | None

    @classmethod
    def of(cls, observations: Observations, floor: float | None, tails: bool) -> "Judge":
        """From data whose noise is not a number where it is to be estimated."""
        seen = np.asarray(observations.observed)
        parts = (np.asarray(part)[seen] for part in (observations.relative, observations.absolute))
        if not tails and not any(np.isnan(part).any() for part in parts):
            return cls(observations, floor, None)
        return cls(observations, floor, Noise.of(observations, floor, tails))

    @property
    def estimates(self) -> bool:
        """Whether more than the discrepancy of stated noise is estimated."""
        return self.unknown is not None

    @property
    def tails(self) -> bool:
        """Whether errors have the tails of Student's t."""
        return self.unknown is not None and self.unknown.tails

    @property
    def start(self) -> Level:
        """The noise before any law is fitted."""
        if self.unknown is not None:
            return self.unknown.start
        return Level(noise.USUAL if self.floor is None else self.floor)

    def deviation(self, prediction: Cells, level: Level) -> Cells:
        """The noise at a prediction."""
        return noise.deviation(noise.filled(self.observations, level), prediction, level.floor)

    def weights(self, prediction: Cells, level: Level) -> Cells | None:
        """What every cell counts in a fit, where errors have heavy tails."""
        if not self.tails:
            return None
        left = (self.observations.values - prediction) / self.deviation(prediction, level)
        return jnp.asarray(student.information(np.asarray(left) ** 2))

    def weighted(self, prediction: Cells, level: Level) -> Cells:
        """The noise at a prediction, as it counts in a fit."""
        found = Estimate(level, weights=self.weights(prediction, level))
        return found.weighted(self.deviation(prediction, level))

    def all(self, problem: Problem, laws: list[Written]) -> list[Judged]:
        """Laws with the noise at their own predictions and sizes of it of their own, best first."""
        found = [self.one(problem, law) for law in laws]
        return sorted(found, key=lambda each: each.law.score(self.observations.cells))

    def one(self, problem: Problem, law: Written) -> Judged:
        """One law."""
        prediction = problem.stress(law, np.asarray(self.observations.operator))
        if self.unknown is None:
            floor, unlikely = noise.discrepancy(self.observations, prediction, self.floor)
            return Judged(law._replace(unlikely=unlikely), prediction, Level(floor))
        grid = self.unknown.posterior(problem.linear(law, self.observations))
        level = self.unknown.level(*grid.best)
        return Judged(law._replace(unlikely=grid.unlikely), prediction, level)

    def level(self, problem: Problem, law: Written) -> Level:
        """The noise of a law where nothing is taken for granted of its constant part."""
        assert self.unknown is not None
        grid = self.unknown.free.posterior(problem.linear(law, self.observations))
        return self.unknown.level(*grid.best)

    def settled(self, problem: Problem, best: Judged) -> tuple[Cells, Level]:
        """Prediction and noise of the best law; where tails are heavy, reweighted until they stay.

        The structure is that of the law.
        """
        prediction, operator = best.prediction, np.asarray(self.observations.operator)
        level = self.level(problem, best.law) if self.estimates else best.level
        for _ in range(_REWEIGHTED if self.tails else 0):
            weighted = compress(self.observations, self.weighted(prediction, level))
            again = Problem.of(weighted, problem.reference)
            law = again.fitted(best.law.atoms)
            before, prediction = prediction, again.stress(law, operator)
            level = self.level(again, law)
            if float(jnp.max(jnp.abs(prediction - before))) < _STILL * self.observations.scale:
                break
        return prediction, level

    def estimate(
        self, problem: Problem, judged: list[Judged], prediction: Cells, level: Level
    ) -> Estimate:
        """The noise of the best law, and draws of what was estimated of it, by all good laws."""
        weights = self.weights(prediction, level)
        if self.unknown is None:
            return Estimate(level, weights=weights)
        sizes = self._drawn(self.unknown, problem, judged)
        constant = sizes[:, 1] if self.unknown.constant.any() else None
        absolute = self.unknown.absolute
        return Estimate(
            level,
            relative=sizes[:, 0] if self.unknown.relative.any() else None,
            absolute=sizes[:, 1] * self.unknown.scale if absolute else None,
            floor=None if absolute else constant,
            weights=weights,
        )

    def _drawn(self, unknown: Noise, problem: Problem, judged: list[Judged]) -> np.ndarray:
        """Sizes of both parts of the noise, laws as often as they are probable."""
        count, random = self.observations.cells, np.random.default_rng(0)
        score = np.array([each.law.score(count) for each in judged])
        share = np.exp(-(score - score[0]) / 2)
        near = share > _LEAST
        due = np.round(np.cumsum(share[near]) / share[near].sum() * _DRAWS).astype(int)
        parts = []
        for each, number in zip(judged, np.diff(due, prepend=0), strict=False):
            linear = problem.linear(each.law, self.observations)
            grid: Grid = unknown.free.posterior(linear, _POINTS)
            parts.append(grid.drawn(random, int(number)))
        return random.permutation(np.concatenate(parts))
