"""Langevin proposals: their density, and the draws that belong to it."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import multivariate_normal

from steinmetz.infer.langevin import Metric, Proposal

CURVATURE = np.array([[2.0, 0.6], [0.6, 1.0]])
ALIVE = jnp.array([True, True, False])


def test_a_proposal_is_the_normal_it_says() -> None:
    """mean x + τ A ∇log p, covariance 2τ A: densities up to a constant, draws in their moments."""
    metric = Metric(jnp.zeros((3, 2)), jnp.tile(CURVATURE, (3, 1, 1)), jnp.asarray(2.0))
    x, slope, step = jnp.array([[1.0, 2.0]] * 3), jnp.array([[0.3, -0.4]] * 3), 0.2
    proposal = Proposal.around(x, slope, metric.factors(x, ALIVE), jnp.asarray(step))
    A = np.linalg.inv(CURVATURE)
    exact = multivariate_normal(np.asarray(x[0] + step * A @ slope[0]), 2 * step * A)
    y = jax.random.normal(jax.random.key(0), (3, 2))
    densities = proposal.log_density(y)
    np.testing.assert_allclose(np.diff(densities), np.diff(exact.logpdf(y)), rtol=1e-10)
    noise = jax.random.normal(jax.random.key(1), (7_000, 3, 2))
    draws = jax.vmap(proposal.draw)(noise).reshape(-1, 2)
    np.testing.assert_allclose(draws.mean(axis=0), exact.mean, atol=0.03)
    np.testing.assert_allclose(np.cov(draws.T), exact.cov, atol=0.02)


def test_a_metric_is_that_of_near_places_and_of_the_living() -> None:
    places = jnp.array([[0.0, 0.0], [9.0, 0.0], [0.0, 0.0]])
    curvature = jnp.stack([jnp.eye(2), 4 * jnp.eye(2), jnp.full((2, 2), jnp.nan)])
    curvature = jnp.where(ALIVE[:, None, None], curvature, jnp.eye(2))
    metric = Metric(places, curvature, jnp.asarray(2.0))
    lower = metric.factors(jnp.array([[0.0, 0.0], [9.0, 0.0], [0.0, 90.0]]), ALIVE)
    np.testing.assert_allclose(lower[0], np.eye(2), atol=1e-2)
    np.testing.assert_allclose(lower[1], 2 * np.eye(2), atol=1e-2)
    np.testing.assert_allclose(lower[2], 2.5**0.5 * np.eye(2), atol=1e-6)  # far away: their mean
