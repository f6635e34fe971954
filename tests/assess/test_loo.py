"""Leave-one-out densities: against the exact ones of a linear model."""

import numpy as np
import pytest
from scipy import stats

from cases import Numbers
from steinmetz.assess import loo

NOISE = 0.7

Densities = tuple[Numbers, Numbers, Numbers]
"""Log-likelihoods of draws; of every point, its exact density without it and with it."""


@pytest.fixture(scope="module")
def linear() -> Densities:
    """A line through 25 points with a Gaussian prior: draws, and every exact density."""
    random = np.random.default_rng(0)
    X = np.stack([np.ones(25), np.linspace(-1, 1, 25), random.normal(size=25)], axis=1)
    y = X @ np.array([1.0, -2.0, 0.5]) + NOISE * random.normal(size=25)
    mean, covariance = posterior(X, y)
    draws = random.multivariate_normal(mean, covariance, 4000)
    log_likelihood = stats.norm.logpdf(y, draws @ X.T, NOISE)
    exact = np.empty(25)
    for left in range(25):
        others = np.arange(25) != left
        m, C = posterior(X[others], y[others])
        spread = np.sqrt(NOISE**2 + X[left] @ C @ X[left])
        exact[left] = stats.norm.logpdf(y[left], X[left] @ m, spread)
    spread = np.sqrt(NOISE**2 + np.sum(X @ covariance * X, axis=1))
    inside = stats.norm.logpdf(y, X @ mean, spread)
    return log_likelihood, exact, inside


def posterior(X: Numbers, y: Numbers) -> tuple[Numbers, Numbers]:
    """Mean and covariance of the coefficients, prior deviation 2."""
    precision = X.T @ X / NOISE**2 + np.eye(X.shape[1]) / 4
    covariance = np.asarray(np.linalg.inv(precision), np.float64)
    return covariance @ X.T @ y / NOISE**2, covariance


def test_every_density_is_the_exact_one(linear: Densities) -> None:
    log_likelihood, exact, inside = linear
    found = loo.leave_one_out(log_likelihood)
    np.testing.assert_allclose(found.elpd, exact, atol=0.04)
    np.testing.assert_allclose(found.lpd, inside, atol=0.02)
    assert np.all(found.elpd < found.lpd)
    assert found.shape.max() < 0.7


def test_the_record_adds_up(linear: Densities) -> None:
    log_likelihood, exact, inside = linear
    found = loo.summed(log_likelihood, log_likelihood[:, :5])
    assert found.elpd_loo == pytest.approx(exact.sum(), abs=0.1)
    assert found.se == pytest.approx(np.sqrt(25) * exact.std(), rel=0.05)
    assert found.p_loo == pytest.approx((inside - exact).sum(), abs=0.1)
    assert found.unreliable == 0
    assert found.test_tensors == 5
    direct = np.log(np.exp(log_likelihood[:, :5]).mean(axis=0)).sum()
    assert found.elpd_test == pytest.approx(direct)


def test_without_smoothing_an_outlier_is_worse(linear: Densities) -> None:
    """A datum eight deviations away: plain weights are those of one draw, and k tells."""
    random = np.random.default_rng(1)
    draws = random.normal(size=2000)
    log_likelihood = stats.norm.logpdf(6.0, draws, 0.6)
    assert loo.smoothed(-log_likelihood)[1] > 0.7
    assert loo.summed(log_likelihood[:, None], None).unreliable == 1


@pytest.mark.parametrize("shape", [-0.3, 0.0, 0.4, 0.9])
def test_pareto_tail_is_recovered(shape: float) -> None:
    excess = np.sort(stats.genpareto.rvs(shape, scale=2.0, size=4000, random_state=3))
    found, scale = loo.pareto_fit(excess)
    assert found == pytest.approx(shape, abs=0.06)
    assert scale == pytest.approx(2.0, rel=0.06)
    chances = np.array([0.1, 0.5, 0.99])
    expected = stats.genpareto.ppf(chances, shape, scale=2.0)
    np.testing.assert_allclose(loo.pareto_quantile(chances, shape, 2.0), expected, rtol=1e-10)


def test_few_and_equal_draws_say_that_nothing_is_known() -> None:
    few = loo.summed(np.random.default_rng(0).normal(size=(6, 3)), None)
    assert few.pareto_k is None
    assert few.unreliable == 3
    equal = loo.leave_one_out(np.full((100, 2), -1.5))
    np.testing.assert_allclose(equal.elpd, -1.5)
    assert loo.summed(np.full((100, 2), -1.5), None).unreliable == 0
