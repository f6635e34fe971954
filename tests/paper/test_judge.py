"""Scores along the path: by kind of component and part, with intervals that mean something."""

import numpy as np
import pytest

from cases import Numbers, present
from steinmetz.paper.judge import PathDraws, judge
from steinmetz.paper.scores import ScoreKey

POINTS = 30
NAMES = ("S11", "S22", "mu")


def draws(
    particles: int = 20, noise: float = 0.1, shift: float = 0.0, extrapolated: bool = True
) -> PathDraws:
    """Push-forward, predictive and data along a straight path; `shift`: how far the law is off."""
    random = np.random.default_rng(0)
    truth = np.linspace(1, 2, POINTS)[:, None] * np.array([1.0, 2.0, 5.0])
    inside = np.arange(POINTS) < 20 if extrapolated else np.ones(POINTS, bool)

    def scattered(count: int, spread: float) -> Numbers:
        return np.asarray(truth + spread * random.normal(size=(count, *truth.shape)))

    pushed, predictive = scattered(40, 0.01) + shift, scattered(40, noise) + shift
    return PathDraws(NAMES, inside, particles, pushed, predictive, truth, scattered(200, noise))


def test_kinds_are_means_of_their_components_and_parts_of_their_points() -> None:
    given = draws()
    along, table = judge(0, given, None)
    w1 = along["w1_noisy"]
    expected = {
        ScoreKey("w1_noisy"): w1.mean(),
        ScoreKey("w1_noisy", "S"): w1[:, :2].mean(),
        ScoreKey("w1_noisy", "mu", "sampled"): w1[:20, 2].mean(),
        ScoreKey("w1_noisy", "mu", "extrapolated"): w1[20:, 2].mean(),
    }
    for key, value in expected.items():
        interval = present(table.get(key))
        assert interval.value == pytest.approx(value)
        assert interval.low < interval.value < interval.high
    assert table.get(ScoreKey("w1_reference")) is None


def test_a_shift_is_the_distance_to_the_clean_truth() -> None:
    _, table = judge(0, draws(shift=3.0), None)
    low, high = present(table.get(ScoreKey("w1_clean")))[1:]
    assert low < 3.0 < high
    assert present(table.get(ScoreKey("coverage_95"))).value == 0.0


def test_a_right_predictive_covers_what_it_says_and_is_at_no_distance_from_its_own_reference() -> (
    None
):
    given = draws()
    _, table = judge(0, given, given.pushed)
    assert present(table.get(ScoreKey("w1_reference"))).value == pytest.approx(0, abs=1e-12)
    for level in (50, 90):
        interval = present(table.get(ScoreKey(f"coverage_{level}")))
        assert interval.low <= level / 100 <= interval.high


def test_parts_that_the_path_does_not_have_are_left_out() -> None:
    _, table = judge(0, draws(extrapolated=False), None)
    assert table.get(ScoreKey("crps", "all", "extrapolated")) is None
    whole = present(table.get(ScoreKey("crps")))
    assert whole.value == present(table.get(ScoreKey("crps", "all", "sampled"))).value


def test_the_same_seed_gives_the_same_intervals() -> None:
    given = draws(particles=2)  # few chains: draws are resampled one by one
    first, again = judge(3, given, None)[1], judge(3, given, None)[1]
    assert first == again
    assert first != judge(4, given, None)[1]
