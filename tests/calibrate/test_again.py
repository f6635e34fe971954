"""Ranks of draws of a run, refitted to its data and new ones: uniform where posteriors are right.

One law that is linear in its parameters, under a noise that is held: its posterior is Gaussian and
known, so nothing but the way in which truths are drawn and looked for is tested.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.assess import ranks
from steinmetz.calibrate import cases
from steinmetz.calibrate.cases import Pool
from steinmetz.data import noise
from steinmetz.data.quadratic import compress
from steinmetz.engine.problem import Problem
from steinmetz.posterior import structures
from steinmetz.predict.bands import Bands
from steinmetz.records import Observations, StressMap
from steinmetz.sparsify import written
from steinmetz.sparsify.written import Structure

DATA_SETS, DRAWS = 100, 99


def posterior(
    seed: int, law: Structure, problem: Problem, train: Observations, narrower: float, draws: int
) -> Bands:
    """Draws of the law given some data, whose noise is held at its prediction."""
    held = noise.deviation(train, law.law.stress(train.map), problem.level.floor) / narrower
    data = written.Problem.of(compress(train, held), problem.material.reference)
    parts = structures.mixture(np.random.default_rng(seed), [law], data, draws, bags=0)
    return Bands(parts, noise.Draws(np.ones(draws)))


@pytest.fixture(scope="module")
def law(finished: Path) -> Structure:
    """The first of the run without free constants."""
    parts = cases._pool(finished).bands.parts
    chosen = next(p.law for p in parts if not any(term.free for term in p.law.terms.terms))
    return Structure(chosen, 0.0)


@pytest.fixture(scope="module")
def pool(finished: Path, law: Structure) -> Pool:
    """The run as if it had found this law alone."""
    whole = cases._pool(finished)
    problem = whole.problem
    bands = posterior(0, law, problem, problem.train, 1.0, DATA_SETS)
    pushed = (bands.composed(at)[0] for at in (problem.train.map, end(problem)))
    return Pool(whole.study, problem, bands, *pushed)


def end(problem: Problem) -> StressMap:
    """The last point of the path, where ranks are taken."""
    inputs, operator = problem.path.map
    return StressMap(inputs[-1:], operator[-1:])


def places(law: Structure, pool: Pool, narrower: float) -> ranks.Ranks:
    """The rank of every truth among draws given the data of the run and its own."""
    found = []
    for number in range(DATA_SETS):
        both = pool.again(jax.random.key(number), number)
        draws = posterior(number, law, both, both.train, narrower, DRAWS)
        stress = draws.composed(end(both))[0][:, 0, 0]
        found.append(int(np.sum(stress < pool.truth[number, 0, 0])))
    return np.array(found)


def test_new_data_stand_below_those_of_the_run(pool: Pool) -> None:
    """Values of the run as they were, and new ones with the noise of the likelihood."""
    train, count = pool.problem.train, len(pool.problem.train.inputs)
    both = pool.again(jax.random.key(0), 3).train
    np.testing.assert_array_equal(both.values[:count], train.values)
    np.testing.assert_array_equal(both.inputs[count:], train.inputs)
    clean = jnp.asarray(pool.clean[3])
    size = noise.deviation(train, clean, pool.problem.level.floor)
    left = np.asarray((both.values[count:] - clean) / size)
    assert left.std() == pytest.approx(1, abs=4 / np.sqrt(2 * left.size))


def test_ranks_are_uniform_and_those_of_narrow_posteriors_are_not(
    law: Structure, pool: Pool
) -> None:
    """Data counted as if their noise were half as large make a posterior half as wide."""
    limit = ranks.limit(DATA_SETS, DRAWS)
    assert ranks.excess(places(law, pool, 1.0), DRAWS) < limit
    assert ranks.excess(places(law, pool, 2.0), DRAWS) > 1.5 * limit
