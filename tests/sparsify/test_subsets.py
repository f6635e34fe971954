"""Best subsets against the definition."""

import itertools

import numpy as np
import pytest
from scipy.optimize import nnls

from steinmetz.sparsify import subsets
from steinmetz.sparsify.subsets import Normal

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(60, 9)) @ RANDOM.normal(size=(9, 9))
TARGET = ROWS[:, [1, 4, 7]] @ [2.0, 0.5, 1.0] + 0.1 * RANDOM.normal(size=60)


def test_extensions_are_those_of_least_squares() -> None:
    """χ² of a base with one more term, infinite where a coefficient is negative."""
    normal = Normal.of(ROWS, TARGET, 3.0)
    bases, chi = normal.extended([(1, 4), (0, 2)])
    for base, row in zip(bases, chi, strict=True):
        for term in set(range(9)) - set(base):
            chosen = ROWS[:, [*base, term]]
            found, residual, *_ = np.linalg.lstsq(chosen, TARGET, rcond=None)
            expected = residual[0] + 3.0 if (found > 0).all() else np.inf
            assert row[term] == pytest.approx(expected, rel=1e-6)
        assert np.isinf(row[list(base)]).all()


def test_coefficients_are_those_of_least_squares() -> None:
    found, chi = Normal.of(ROWS, TARGET, 3.0).solved((1, 4, 7))
    expected, residual, *_ = np.linalg.lstsq(ROWS[:, [1, 4, 7]], TARGET, rcond=None)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert chi == pytest.approx(residual[0] + 3.0)


def test_sizes_that_no_positive_coefficients_reach_are_left_out() -> None:
    """One term is the data itself; no other can be added with a positive coefficient."""
    rows = np.stack([np.ones(4), -np.arange(4.0) - 1], axis=1)
    assert subsets.search(Normal.of(rows, np.ones(4), 0.0), np.zeros(2), 3) == {1: [(0,)]}


def test_the_best_subset_of_every_size_is_found() -> None:
    """Against all of them, with positive coefficients."""
    found = subsets.search(Normal.of(ROWS, TARGET, 0.0), np.full(9, 2.0), 4)
    for size in (1, 2, 3, 4):

        def cost(some: tuple[int, ...]) -> float:
            weights, residual = nnls(ROWS[:, some], TARGET)
            return float(residual**2) if (weights > 0).all() else np.inf

        best = min(itertools.combinations(range(9), size), key=cost)
        assert np.isinf(cost(best)) or found[size][0] == best
