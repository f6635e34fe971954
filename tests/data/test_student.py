"""Student's t distribution against SciPy's."""

import jax
import numpy as np
from scipy import stats

from steinmetz.data import student

R = np.array([-30.0, -3.0, -0.2, 0.0, 1.0, 4.0])


def test_density_and_normal_scores() -> None:
    density = stats.t.logpdf(R, student.DEGREES)
    np.testing.assert_allclose(
        student.unlikely(R**2), -2 * (density - stats.t.logpdf(0, student.DEGREES))
    )
    expected = stats.norm.ppf(stats.t.cdf(R, student.DEGREES))
    np.testing.assert_allclose(student.normal_scores(R), expected, rtol=1e-6, atol=1e-12)


def test_information_is_fishers_on_average() -> None:
    """Weights have the mean one; the slope of log density in a shift has this variance."""
    r = stats.t.ppf((np.arange(200_000) + 0.5) / 200_000, student.DEGREES)
    slope = student.weights(r**2) * r
    assert abs(np.mean(student.weights(r**2)) - 1) < 1e-3
    assert abs(np.mean(student.information(r**2)) - np.mean(slope**2)) < 1e-3


def test_draws_have_these_tails() -> None:
    first, second = jax.random.split(jax.random.key(0))
    factors = np.asarray(student.factors(first, (100, 200)))
    drawn = factors.ravel() * np.asarray(jax.random.normal(second, (20_000,)))
    assert stats.kstest(drawn, stats.t(student.DEGREES).cdf).pvalue > 0.01
