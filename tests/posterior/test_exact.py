"""The posterior of one law as it is: evidence by quadrature and by tempering, draws by moments."""

from typing import Any

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import log_ndtr, logsumexp
from scipy.stats import truncnorm

import steinmetz
from cases import Numbers
from steinmetz.data import noise
from steinmetz.data.quadratic import compress
from steinmetz.engine.problem import Problem, prepare
from steinmetz.posterior import structures
from steinmetz.posterior.exact import Exact, Gaussian, Known, Prior, Proposal
from steinmetz.potentials.base import slopes
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Term, Terms
from steinmetz.sparsify import written
from steinmetz.sparsify.written import Structure

NEO_HOOKE = (Term("norm", (2.0, 0.0)),)
LOCKING = (Term("locking", (5.0, 0.0), free=(0,)),)
# Two terms that are nearly the same: their coefficients are correlated, one of them small.
ALIKE = (Term("norm", (2.0, 0.0)), Term("norm", (3.0, 0.0)), Term("norm", (4.0, 0.0)))


@pytest.fixture(scope="module")
def rubber() -> Problem:
    """Three tests of 0.5 I1 + 0.2 I2 with 2 % noise."""
    return prepare(jax.random.key(0), steinmetz.study("rubber_tests"))


def exact(problem: Problem, terms: tuple[Term, ...], *values: float) -> Exact:
    """A law, fitted to some of the data under generous noise: a posterior that is wide and skew."""
    train, reference = problem.train, problem.material.reference
    deviation = 4 * noise.deviation(train, train.values, 0.05)
    data = written.Problem.of(compress(train, deviation), reference)
    law = Structure(Law(Terms(("I1", "I2"), terms), jnp.array(values), reference), 0.0)
    fitted = data.fitted(law.written.atoms).law(reference)
    return structures._exact(data, Structure(fitted, 0.0))


def known(law: Exact, seed: int = 0) -> Known:
    return structures._known(np.random.default_rng(seed), law)


def test_evidence_of_two_parameters_is_their_integral(rubber: Problem) -> None:
    """Coefficient and limit of a locking law, by a sum over both; rows come from the atom."""
    law = exact(rubber, LOCKING, 0.5, 40.0)
    (atom,) = law.written.atoms
    centre, deviation, (_, least) = law.prior
    limits, far = np.linspace(least, centre[1] + 5 * deviation[1], 1500, retstep=True)
    values, step = np.linspace(0, 3 * law.written.coefficients[0], 1500, retstep=True)
    logarithms = []
    for limit in limits[1:]:
        rows, target = law.problem.rows(atom.moved([float(limit)])), law.problem.target
        left = target @ target - 2 * values * (target @ rows) + values**2 * (rows @ rows)
        half = 2 / np.sqrt(2 * np.pi) / deviation[0] * np.exp(-0.5 * (values / deviation[0]) ** 2)
        with np.errstate(divide="ignore"):
            logarithms.append(logsumexp(-left / 2 + np.log(half)))
    low = (least - centre[1]) / deviation[1]
    cut = truncnorm(low, np.inf, centre[1], deviation[1]).logpdf(limits[1:])
    integral = logsumexp(np.array(logarithms) + cut) + np.log(step * far)
    found = known(law).checked
    assert found.effective > 0.3
    assert found.sampled == pytest.approx(integral, abs=4 * found.error + 0.002)


def test_evidence_of_a_linear_law_is_its_share_inside_the_bounds(rubber: Problem) -> None:
    """Draws of the unconstrained Gaussian that have no negative coefficient, counted."""
    law = exact(rubber, ALIKE, 0.5, 0.01, 0.01)
    whole = structures.gaussians(law.problem, law.written, np.ones((1, len(law.problem.x))))
    noise_of = np.random.default_rng(1).standard_normal((200_000, 3))
    free = whole.mean[0] + noise_of @ whole.root[0].T
    share = float(np.mean(np.all(free > 0, axis=1)))
    spread = np.sqrt(np.sum(whole.root[0] ** 2, axis=1))
    marginal = float(np.sum(log_ndtr(whole.mean[0] / spread)))
    checked = known(law).checked
    error = np.sqrt((1 / share - 1) / 200_000) + checked.error
    assert checked.difference == pytest.approx(np.log(share) - marginal, abs=4 * error)
    assert abs(checked.difference) > 4 * error  # a product of marginals is not the share


def test_proposals_have_the_density_they_say() -> None:
    """Mean of 1/density over draws in a box is the volume of the box."""
    root = np.array([[0.5, 0.4], [0.0, 0.6]])
    made = Proposal.repeated(Gaussian(np.array([0.1, 0.2]), root), 200_000)
    vectors, density = made.drawn(np.random.default_rng(0), np.zeros(2), 2.0)
    assert vectors.min() >= 0
    inside = np.all(vectors < 0.5, axis=1)
    weight = np.where(inside, np.exp(-density), 0.0)
    assert weight.mean() == pytest.approx(0.25, abs=4 * weight.std() / 200_000**0.5)


