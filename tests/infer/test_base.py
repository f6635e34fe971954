"""Targets: whitening, and curvatures that are always positive."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.infer.base import as_target, whiten
from steinmetz.laplace import Laplace

from .targets import COVARIANCE, MEAN, gaussian, linear_model


def test_whitened_density_is_the_same_density() -> None:
    root = jnp.asarray(np.linalg.cholesky(COVARIANCE))
    white = whiten(as_target(gaussian), Laplace(jnp.asarray(MEAN), root))
    v = jnp.array([[0.4, -0.7], [1.0, 2.0]])
    assert float(white.log_density(v[0])) == pytest.approx(
        float(gaussian(jnp.asarray(MEAN) + root @ v[0])), rel=1e-14
    )
    value, slope = white.values_and_slopes(jax.random.key(0), v)
    np.testing.assert_allclose(slope, jax.vmap(jax.grad(white.log_density))(v), rtol=1e-12)
    np.testing.assert_allclose(value, jax.vmap(white.log_density)(v), rtol=1e-12)


def test_curvature_is_that_of_rows_or_of_the_hessian_made_positive() -> None:
    target, mean, covariance = linear_model(4, 8)
    plain = as_target(target.log_density)
    for seen in (target, plain):
        found = seen.curvature(jnp.asarray(mean))
        np.testing.assert_allclose(found, np.linalg.inv(covariance), rtol=1e-9)
    saddle = as_target(lambda x: x[0] ** 2 - 2 * x[1] ** 2)
    np.testing.assert_allclose(saddle.curvature(jnp.ones(2)), np.diag([2.0, 4.0]), atol=1e-12)
