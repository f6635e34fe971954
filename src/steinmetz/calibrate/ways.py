"""Bands of one data set along the path: of every way to average laws, and of an oracle."""

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

from steinmetz.calibrate.cases import Case, Changes, Stress
from steinmetz.data import noise
from steinmetz.engine.mixture import discrepancy, mixture_of
from steinmetz.engine.problem import Problem
from steinmetz.posterior import structures, weights
from steinmetz.potentials.law import structure
from steinmetz.predict.bands import Bands
from steinmetz.predict.push_forward import Pushed
from steinmetz.sparsify import written
from steinmetz.sparsify.carve import Carved
from steinmetz.sparsify.written import Structure

# Draws of every band: with the truth they have as many ranks as can be put into equal classes.
DRAWS = 999
# Central bands in per cent.
LEVELS = (50, 80, 90, 95)
# Added to the seed of a study: the numbers drawn here are not those of another stage.
STREAM = 17
# The way that runs take, and those that are not weights of posteriors.
USUAL, EVIDENCE, JACKKNIFE, ORACLE = "bagged", "bma", "jackknife+", "oracle"

Borders = dict[int, tuple[Stress, Stress]]


def borders(draws: Pushed) -> Borders:
    """Lower and upper border of the central bands."""
    tails = [(1 - level / 100) / 2 for level in LEVELS]
    found = np.quantile(draws, [*tails, *(1 - tail for tail in tails)], axis=0)
    pairs = zip(found[: len(LEVELS)], found[len(LEVELS) :], strict=True)
    return dict(zip(LEVELS, pairs, strict=True))


def drawn(known: Case, carved: Carved) -> Iterator[tuple[str, Pushed, int]]:
    """Stress along the path of every way that has draws, and of how many laws.

    Where the data say that no law is right, all but the printed law alone allow for it.
    """
    problem = known.problem.allowing(carved.noise.level)
    at, random = problem.path.map, np.random.default_rng([known.study.seed, STREAM])
    candidates = _candidates(problem, carved)
    missed, factor = discrepancy(known.study, problem, carved), np.ones(DRAWS)
    for name, way in weights.WAYS.items():
        parts = candidates.drawn(random, way(random, candidates), DRAWS)
        own = None if name == "single" else missed
        yield name, Bands(parts, noise.Draws(factor), own).composed(at)[0], len(parts)
    for name, bags in ((EVIDENCE, 0), (USUAL, structures.BAGS)):
        found = mixture_of(known.study, problem, carved, factor, bags)
        yield name, found.composed(at)[0], len(found.parts)


def _candidates(problem: Problem, carved: Carved) -> weights.Candidates:
    """All laws that may hold, the printed one first."""
    data = written.Problem.of(carved.quadratic, problem.material.reference)
    printed = structure(carved.law)
    others = [each for each in carved.structures if structure(each.law) != printed]
    first = [each for each in carved.structures if structure(each.law) == printed]
    return weights.Candidates.of([*(first or [Structure(carved.law, 0.0)]), *others], data)


def jackknife(known: Case, carved: Carved) -> Borders:
    """Borders for new noisy data: refits without each tensor, and what they missed of it.

    What is missed is in units of the noise, because that is larger where stress is.
    """
    problem = known.problem.allowing(carved.noise.level)
    train, path = problem.noisy(problem.train), problem.path
    parts, order = weights.left_out(_candidates(problem, carved))
    bands = Bands(parts, noise.Draws(np.ones(len(order))))
    along, there = bands.composed(path.map)[0], bands.composed(train.map)[0]
    own = there[np.arange(len(order)), order]
    size = noise.deviation(train, jnp.asarray(own[np.argsort(order)]), problem.level.floor)
    missed = np.abs(np.asarray(train.values)[order] - own) / np.asarray(size)[order]
    relative, absolute = problem.path_noise
    there = np.sqrt(absolute**2 + (relative * along) ** 2 + problem.floor**2)
    borders = {level: (np.empty(along.shape[1:]), np.empty(along.shape[1:])) for level in LEVELS}
    seen = np.asarray(train.observed)[order]
    for component in range(along.shape[2]):
        some = seen[:, component]
        noisy = missed[some, None, component] * there[some, :, component]
        for level, (low, high) in borders.items():
            found = weights.jackknife(along[some, :, component], noisy, level / 100)
            low[:, component], high[:, component] = found
    return borders


def oracle(known: Case, changes: Changes) -> Pushed:
    """Draws of who knows the structure: a Gaussian posterior of the parameters, linearised.

    Each has a prior as wide as its value; the noise is what the pipeline allows in any case.
    """
    train, random = (
        known.problem.noisy(known.problem.train),
        np.random.default_rng([known.study.seed, STREAM, 1]),
    )
    size = np.asarray(noise.deviation(train, jnp.asarray(known.clean), noise.least(train)))
    seen = np.asarray(train.observed)
    rows = np.stack([each[seen] / size[seen] for each in changes.train], axis=1)
    left = ((np.asarray(train.values) - known.clean) / size)[seen]
    precision = rows.T @ rows + np.eye(rows.shape[1])
    root = np.linalg.inv(np.linalg.cholesky(precision)).T
    mean = root @ (root.T @ (rows.T @ left))
    drawn = mean + random.standard_normal((DRAWS, len(mean))) @ root.T
    return np.asarray(known.truth + np.tensordot(drawn, changes.path, 1))
