"""The bijector."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from steinmetz.posterior.bijector import Bijector, hazard, inverse_ramp, log_share, ramp

BIJECTOR = Bijector(jnp.array([True, False, True]), jnp.array([2.0, 3.0, 0.5]))


def test_it_inverts_and_its_jacobian_is_right() -> None:
    u = jnp.array([0.3, -1.2, -4.0])
    theta = BIJECTOR.forward(u)
    assert (theta[jnp.array([0, 2])] > 0).all()
    np.testing.assert_allclose(BIJECTOR.inverse(theta, smallest=1e-30), u, rtol=1e-12)
    jacobian = jax.jacfwd(BIJECTOR.forward)(u)
    np.testing.assert_allclose(jnp.diagonal(jacobian), BIJECTOR.rate(u), rtol=1e-14)
    _, log_volume = np.linalg.slogdet(jacobian)
    constant = np.log(BIJECTOR.scale).sum()
    assert BIJECTOR.log_jacobian(u) == pytest.approx(log_volume - constant, rel=1e-12)
    slope = jax.grad(BIJECTOR.log_jacobian)(u)
    np.testing.assert_allclose(BIJECTOR.log_jacobian_slope(u), slope, rtol=1e-12)


def test_the_ramp_is_the_integral_of_the_normal_distribution_function() -> None:
    for u in (-6.0, -1.5, 0.0, 2.0, 9.0):
        exact, _ = integrate.quad(stats.norm.cdf, -np.inf, u, epsabs=0, epsrel=1e-11)
        assert ramp(jnp.asarray(u)) == pytest.approx(exact, rel=1e-9)


def test_the_distribution_function_is_exact_far_below_zero() -> None:
    u = np.linspace(-36.9, 8, 500)
    log, places = stats.norm.logcdf(u), jnp.asarray(u)
    np.testing.assert_allclose(log_share(places), log, rtol=1e-12, atol=1e-15)
    slope = np.exp(stats.norm.logpdf(u) - log)
    np.testing.assert_allclose(hazard(places), slope, rtol=1e-10)
    bent = jax.vmap(jax.hessian(log_share))(places)
    np.testing.assert_allclose(bent, -slope * (u + slope), rtol=1e-10, atol=1e-9)


def test_nothing_is_lost_where_the_distribution_function_is_no_number() -> None:
    u = jnp.asarray([-36.999, -37.001, -50.0, -1e4])
    np.testing.assert_allclose(log_share(u), stats.norm.logcdf(u), rtol=1e-3)
    np.testing.assert_allclose(hazard(u), -u, rtol=1e-3)
    np.testing.assert_allclose(jax.vmap(jax.grad(log_share))(u), hazard(u), rtol=1e-12)
    np.testing.assert_allclose(jax.vmap(jax.hessian(log_share))(u), -1, rtol=1e-3)
    assert jnp.diff(log_share(u))[0] == pytest.approx(-0.074, abs=1e-3)


def test_the_ramp_is_inverted_for_every_positive_number() -> None:
    value = jnp.asarray(np.concatenate([np.geomspace(1e-100, 1e12, 400), np.linspace(0.3, 3, 200)]))
    u = inverse_ramp(value)
    np.testing.assert_allclose(ramp(u), value, rtol=1e-10)
    assert (jnp.diff(u[:400]) > 0).all()


def test_half_of_a_normal_density_is_nearly_normal_in_u() -> None:
    """No tail is longer than that of a normal density, so a weight near zero looks round."""
    theta = np.abs(np.random.default_rng(0).normal(size=40_000))
    u = np.asarray(inverse_ramp(jnp.asarray(theta)))
    assert u.std() == pytest.approx(1.0, abs=0.1)
    assert abs(stats.skew(u)) < 0.3
    assert abs(stats.kurtosis(u)) < 0.3
    log = np.log(theta)
    assert stats.skew(log) < -1  # the logarithm, which has an exponential tail


def test_a_weight_of_zero_starts_inside() -> None:
    assert np.isfinite(BIJECTOR.inverse(jnp.zeros(3))).all()
