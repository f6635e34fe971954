"""Rules of verdicts: each of the three outcomes, and what decides nothing."""

import numpy as np
import pytest
from scipy import stats

from steinmetz.paper import verdicts
from steinmetz.paper.verdicts import Comparison, Interval


def test_an_interval_is_students() -> None:
    values = np.array([1.0, 2.0, 4.0])
    low, high = stats.t.interval(0.95, 2, values.mean(), stats.sem(values))
    assert Interval.of(values) == pytest.approx((values.mean(), low, high))
    assert np.isnan(Interval.of(values[:1]).low)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((1.0, 1.1, 1.2), (2.0, 2.3, 2.5), "holds"),
        ((2.0, 2.3, 2.5), (1.0, 1.1, 1.2), "does not hold"),
        ((1.0, 1.0, 1.0), (1.0, 1.0, 1.0), "does not hold"),
        ((1.0, 2.0, 3.0), (2.0, 1.0, 3.1), "undecided"),
        ((1.0, 1.1), (2.0, 2.3), "undecided"),
        ((1.0, 1.1, np.nan), (2.0, 2.3, 2.4), "undecided"),
    ],
)
def test_less_is_decided_by_the_interval_of_paired_differences(
    a: tuple[float, ...], b: tuple[float, ...], expected: str
) -> None:
    assert verdicts.below(Comparison.of(np.array(a), np.array(b))) == expected


def test_seeds_are_paired() -> None:
    """Seeds differ more than arms do: only the differences within a seed can show an order."""
    a = np.array([1.0, 10.0, 100.0])
    assert verdicts.below(Comparison.of(a, a * np.array([1.10, 1.11, 1.12]))) == "holds"


@pytest.mark.parametrize(
    ("b", "expected"),
    [
        ((1.01, 0.99, 1.0), "holds"),
        ((2.0, 2.1, 2.05), "does not hold"),
        ((1.0, 1.3, 0.8), "undecided"),
    ],
)
def test_alike_is_decided_by_an_interval_inside_or_outside_the_margin(
    b: tuple[float, ...], expected: str
) -> None:
    compared = Comparison.of(np.ones(3), np.array(b))
    assert verdicts.alike(compared, 1.1) == expected


def test_values_that_are_not_positive_are_compared_by_differences() -> None:
    compared = Comparison.of(np.array([-1.0, 0.0, 1.0]), np.array([1.0, 2.0, 3.1]))
    assert not compared.ratio
    assert verdicts.below(compared) == "holds"
    assert "difference" in compared.words()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((5.0, 6.0, 7.0), "holds"),
        ((3.0, 3.1, 2.9), "does not hold"),
        ((5.0, 6.0, 4.9), "undecided"),
        ((5.2, 4.0, 4.01, 4.0, 4.0), "does not hold"),
        ((6.0, 6.0), "undecided"),
    ],
)
def test_a_bound_is_for_every_seed(values: tuple[float, ...], expected: str) -> None:
    assert verdicts.bounded(np.array(values), 5.0, least=True) == expected
    assert verdicts.bounded(-np.array(values), -5.0, least=False) == expected


def test_of_several_parts_all_must_hold_and_one_can_fail() -> None:
    assert verdicts.together(["holds", "holds"]) == "holds"
    assert verdicts.together(["holds", "undecided"]) == "undecided"
    assert verdicts.together(["undecided", "does not hold"]) == "does not hold"
