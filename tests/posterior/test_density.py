"""The log posterior, its bijector and its Laplace approximation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.posterior import density
from steinmetz.posterior.bijector import Bijector


def test_bijector_inverts_and_its_jacobian_is_right():
    bijector = Bijector(jnp.array([True, False, True]), jnp.array([2.0, 3.0, 0.5]))
    u = jnp.array([0.3, -1.2, -4.0])
    theta = bijector.forward(u)
    assert (theta[jnp.array([0, 2])] > 0).all()
    np.testing.assert_allclose(bijector.inverse(theta), u, rtol=1e-12)
    _, log_volume = np.linalg.slogdet(jax.jacfwd(bijector.forward)(u))
    assert bijector.log_jacobian(u) == pytest.approx(log_volume - np.log(bijector.scale).sum(), rel=1e-12)


def test_density_is_likelihood_times_prior_times_volume(gent):
    """Written out from stresses and their deviations, without the compressed residuals."""
    posterior, data = gent.posterior, gent.problem.train
    difference = []
    for row in gent.particles[:5]:
        from steinmetz.potentials.law import Law
        from steinmetz.sparsify.carve import predict

        law = Law(gent.law.graph, jnp.asarray(row), gent.law.reference)
        residual = (predict(law, data) - data.values) / gent.carved.deviation
        modulus = data.modulus(law.reference)
        scale = 5.0 * np.where(law.graph.output, modulus, 1.0)
        u = posterior.bijector.inverse(jnp.asarray(row))
        expected = -0.5 * jnp.sum(residual**2) - 0.5 * jnp.sum((row / scale) ** 2) + posterior.bijector.log_jacobian(u)
        difference.append(float(posterior.log_density(u) - expected))
    np.testing.assert_allclose(difference, difference[0], atol=1e-8)


def test_laplace_stands_at_the_mode_with_its_curvature(gent):
    posterior = gent.posterior
    touching = density.laplace(posterior, gent.law.values)
    slope = jax.grad(posterior.log_density)(touching.centre)
    covariance = touching.root @ touching.root.T
    assert float(slope @ covariance @ slope) < 1e-6
    hessian = -jax.hessian(posterior.log_density)(touching.centre)
    ratio = np.diag(np.linalg.inv(hessian)) / np.diag(covariance)
    assert ratio.min() > 0.5
    assert ratio.max() < 2.0


def test_posterior_contracts_with_data(gent):
    """Four copies of the data halve every standard deviation: the sum, not the mean, is the log likelihood."""
    posterior, quadratic = gent.posterior, gent.posterior.quadratic
    four = type(quadratic)(*(jnp.concatenate([part] * 4) for part in quadratic[:3]), quadratic.constant * 4)
    weak = density.Config(deviation=1e4)
    narrow, wide = (
        density.laplace(density.build(gent.law, q, 1.0, weak), gent.law.values).root for q in (four, quadratic)
    )
    deviation = [np.sqrt(np.diag(root @ root.T)) for root in (narrow, wide)]
    np.testing.assert_allclose(deviation[0] / deviation[1], 0.5, rtol=0.05)
    assert posterior.graph is not None
