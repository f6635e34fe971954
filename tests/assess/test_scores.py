"""Scores against their definitions."""

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from steinmetz.assess import scores


def test_r2_is_pooled_over_components_with_their_own_means():
    truth = np.array([[0.0, 10.0], [1.0, 12.0], [2.0, 14.0]])
    prediction = truth + np.array([[0.1, 0.0], [0.0, -0.2], [0.0, 0.0]])
    assert scores.r2(prediction, truth) == pytest.approx(1 - (0.01 + 0.04) / (2 + 8))


def test_missing_cells_do_not_count():
    truth = np.array([[0.0, 1.0], [1.0, 99.0], [2.0, 3.0]])
    seen = np.array([[True, True], [True, False], [True, True]])
    prediction = np.where(seen, truth, 0.0)
    assert scores.r2(prediction, truth, seen) == 1.0


def test_component_without_variance_is_left_out():
    truth = np.array([[0.0, 5.0], [1.0, 5.0]])
    assert scores.r2_per_component(truth, truth, ("S11", "S22")) == {"S11": 1.0}
    assert scores.r2(truth[:, 1:], truth[:, 1:]) is None


def test_wasserstein_equals_scipy():
    random = np.random.default_rng(0)
    for _ in range(500):
        sizes = random.integers(1, 40, 2)
        a, b = (random.integers(-5, 5, size) * random.choice([1.0, 0.37]) for size in sizes)
        assert scores.wasserstein(a.astype(float), b.astype(float)) == pytest.approx(
            wasserstein_distance(a, b), abs=1e-12
        )


def test_wasserstein_works_along_the_first_axis():
    random = np.random.default_rng(1)
    a, b = random.normal(size=(30, 4, 3)), random.normal(size=(17, 4, 3))
    found = scores.wasserstein(a, b)
    assert found.shape == (4, 3)
    assert found[2, 1] == pytest.approx(wasserstein_distance(a[:, 2, 1], b[:, 2, 1]), abs=1e-12)


def test_coverage_of_exact_samples_is_nominal():
    random = np.random.default_rng(2)
    samples, values = random.normal(size=(4000, 300, 2)), random.normal(size=(300, 2))
    found = scores.coverage(samples, values, np.ones((300, 2), bool))
    for level, share in found.items():
        nominal = int(level) / 100
        assert share == pytest.approx(nominal, abs=4 * np.sqrt(nominal * (1 - nominal) / 600))


def test_coverage_of_nothing_is_nothing():
    nothing = scores.coverage(np.zeros((5, 2, 1)), np.zeros((2, 1)), np.zeros((2, 1), bool))
    assert nothing == {"50": None, "90": None, "95": None}
