"""Answers of a mixture, on numbers whose groups, places and shares are known."""

import numpy as np
import pytest

from cases import present
from steinmetz.assess import answers
from steinmetz.assess.answers import Predicted, Variances


@pytest.fixture
def seen() -> Predicted:
    """Three laws in four cells, the second within a tenth of a deviation of the first.

    The last cell is at rest: all agree there.
    """
    random = np.random.default_rng(0)
    centres = np.array([[1.0, 2.0, 3.0, 0.0], [1.1, 2.1, 3.1, 0.0], [1.0, 2.0, 8.0, 0.0]])
    owner = np.repeat([0, 1, 2], [600, 300, 100])
    noise = random.standard_normal((1000, 4)) * [1.0, 1.0, 1.0, 0.0]
    return Predicted(centres, centres[owner] + noise, owner, np.zeros(4))


def test_laws_that_predict_the_same_are_one_answer(seen: Predicted) -> None:
    assert answers.alike(seen) == [[0, 1], [2]]
    apart = seen._replace(centres=seen.centres + 10 * np.arange(3.0)[:, None])
    assert answers.alike(apart) == [[0], [1], [2]]


def test_the_place_of_the_largest_difference(seen: Predicted) -> None:
    every = np.ones(4, bool)
    found = present(answers.furthest(seen, answers.band(seen), [2], every))
    assert found.cell == 2
    assert found.own == pytest.approx(8.0, abs=0.5)
    assert found.every == pytest.approx(3.1, abs=0.3)
    without = np.array([True, True, False, True])
    assert present(answers.furthest(seen, answers.band(seen), [2], without)).cell != 2
    assert answers.furthest(seen, answers.band(seen), [2], ~every) is None


def test_few_draws_are_not_asked_for_their_median(seen: Predicted) -> None:
    rare = seen._replace(owner=np.where(np.arange(1000) < 995, 0, 2))
    found = present(answers.furthest(rare, answers.band(rare), [2], np.ones(4, bool)))
    assert found.own == 8.0


def test_shares_of_the_variance_add_up(seen: Predicted) -> None:
    """Between laws: 0.1 × 0.9 × 25 in the third cell, and little elsewhere; within: one each."""
    found = Variances.of(seen._replace(missed=np.full(4, 0.5)))
    np.testing.assert_allclose(
        found.between + found.within, seen.draws.var(axis=0), rtol=1e-12, atol=1e-15
    )
    cells = np.array([False, False, True, False])
    shares = present(answers.spread(found, np.full(4, 7.0), cells))
    total = 0.1 * 0.9 * 25 + 1.0 + 0.5
    assert shares.between == pytest.approx(0.09 * 25 / total, abs=0.05)
    assert shares.discrepancy == pytest.approx(0.5 / total, abs=0.05)
    assert shares.between + shares.within + shares.discrepancy == pytest.approx(1)
    assert shares.width == 7.0
    assert answers.spread(found, np.ones(4), np.zeros(4, bool)) is None
