"""Sequential Monte Carlo against evidences, shares of modes and posteriors that are known."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

import steinmetz
from steinmetz.infer import sampling, smc
from steinmetz.infer.base import Choice, Target, as_target
from steinmetz.infer.diagnostics import group_of
from steinmetz.infer.modes import Modes
from steinmetz.infer.sampling import Samples
from steinmetz.laplace import Laplace

from .targets import linear_model, sample


def run(target: Target, at: Array, root: Array | None = None, **settings: object) -> Samples:
    """Samples of a target of which one mode is known, a round one unless its root is given."""
    known = Modes.single(Laplace(at, jnp.eye(len(at)) if root is None else root))
    config = smc.Config(**settings)
    return sampling.sample(jax.random.key(0), target, known, Choice(config, "asked for by name"))


def failed(samples: Samples) -> set[str]:
    return {check.name for check in samples.checks if not check.passed}


@pytest.mark.parametrize("prior", [True, False])
def test_evidence_mean_and_covariance_of_a_linear_model(prior: bool) -> None:
    """From its prior, or from around its mode: log ∫ π and moments within a tenth."""
    target, mean, covariance = linear_model(5, 12)
    if not prior:
        target = target._replace(draw_prior=None, log_prior=None)
    root = jnp.asarray(np.linalg.cholesky(covariance))
    done = run(target, jnp.asarray(mean), root, particles=800, warm_up=200, steps=200, thin=20)
    size, volume = len(mean), np.linalg.slogdet(covariance)[1]
    exact = float(target.log_density(jnp.asarray(mean)))
    exact += 0.5 * (size * np.log(2 * np.pi) + volume)
    assert done.inference.totals["evidence"] == pytest.approx(exact, abs=0.1)
    deviation = np.sqrt(np.diag(covariance))
    assert (np.abs(done.draws.mean(axis=0) - mean) < 0.1 * deviation).all()
    scale = np.outer(deviation, deviation)
    assert np.abs(np.cov(done.draws.T) - covariance).max() < 0.1 * scale.max()
    assert done.run.facts["missing"].sum() == 0
    assert not failed(done)


def of_two(centre: Array, share: float) -> Callable[[Array], Array]:
    """Two round modes at ± the centre; the second has the share."""

    def log_density(x: Array) -> Array:
        first, second = jnp.sum((x - centre) ** 2), jnp.sum((x + centre) ** 2)
        logs = jnp.log(1 - share) - 0.5 * first, jnp.log(share) - 0.5 * second
        return jnp.logaddexp(*logs)

    return log_density


@pytest.mark.parametrize(("size", "distance"), [(10, 3.0), (1, 8.0)])
def test_modes_far_apart_get_their_shares_from_the_prior(size: int, distance: float) -> None:
    """30 : 70 in ten and in one dimension, with a prior that reaches both; one mode is known."""
    centre, wide = jnp.zeros(size).at[0].set(distance), 6.0
    plain = as_target(of_two(centre, 0.3))
    draw = lambda key: wide * jax.random.normal(key, (size,))  # noqa: E731
    prior = lambda x: jnp.sum(jax.scipy.stats.norm.logpdf(x, scale=wide))  # noqa: E731
    target = plain._replace(draw_prior=draw, log_prior=prior)
    done = run(target, centre, particles=2000, warm_up=200, steps=60, thin=15)
    assert np.mean(done.draws[:, 0] < 0) == pytest.approx(0.3, abs=0.05)


def test_a_warm_up_that_ends_too_soon_is_told() -> None:
    target, mean, _ = linear_model(5, 12)
    short = run(target, jnp.asarray(mean), particles=100, warm_up=4, steps=40, thin=5)
    assert 0 < short.inference.totals["missing"] < 1
    assert "whole likelihood" in failed(short)


def test_a_mode_that_particles_missed_is_told() -> None:
    """A narrow mode that has nearly all of the probability, far from where particles look."""
    size, narrow = 4, 1e-3
    spike = jnp.full(size, 5.0)

    def log_density(x: Array) -> Array:
        wide = -0.5 * jnp.sum(x**2)
        thin = 60.0 - 0.5 * jnp.sum((x - spike) ** 2) / narrow**2
        return jnp.logaddexp(wide, thin)

    draw = lambda key: jax.random.normal(key, (size,))  # noqa: E731
    prior = lambda x: jnp.sum(jax.scipy.stats.norm.logpdf(x))  # noqa: E731
    target = as_target(log_density)._replace(draw_prior=draw, log_prior=prior)
    root = narrow * jnp.eye(size)
    done = run(target, spike, root, particles=200, warm_up=100, steps=60, thin=15)
    found = done.inference.totals["evidence"]
    assert found == pytest.approx(0.5 * size * np.log(2 * np.pi), abs=0.2)
    assert "evidence" in failed(done)


def test_a_narrow_density_of_ones_own_is_found_from_any_start() -> None:
    """Its mode is looked for first: particles begin around it, and the check knows its evidence."""
    centre, deviation = np.array([40.0, -3.0]), np.array([0.01, 2.0])

    def log_density(x: Array) -> Array:
        return -0.5 * jnp.sum(((x - centre) / deviation) ** 2)

    done = steinmetz.sample(
        log_density, start=[0.0, 0.0], method="smc", warm_up=100, steps=100, thin=10
    )
    exact = float(np.log(2 * np.pi * deviation.prod()))
    assert done.inference.totals["evidence"] == pytest.approx(exact, abs=0.3)
    assert not failed(done)


def test_every_particle_descends_from_one_of_its_own_island() -> None:
    """Whoever has the weight: particles are chosen by their own island's weights alone."""
    count = 64
    sampler = smc.build(as_target(lambda x: -0.5 * jnp.sum((x / 0.01) ** 2)), smc.Config())
    state = sampler.init(jax.random.key(0), jnp.zeros((count, 2)))
    tagged = state._replace(particles=jnp.tile(jnp.arange(1.0 * count)[:, None], (1, 2)))
    ancestors = np.asarray(smc._turned(jax.random.key(1), tagged, 0.5).particles[:, 0], int)
    assert len(np.unique(ancestors)) < count
    island = group_of(count, smc.Config().capabilities.groups)
    np.testing.assert_array_equal(island[ancestors], island)


