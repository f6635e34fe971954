"""Whose draws make the bands of a run: those of all laws that may hold, or of the law alone."""

import numpy as np
from jaxtyping import Float

from steinmetz.data import noise
from steinmetz.engine.problem import Problem
from steinmetz.engine.sample import Ensemble
from steinmetz.posterior import structures
from steinmetz.predict.bands import Bands, Discrepancy
from steinmetz.sparsify import many_rows, written
from steinmetz.sparsify.carve import Carved
from steinmetz.studies.study import Study

# Added to the seed of a study: the numbers drawn here are not those of another stage.
_STREAM = 13
# A discrepancy is smooth: where it is largest, it is so many times its root mean square.
_PEAK = 2.0
# Share of the discrepancy, squared, that is none.
_NOTHING = 0.02


def bands_of(study: Study, problem: Problem, carved: Carved, ensemble: Ensemble) -> Bands:
    """As many draws as the posterior of the law has, always the same for the same run."""
    if study.assess.bands == "law" or len(carved.structures) < 2:
        random = np.random.default_rng([study.seed, _STREAM])
        draws = _noise(random, carved, problem.train.scale, ensemble.factor)
        return Bands.of(carved.law, ensemble.theta, draws)
    return mixture_of(study, problem, carved, ensemble.factor)


def mixture_of(
    study: Study,
    problem: Problem,
    carved: Carved,
    factor: Float[np.ndarray, "draws"],
    bags: int = structures.BAGS,
) -> Bands:
    """Draws of all laws that may hold, one per noise factor, averaged over bootstraps."""
    random = np.random.default_rng([study.seed, _STREAM])
    rows = carved.quadratic.spread(many_rows.SEARCHED)
    data = written.Problem.of(rows, problem.material.reference)
    parts = structures.mixture(random, list(carved.structures), data, len(factor), bags)
    draws = _noise(random, carved, problem.train.scale, random.permutation(factor))
    return Bands(parts, draws, discrepancy(study, problem, carved))


def _noise(
    random: np.random.Generator, carved: Carved, scale: float, factor: Float[np.ndarray, "draws"]
) -> noise.Draws:
    """The noise of every draw: a sampled factor, and draws of what was estimated."""
    found = carved.noise
    every = (found.relative, found.absolute, found.floor)
    known = [part for part in every if part is not None]
    place = random.integers(len(known[0]), size=len(factor)) if known else np.zeros(0, int)
    relative, absolute, floor = (None if part is None else part[place] for part in every)
    if floor is not None:
        floor = floor * scale
    return noise.Draws(factor, relative, absolute, floor, found.weights is not None)


def discrepancy(study: Study, problem: Problem, carved: Carved) -> Discrepancy | None:
    """What the data say that laws miss; nothing where it was stated, or where they do not."""
    train, floor = problem.noisy(problem.train), carved.noise.level.floor
    missed = floor**2 - noise.least(train) ** 2
    if study.noise.floor != "estimated" or missed <= _NOTHING * floor**2:
        return None
    energy = np.asarray(carved.law.energy(train.inputs))
    size = _PEAK * float(np.sqrt(missed)) * train.scale
    return Discrepancy(size, float(energy.mean()), float(energy.max()))
