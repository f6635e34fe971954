"""The log posterior, its bijector and its Laplace approximation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.data import noise
from steinmetz.data.quadratic import Quadratic, compress
from steinmetz.posterior import density
from steinmetz.posterior.bijector import Bijector
from steinmetz.potentials.graph import Edge, Graph
from steinmetz.potentials.law import Law
from steinmetz.sparsify.carve import predict


def test_bijector_inverts_and_its_jacobian_is_right():
    bijector = Bijector(jnp.array([True, False, True]), jnp.array([2.0, 3.0, 0.5]))
    u = jnp.array([0.3, -1.2, -4.0])
    theta = bijector.forward(u)
    assert (theta[jnp.array([0, 2])] > 0).all()
    np.testing.assert_allclose(bijector.inverse(theta), u, rtol=1e-12)
    _, log_volume = np.linalg.slogdet(jax.jacfwd(bijector.forward)(u))
    assert bijector.log_jacobian(u) == pytest.approx(
        log_volume - np.log(bijector.scale).sum(), rel=1e-12
    )


def test_density_is_likelihood_times_prior_times_volume(gent):
    """Written out from stresses and their deviations, without the compressed residuals."""
    posterior, data = gent.posterior, gent.problem.train
    difference = []
    for row in gent.particles[:5]:
        law = Law(gent.law.graph, jnp.asarray(row), gent.law.reference)
        residual = (predict(law, data) - data.values) / gent.carved.deviation
        modulus = data.modulus(law.reference)
        on_output = {edge.parameter for edge in law.graph.into(law.graph.out)}
        scale = 5.0 * np.array(
            [modulus if index in on_output else 1.0 for index in range(law.graph.size)]
        )
        u = posterior.bijector.inverse(jnp.asarray(row))
        expected = (
            -0.5 * jnp.sum(residual**2)
            - 0.5 * jnp.sum((row / scale) ** 2)
            + posterior.bijector.log_jacobian(u)
        )
        difference.append(float(posterior.log_density(u) - expected))
    np.testing.assert_allclose(difference, difference[0], atol=1e-8)


def linear_posterior(physics, observations, copies=1, unknown_noise=False, **prior):
    """Ψ = a I1 + b I2 with free signs and a wide prior: Gaussian, so every statement below is exact."""
    graph = Graph(
        inputs=physics.inputs,
        activations=(),
        edges=(Edge(3, 0, 0), Edge(3, 1, 1)),
        nonnegative=(False, False),
    )
    law = Law(graph, jnp.array([1.0, 0.5]), physics.reference)
    single = compress(observations, noise.deviation(observations, observations.values, 0.02))
    repeated = (jnp.concatenate([part] * copies) for part in single[:3])
    quadratic = Quadratic(*repeated, single.constant * copies)
    config = density.Config(**{"deviation": 1e6, **prior})
    cells = observations.cells * copies
    return law, density.build(law, quadratic, cells, (1.0, 1.0, 1.0), 1.0, config, unknown_noise)


def test_laplace_of_a_gaussian_posterior_is_the_posterior(physics, observations):
    law, posterior = linear_posterior(physics, observations)
    touching = density.laplace(posterior, law.values)
    np.testing.assert_allclose(jax.grad(posterior.log_density)(touching.centre), 0.0, atol=1e-6)
    hessian = -jax.jit(jax.hessian(lambda u: posterior.log_density(u)))(touching.centre)
    np.testing.assert_allclose(touching.root @ touching.root.T, np.linalg.inv(hessian), rtol=1e-8)


def test_posterior_contracts_with_data(physics, observations):
    """Four copies of the data halve every standard deviation: the sum, not the mean, is the log likelihood."""
    deviation = []
    for copies in (1, 4):
        law, posterior = linear_posterior(physics, observations, copies)
        root = density.laplace(posterior, law.values).root
        deviation.append(np.sqrt(np.diag(root @ root.T)))
    np.testing.assert_allclose(deviation[1] / deviation[0], 0.5, rtol=1e-6)


def test_laplace_of_the_main_run_stands_at_the_mode(gent):
    touching = density.laplace(gent.posterior, gent.law.values)
    slope = jax.grad(gent.posterior.log_density)(touching.centre)
    assert (
        float(jnp.linalg.norm(touching.root.T @ slope)) < 1e-3
    )  # in posterior standard deviations


def test_temperature_divides_the_likelihood_alone(physics, observations):
    """With a flat prior, temperature 4 doubles every deviation; 'mean' is the number of observed cells."""
    law, plain = linear_posterior(physics, observations)
    _, warm = linear_posterior(physics, observations, temperature=4.0)
    roots = [density.laplace(posterior, law.values).root for posterior in (plain, warm)]
    deviations = [np.sqrt(np.diag(root @ root.T)) for root in roots]
    np.testing.assert_allclose(deviations[1] / deviations[0], 2.0, rtol=1e-5)
    _, mean = linear_posterior(physics, observations, temperature="mean")
    assert mean.temperature == observations.cells
    u = jnp.array([0.7, 0.1])
    tempered = linear_posterior(physics, observations, temperature=7.0, deviation=2.0)[1]
    whole = linear_posterior(physics, observations, deviation=2.0)[1]
    prior = -0.5 * jnp.sum((whole.theta(u) / whole.prior) ** 2)
    assert float(tempered.log_density(u) - prior) == pytest.approx(
        float(whole.log_density(u) - prior) / 7, rel=1e-10
    )


def test_unknown_noise_finds_its_factor(physics, observations):
    """Deviations given twice too large: the mode of the factor s is where χ²/s² balances n."""
    law, known = linear_posterior(physics, observations)
    _, posterior = linear_posterior(physics, observations, unknown_noise=True)
    assert posterior.dimension == law.graph.size + 1
    touching = density.laplace(posterior, law.values)
    chi = -2 * float(known.log_density(touching.centre[:2]))
    n = observations.cells
    log_factor = float(posterior.log_factor(touching.centre))
    assert chi / np.exp(2 * log_factor) - n - log_factor == pytest.approx(0, abs=1e-3 * n)
    hessian = -jax.jit(jax.hessian(lambda u: posterior.log_density(u)))(touching.centre)
    np.testing.assert_allclose(
        (touching.root @ touching.root.T)[2, 2], np.linalg.inv(hessian)[2, 2], rtol=0.02
    )
    assert float(posterior.log_factor(posterior.inverse(law.values))) == 0


def test_batches_estimate_the_density_without_bias(physics, observations):
    """The mean over all batches of one datum each is the whole."""
    law, posterior = linear_posterior(physics, observations, deviation=2.0)
    u = posterior.inverse(law.values)
    each = jax.vmap(lambda index: posterior.estimate(u, index[None]))(
        jnp.arange(len(observations.values))
    )
    assert float(each.mean()) == pytest.approx(float(posterior.log_density(u)), rel=1e-10)


def test_prior_draws_have_the_prior(gent):
    posterior = gent.posterior
    draws = jax.vmap(lambda key: posterior.theta(posterior.draw_prior(key)))(
        jax.random.split(jax.random.key(0), 4000)
    )
    ratio = np.asarray(draws / posterior.prior)
    np.testing.assert_allclose(np.sqrt((ratio**2).mean(axis=0)), 1, atol=0.06)
    assert (ratio[:, np.asarray(posterior.bijector.nonnegative)] > 0).all()
