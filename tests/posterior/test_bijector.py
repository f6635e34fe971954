"""The bijector."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.posterior.bijector import Bijector

BIJECTOR = Bijector(jnp.array([True, False, True]), jnp.array([2.0, 3.0, 0.5]))


def test_it_inverts_and_its_jacobian_is_right() -> None:
    u = jnp.array([0.3, -1.2, -4.0])
    theta = BIJECTOR.forward(u)
    assert (theta[jnp.array([0, 2])] > 0).all()
    np.testing.assert_allclose(BIJECTOR.inverse(theta), u, rtol=1e-12)
    _, log_volume = np.linalg.slogdet(jax.jacfwd(BIJECTOR.forward)(u))
    constant = np.log(BIJECTOR.scale).sum()
    assert BIJECTOR.log_jacobian(u) == pytest.approx(log_volume - constant, rel=1e-12)


def test_a_weight_of_zero_starts_inside() -> None:
    assert np.isfinite(BIJECTOR.inverse(jnp.zeros(3))).all()