def test_resampled_draws_are_those_of_the_posterior(rubber: Problem) -> None:
    """Mean and deviation by weights of many proposals, and of draws that were resampled."""
    law = exact(rubber, LOCKING, 0.5, 40.0)
    found, random = known(law), np.random.default_rng(2)
    whole = structures.gaussians(law.problem, law.written, np.ones((1, len(law.problem.x))))
    means = np.broadcast_to(whole.mean[0], (2000, 2))
    drawn = law.resampled(random, found, means, np.ones((2000, len(law.problem.x))))
    at = Gaussian(whole.mean[0] + found.shift, found.root)
    vectors, logarithms = law.weighed(random, at, 10_000)
    weights = np.exp(logarithms - logsumexp(logarithms))
    mean = weights @ vectors
    deviation = np.sqrt(weights @ (vectors - mean) ** 2)
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.15 * deviation.min(), rtol=0.05)
    np.testing.assert_allclose(drawn.std(axis=0), deviation, rtol=0.1)
    closed = whole.mean[0] + random.standard_normal((2000, 2)) @ whole.root[0].T
    assert drawn[:, 1].mean() > closed[:, 1].mean()  # the tangent does not see the long tail


def test_data_count_as_often_as_they_are_drawn(rubber: Problem) -> None:
    law = exact(rubber, NEO_HOOKE, 0.7)
    vectors: Numbers = np.array([[0.6], [0.7]])
    size = len(law.problem.x)
    once = law.log_posterior(vectors, np.ones((2, size)))
    twice = law.log_posterior(vectors, np.full((2, size), 2.0))
    prior = law.prior.log_density(vectors)
    np.testing.assert_allclose(once, law.log_posterior(vectors))
    np.testing.assert_allclose(twice - prior, 2 * (once - prior))


def tempered(law: Exact, particles: int = 2000) -> float:
    """Log evidence by adaptive tempering from the prior, in the logarithms of excesses."""
    prior, problem = law.prior, law.problem
    least, graph = jnp.asarray(prior.least), law.law.law.graph
    target = jnp.asarray(problem.target.reshape(len(problem.x), -1))

    def inward(u: jax.Array) -> jax.Array:
        return least + jnp.exp(u)

    def log_prior(u: jax.Array) -> jax.Array:
        away = (inward(u) - prior.centre) / prior.deviation
        alone = -(away**2) / 2 - jnp.log(jnp.asarray(prior.deviation)) - jnp.log(2 * jnp.pi) / 2
        return jnp.sum(alone + u) - prior.cut

    def log_likelihood(u: jax.Array) -> jax.Array:
        theta = inward(u) - least  # a term with its coefficient, then its excess
        x = jnp.asarray(problem.x)
        found = slopes(graph, problem.reference, theta, x)
        left = jnp.einsum("nri,ni->nr", jnp.asarray(problem.factor), found) - target
        return -jnp.sum(left**2) / 2

    low = (prior.least - prior.centre) / prior.deviation
    random = np.random.default_rng(0)
    start = truncnorm(low, np.inf, prior.centre, prior.deviation).rvs(
        (particles, len(low)), random_state=random
    )
    kernel: Any = blackjax.rmh.build_kernel()
    deviation = np.abs(np.std(np.log(start - prior.least), axis=0))

    def step(key: Any, state: Any, log_density: Any, size: Any) -> Any:
        def moved(key: Any, at: Any) -> Any:
            return at + size * deviation * jax.random.normal(key, at.shape)

        return kernel(key, state, log_density, moved)

    sampler = blackjax.adaptive_tempered_smc(
        log_prior, log_likelihood, step, blackjax.rmh.init, {"size": jnp.array([0.1])},
        blackjax.smc.resampling.systematic, 0.9, num_mcmc_steps=30,
    )  # fmt: skip
    state, total = sampler.init(jnp.log(jnp.asarray(start) - least)), 0.0
    advance = jax.jit(sampler.step)
    for number in range(200):
        state, info = advance(jax.random.key(number), state)
        total += float(info.log_likelihood_increment)
        if float(state.tempering_param) >= 1:
            return total
    raise AssertionError("tempering did not end")


@pytest.mark.long
@pytest.mark.parametrize(("terms", "values"), [(LOCKING, (0.5, 40.0)), (ALIKE[:2], (0.5, 0.1))])
def test_evidence_is_that_of_tempering(
    rubber: Problem, terms: tuple[Term, ...], values: tuple[float, ...]
) -> None:
    law = exact(rubber, terms, *values)
    assert known(law).checked.sampled == pytest.approx(tempered(law), abs=0.15)


def test_prior_is_one_in_all() -> None:
    """Of a constant whose bound lies near its value."""
    prior = Prior(np.array([0.0, 2.0]), np.array([3.0, 2.0]), np.array([0.0, 1.0]))
    first, second = np.meshgrid(np.linspace(0, 25, 1000), np.linspace(1, 20, 1000))
    density = np.exp(prior.log_density(np.stack([first.ravel(), second.ravel()], axis=1)))
    assert density.sum() * (25 / 999) * (19 / 999) == pytest.approx(1.0, abs=0.02)
