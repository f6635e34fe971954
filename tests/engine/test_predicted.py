"""Which rows of a table extrapolate."""

import jax
import numpy as np
import pytest

import steinmetz
from steinmetz.engine.predicted import outside
from steinmetz.engine.problem import Problem, prepare
from steinmetz.experiments import base as experiments


@pytest.fixture(scope="module")
def tensors() -> Problem:
    """80 tensors F = I + U[−0.2, 0.2]."""
    return prepare(jax.random.key(0), steinmetz.study("hyperelasticity"))


@pytest.mark.parametrize(
    ("spread", "least", "most"), [(0.05, 0, 0.03), (0.1, 0, 0.05), (0.3, 0.5, 1), (0.5, 0.9, 1)]
)
def test_tensors_cover_smaller_deformations_and_not_larger_ones(
    tensors: Problem, spread: float, least: float, most: float
) -> None:
    drawn = np.random.default_rng(1).uniform(-spread, spread, (400, 9))
    rows = np.eye(3).ravel() + drawn
    rows = rows[np.linalg.det(rows.reshape(-1, 3, 3)) > 0]
    test = tensors.blocks[0].experiment
    assert least <= outside(tensors, test, rows).mean() <= most
    assert not outside(tensors, test, tensors.blocks[0].rows).any()


def test_the_same_test_covers_its_range_and_rest_and_others_by_invariants() -> None:
    problem = prepare(jax.random.key(0), steinmetz.study("rubber_tests"))
    names = [block.experiment.name for block in problem.blocks]
    assert "uniaxial" in names
    block = problem.blocks[names.index("uniaxial")]
    far = float(block.rows.max())
    asked = np.array([[1.0], [(1 + far) / 2], [far], [1.05 * far], [3 * far]])
    found = outside(problem, block.experiment, asked)
    assert found.tolist()[:3] == [False] * 3
    assert found[-1]
    wide = experiments.build(experiments.load("biaxial").Config(name="biaxial"))
    both = np.array([[1.0, 1.0], [1.1, 1.05], [3 * far, 3 * far]])
    assert outside(problem, wide, both).tolist() == [False, False, True]
