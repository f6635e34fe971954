"""Scores against their definitions."""

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from steinmetz.assess import measures


def test_r2_is_pooled_over_components_with_their_own_means() -> None:
    truth = np.array([[0.0, 10.0], [1.0, 12.0], [2.0, 14.0]])
    prediction = truth + np.array([[0.1, 0.0], [0.0, -0.2], [0.0, 0.0]])
    assert measures.r2(prediction, truth) == pytest.approx(1 - (0.01 + 0.04) / (2 + 8))


def test_missing_cells_do_not_count() -> None:
    truth = np.array([[0.0, 1.0], [1.0, 99.0], [2.0, 3.0]])
    seen = np.array([[True, True], [True, False], [True, True]])
    prediction = np.where(seen, truth, 0.0)
    assert measures.r2(prediction, truth, seen) == 1.0


def test_component_without_variance_is_left_out() -> None:
    truth = np.array([[0.0, 5.0], [1.0, 5.0]])
    assert measures.r2_per_component(truth, truth, ("S11", "S22")) == {"S11": 1.0}
    assert measures.r2(truth[:, 1:], truth[:, 1:]) is None


def test_wasserstein_equals_scipy() -> None:
    random = np.random.default_rng(0)
    for _ in range(500):
        sizes = random.integers(1, 40, 2)
        a, b = (random.integers(-5, 5, size) * random.choice([1.0, 0.37]) for size in sizes)
        assert measures.wasserstein(a.astype(float), b.astype(float)) == pytest.approx(
            wasserstein_distance(a, b), abs=1e-12
        )


def test_wasserstein_works_along_the_first_axis() -> None:
    random = np.random.default_rng(1)
    a, b = random.normal(size=(30, 4, 3)), random.normal(size=(17, 4, 3))
    found = measures.wasserstein(a, b)
    assert found.shape == (4, 3)
    assert found[2, 1] == pytest.approx(wasserstein_distance(a[:, 2, 1], b[:, 2, 1]), abs=1e-12)


def test_coverage_of_exact_samples_is_nominal() -> None:
    random = np.random.default_rng(2)
    samples, values = random.normal(size=(4000, 300, 2)), random.normal(size=(300, 2))
    found = measures.coverage(samples, values, np.ones((300, 2), bool))
    for level, share in found.items():
        nominal = int(level) / 100
        assert share == pytest.approx(nominal, abs=4 * np.sqrt(nominal * (1 - nominal) / 600))


def test_coverage_of_nothing_is_nothing() -> None:
    nothing = measures.coverage(np.zeros((5, 2, 1)), np.zeros((2, 1)), np.zeros((2, 1), bool))
    assert nothing == {"50": None, "90": None, "95": None}


def test_weighted_wasserstein_equals_scipy() -> None:
    random = np.random.default_rng(2)
    for _ in range(300):
        a, b = (random.normal(size=size).round(1) for size in random.integers(1, 30, 2))
        wa, wb = random.uniform(0.1, 2, a.size), random.uniform(0.1, 2, b.size)
        expected = wasserstein_distance(a, b, wa, wb)
        assert measures.wasserstein(a, b, wa, wb) == pytest.approx(expected, abs=1e-12)


def test_resampled_distances_are_those_of_resampled_samples() -> None:
    """Counting members gives what drawing them does.

    The same mean and spread over many resamples.
    """
    random = np.random.default_rng(3)
    a, b = random.normal(size=(30, 2)), random.normal(0.5, 1, size=(50, 2))
    found = measures.wasserstein_resampled(np.random.default_rng(0), a, b, 2000)
    drawn = np.stack(
        [
            measures.wasserstein(a[random.integers(0, 30, 30)], b[random.integers(0, 50, 50)])
            for _ in range(2000)
        ]
    )
    error = np.hypot(found.std(axis=0), drawn.std(axis=0)) / np.sqrt(2000)
    assert np.all(np.abs(found.mean(axis=0) - drawn.mean(axis=0)) < 4 * error)
    assert found.std(axis=0) == pytest.approx(drawn.std(axis=0), rel=0.1)


