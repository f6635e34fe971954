"""The log posterior, its prior and its Laplace approximation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from cases import REFERENCE, admissible, convex_network, graph, present, small_law, weighted
from steinmetz.data import noise
from steinmetz.data.quadratic import Quadratic
from steinmetz.laplace import MODE_SLOPE, Laplace
from steinmetz.posterior import density
from steinmetz.posterior.density import Posterior
from steinmetz.potentials.graph import Edge
from steinmetz.potentials.law import Law
from steinmetz.potentials.units import NaturalUnits
from steinmetz.records import Observations


@pytest.fixture(scope="module")
def units(observations: Observations) -> NaturalUnits:
    return NaturalUnits.of(observations, REFERENCE, (1.0, 1.0, 1.0), 0.02)


@pytest.fixture(scope="module")
def posterior(observations: Observations, units: NaturalUnits) -> density.Posterior:
    """Of a law with five parameters, four of them positive, under the default prior."""
    likelihood = density.Likelihood(weighted(observations), observations.cells)
    scale = units.parameters(small_law().graph)
    return density.build(small_law(), likelihood, scale, density.Config())


def test_density_is_likelihood_times_prior_times_volume(
    posterior: Posterior, observations: Observations
) -> None:
    """Written out from stresses and their deviations, without the compressed residuals."""
    deviation = noise.deviation(observations, observations.values, 0.02)
    modulus = observations.modulus(REFERENCE)
    scale = 5.0 * np.array([1.0, 1.0, 1.0, modulus, modulus])  # the last two act on the output
    difference = []
    for seed in range(5):
        u = posterior.draw_prior(jax.random.key(seed))
        theta = posterior.theta(u)
        law = Law(small_law().graph, theta, REFERENCE)
        residual = (law.stress(observations.map) - observations.values) / deviation
        volume = posterior.bijector.log_jacobian(u)
        chi, prior = jnp.sum(residual**2), jnp.sum((theta / scale) ** 2)
        expected = -0.5 * chi - 0.5 * prior + volume
        difference.append(float((posterior.log_density(u) - expected) / chi))
    np.testing.assert_allclose(difference, 0.0, atol=1e-11)


def linear_posterior(
    observations: Observations, copies: int = 1, unknown_noise: bool = False, **prior: float | str
) -> tuple[Law, density.Posterior]:
    """Ψ = a I1 + b I2 with free signs and a wide prior: Gaussian, so all below is exact."""
    law = Law(graph((Edge(3, 0, 0), Edge(3, 1, 1)), ()), jnp.array([1.0, 0.5]), REFERENCE)
    single = weighted(observations)
    inputs, factor, target = (jnp.concatenate([part] * copies) for part in single[:3])
    quadratic = Quadratic(inputs, factor, target, single.constant * copies)
    likelihood = density.Likelihood(quadratic, observations.cells * copies, unknown_noise)
    config = density.Config(**{"deviation": 1e6, **prior})
    return law, density.build(law, likelihood, jnp.ones(2), config)


def test_laplace_of_a_gaussian_posterior_is_the_posterior(observations: Observations) -> None:
    law, posterior = linear_posterior(observations)
    laplace = density.laplace(posterior, law.values)
    slope = laplace.root.T @ jax.grad(posterior.log_density)(laplace.centre)
    np.testing.assert_allclose(slope, 0.0, atol=1e-7)
    hessian = -jax.jit(jax.hessian(lambda u: posterior.log_density(u)))(laplace.centre)
    np.testing.assert_allclose(laplace.root @ laplace.root.T, np.linalg.inv(hessian), rtol=1e-8)


def test_posterior_contracts_with_data(observations: Observations) -> None:
    """Four copies of the data halve every standard deviation: the likelihood is the sum."""
    deviation = []
    for copies in (1, 4):
        law, posterior = linear_posterior(observations, copies)
        root = density.laplace(posterior, law.values).root
        deviation.append(np.sqrt(np.diag(root @ root.T)))
    np.testing.assert_allclose(deviation[1] / deviation[0], 0.5, rtol=1e-6)


def test_laplace_stands_at_the_mode(posterior: Posterior) -> None:
    """The slope vanishes, measured in posterior standard deviations."""
    laplace = density.laplace(posterior, small_law().values)
    slope = jax.grad(posterior.log_density)(laplace.centre)
    assert float(jnp.linalg.norm(laplace.root.T @ slope)) < 1e-3


def test_exact_hessians_are_taken_only_where_rows_lead_to_no_mode(
    posterior: Posterior, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("a program that is not needed")

    start = posterior.inverse(small_law().values)
    with monkeypatch.context() as patch:
        patch.setattr(density, "_exactly", refused)
        by_rows, height = density.climbed(posterior, start[None])

    def nowhere(_: Posterior, starts: Array) -> tuple[Laplace, Array]:
        steep = jax.vmap(lambda u: Laplace(u, jnp.eye(len(u)), jnp.array(9.0)))(starts)
        return steep, jax.vmap(log_density)(starts)

    log_density = posterior.log_density
    monkeypatch.setattr(density, "_by_rows", nowhere)
    far = start - 0.5
    exactly, same = density.climbed(posterior, jnp.stack([far, start, far]))
    assert len(exactly.centre) == 1, "from the highest of the places that were reached"
    assert float(present(exactly.slope)[0]) < MODE_SLOPE
    np.testing.assert_allclose(same, height, rtol=1e-6)
    np.testing.assert_allclose(exactly.centre, by_rows.centre, atol=1e-2)


def test_temperature_divides_the_likelihood_alone(observations: Observations) -> None:
    """With a flat prior, temperature 4 doubles every deviation; 'mean' is the number of cells."""
    law, plain = linear_posterior(observations)
    _, warm = linear_posterior(observations, temperature=4.0)
    roots = [density.laplace(posterior, law.values).root for posterior in (plain, warm)]
    deviations = [np.sqrt(np.diag(root @ root.T)) for root in roots]
    np.testing.assert_allclose(deviations[1] / deviations[0], 2.0, rtol=1e-5)
    _, mean = linear_posterior(observations, temperature="mean")
    assert mean.temperature == observations.cells
    u = jnp.array([0.7, 0.1])
    tempered = linear_posterior(observations, temperature=7.0, deviation=2.0)[1]
    whole = linear_posterior(observations, deviation=2.0)[1]
    prior = -0.5 * jnp.sum((whole.theta(u) / whole.prior) ** 2)
    assert float(tempered.log_density(u) - prior) == pytest.approx(
        float(whole.log_density(u) - prior) / 7, rel=1e-10
    )


def test_unknown_noise_finds_its_factor(observations: Observations) -> None:
    """Deviations given twice too large: the mode of the factor s is where χ²/s² balances n."""
    law, known = linear_posterior(observations)
    _, posterior = linear_posterior(observations, unknown_noise=True)
    assert posterior.dimension == law.graph.size + 1
    laplace = density.laplace(posterior, law.values)
    chi = -2 * float(known.log_density(laplace.centre[:2]))
    n = observations.cells
    log_factor = float(posterior.log_factor(laplace.centre))
    assert chi / np.exp(2 * log_factor) - n - log_factor == pytest.approx(0, abs=1e-3 * n)
    hessian = -jax.jit(jax.hessian(lambda u: posterior.log_density(u)))(laplace.centre)
    np.testing.assert_allclose(
        (laplace.root @ laplace.root.T)[2, 2], np.linalg.inv(hessian)[2, 2], rtol=0.02
    )
    assert float(posterior.log_factor(posterior.inverse(law.values))) == 0


def test_batches_estimate_the_density_without_bias(observations: Observations) -> None:
    """The mean over all batches of one datum each is the whole."""
    law, posterior = linear_posterior(observations, deviation=2.0)
    u = posterior.inverse(law.values)
    each = jax.vmap(lambda index: posterior.estimate(u, index[None]))(
        jnp.arange(len(observations.values))
    )
    assert float(each.mean()) == pytest.approx(float(posterior.log_density(u)), rel=1e-10)


def test_prior_draws_have_the_prior(posterior: Posterior) -> None:
    draws = jax.vmap(lambda key: posterior.theta(posterior.draw_prior(key)))(
        jax.random.split(jax.random.key(0), 4000)
    )
    ratio = np.asarray(draws / posterior.prior)
    np.testing.assert_allclose(np.sqrt((ratio**2).mean(axis=0)), 1, atol=0.06)
    assert (ratio[:, np.asarray(posterior.bijector.nonnegative)] > 0).all()


@pytest.mark.parametrize("unknown_noise", [False, True])
def test_log_prior_integrates_to_one(
    posterior: Posterior, observations: Observations, unknown_noise: bool
) -> None:
    """Coordinates are independent: along each the integral is one over its own density."""
    if unknown_noise:
        _, posterior = linear_posterior(observations, unknown_noise=True, deviation=2.0)
    middle, grid = posterior.inverse(posterior.prior), np.linspace(-40.0, 40.0, 20_001)
    whole, total = float(posterior.log_prior(middle)), 0.0
    for number in range(posterior.dimension):
        line = jnp.tile(middle, (len(grid), 1)).at[:, number].set(jnp.asarray(grid))
        along = np.exp(np.asarray(jax.vmap(posterior.log_prior)(line)) - whole)
        total -= np.log(np.trapezoid(along, grid))
    assert total == pytest.approx(whole, abs=1e-8)


def test_network_itself_may_stand_for_its_graph(
    observations: Observations, units: NaturalUnits
) -> None:
    """Where nothing was pruned, the network has the same parameters and is faster."""
    network = convex_network((4, 4))
    law = Law(network.graph(), admissible(network), REFERENCE)
    likelihood = density.Likelihood(weighted(observations), observations.cells)
    scale = units.parameters(law.graph)
    forms = (None, network)
    slow, fast = (density.build(law, likelihood, scale, density.Config(), form) for form in forms)
    u = slow.inverse(law.values)
    assert float(fast.log_density(u)) == pytest.approx(float(slow.log_density(u)), rel=1e-12)


def test_a_prior_must_be_a_number_by_then(observations: Observations) -> None:
    with pytest.raises(ValueError, match="number"):
        linear_posterior(observations, deviation="penalty")