def test_a_lost_particle_takes_nobody_with_it() -> None:
    """Not a number from the start: it stays, and its island goes on as the others do."""
    target, mean, covariance = linear_model(3, 6)
    start = jnp.tile(jnp.asarray(mean), (200, 1)).at[5, 1].set(jnp.nan)
    done = sample(smc, target, 3, start, warm_up=100, steps=200, thin=10)
    assert done.frozen == [5]
    exact = float(target.log_density(jnp.asarray(mean))) + 1.5 * np.log(2 * np.pi)
    exact += 0.5 * np.linalg.slogdet(covariance)[1]
    assert done.facts["evidence"][done.alive].sum() == pytest.approx(exact, abs=0.3)
    draws, deviation = done.usable.reshape(-1, 3), np.sqrt(np.diag(covariance))
    assert (np.abs(draws.mean(axis=0) - mean) < 0.2 * deviation).all()
    assert draws.std(axis=0) == pytest.approx(deviation, rel=0.1)


def test_draws_at_which_the_density_is_no_number_are_replaced() -> None:
    """Half of the prior is where the density is not defined: nobody is lost, or stays there."""

    def log_density(x: Array) -> Array:
        return jnp.sum(3 * jnp.log(x) - x)  # Gamma(4), half of the draws are negative

    draw = lambda key: 6 * jax.random.normal(key, (2,))  # noqa: E731
    prior = lambda x: jnp.sum(jax.scipy.stats.norm.logpdf(x, scale=6.0))  # noqa: E731
    target = as_target(log_density)._replace(draw_prior=draw, log_prior=prior)
    done = run(target, jnp.full(2, 3.0), particles=400, warm_up=300, steps=200, thin=20)
    assert (done.draws > 0).all()
    assert done.draws.mean(axis=0) == pytest.approx(4.0, abs=0.3)