def test_particles_are_resampled_as_wholes() -> None:
    """Snapshots of one particle that repeat it add nothing.

    The scatter is that of the particles alone.
    """
    random = np.random.default_rng(4)
    a, b = random.normal(size=(20, 1)), random.normal(size=(40, 1))
    repeated = np.tile(a, (10, 1))
    alone = measures.wasserstein_resampled(np.random.default_rng(0), a, b, 500).std()
    whole = measures.wasserstein_resampled(
        np.random.default_rng(0), repeated, b, 500, groups=20
    ).std()
    loose = measures.wasserstein_resampled(np.random.default_rng(0), repeated, b, 500).std()
    assert whole == pytest.approx(alone, rel=1e-9)
    assert loose < 0.8 * alone


def test_crps_is_its_definition_and_rewards_the_truth() -> None:
    random = np.random.default_rng(5)
    samples, value = random.normal(size=(40, 3)), random.normal(size=3)
    pairs = np.abs(samples[:, None] - samples[None]).sum(axis=(0, 1)) / (40 * 39)
    expected = np.abs(samples - value).mean(axis=0) - 0.5 * pairs
    np.testing.assert_allclose(measures.crps(samples, value), expected, rtol=1e-12)
    assert measures.crps(np.array([[2.0]]), np.array([5.0])) == 3.0
    values = random.normal(size=4000)
    mean = {
        sd: measures.crps(sd * random.normal(size=(200, 4000)), values).mean()
        for sd in (0.3, 1.0, 3.0)
    }
    assert mean[1.0] < min(mean[0.3], mean[3.0])


def test_crps_of_few_draws_is_that_of_many() -> None:
    """Of a normal forecast of normal data it is 1/√π, for 5 draws as for 2000."""
    random = np.random.default_rng(7)
    for count, cells in ((5, 40_000), (2000, 4000)):
        found = measures.crps(random.normal(size=(count, cells)), random.normal(size=cells))
        error = found.std() / np.sqrt(cells)
        assert abs(found.mean() - 1 / np.sqrt(np.pi)) < 4 * error


@pytest.mark.parametrize("shift", [0.0, 0.3, 1.0])
def test_distances_of_ensembles_of_two_sizes_are_alike(shift: float) -> None:
    """50 and 2000 draws of one distribution: equal within their error, not so without groups."""
    random = np.random.default_rng(8)
    data = random.normal(size=(500, 400))
    few, many = (shift + random.normal(size=(count, 400)) for count in (50, 2000))
    small, large = (measures.wasserstein_alike(a, data) for a in (few, many))
    error = np.hypot(small.std(), large.std()) / np.sqrt(400)
    assert abs(small.mean() - large.mean()) < 4 * error
    if shift == 0:
        assert small.mean() - measures.wasserstein(many, data).mean() > 20 * error
    point = data[:1]
    alone = measures.wasserstein(many, point)
    np.testing.assert_array_equal(measures.wasserstein_alike(many, point), alone)


def test_interval_of_neighbours_is_that_of_runs() -> None:
    """A mean over a path whose errors are shared by neighbours: runs know it, points do not."""
    random = np.random.default_rng(9)
    held = {"points": 0, "runs": 0}
    for _ in range(200):
        noise, values = random.normal(size=400), np.zeros(400)
        for place in range(1, 400):
            values[place] = 0.9 * values[place - 1] + noise[place]
        for name, block in (("points", 1), ("runs", measures.run_length(values))):
            low, high = measures.interval(random, values, 200, block=block)
            held[name] += bool(low <= 0 <= high)
    assert held["points"] < 0.5 * 200
    assert held["runs"] > 0.8 * 200
    assert measures.run_length(random.normal(size=1000)) <= 12
    assert measures.correlation_time(np.ones(50)) == 1


def test_bootstrap_interval_holds_the_mean_as_often_as_it_says() -> None:
    random = np.random.default_rng(6)
    inside = 0
    for _ in range(300):
        low, high = measures.interval(random, random.exponential(size=60), 300)
        inside += bool(low <= 1 <= high)
    assert (
        abs(inside / 300 - 0.93) < 0.05
    )  # the percentile interval of 60 skewed numbers is a little short of 95 %
