"""Particles that keep moving (ssvgd, ssvn): their law must be the target's, variance included."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array
from scipy.special import digamma, gammaincinv, ndtr, polygamma
from scipy.stats import gamma

from cases import Numbers
from steinmetz.infer import ssvgd, ssvn
from steinmetz.infer.base import as_target, whiten
from steinmetz.infer.langevin import Metric
from steinmetz.laplace import Laplace, LogDensity

from .targets import linear_model, sample, standard

# log of Gamma(3) variables over 3: mode 0, curvature 3
DEVIATION = 3**-0.5


def tilted(x: Array) -> Array:
    """Skewed, in coordinates in which its Laplace approximation is the standard normal."""
    x = DEVIATION * x
    return jnp.sum(3 * x - 3 * jnp.exp(x))


def exact(key: Array, shape: tuple[int, ...]) -> Array:
    """Draws of `tilted` by inversion."""
    u = np.asarray(jax.random.uniform(key, shape))
    return jnp.asarray(np.log(gammaincinv(3, u) / 3) / DEVIATION)


def tilted_cdf(x: Numbers) -> Numbers:
    return np.asarray(gamma.cdf(3 * np.exp(DEVIATION * x), 3))


def distance(values: Numbers, cdf: Callable[[Numbers], Numbers]) -> float:
    """Kolmogorov–Smirnov distance of values to a distribution."""
    values = np.sort(np.ravel(values))
    grid = np.arange(len(values) + 1) / len(values)
    at = cdf(values)
    return float(max(np.abs(at - grid[1:]).max(), np.abs(at - grid[:-1]).max()))


def after(
    method: ModuleType, log_density: LogDensity, start: Array, steps: int, **settings: object
) -> Numbers:
    """Replicated ensembles (replicates × particles × dimension), `steps` steps of sampling later.

    The metric of Stein–Newton is that of other draws: it must not know the particles it moves.
    """
    config = method.Config(particles=start.shape[1], **settings)
    sampler = method.build(as_target(log_density), config)

    def one(key: Array, position: Array) -> Array:
        state, _ = sampler.step(key, sampler.init(key, position))
        state = state._replace(number=jnp.asarray(config.warm_up))
        if method is ssvn:
            places = jax.random.normal(jax.random.fold_in(key, 99), position.shape)
            bent = jax.vmap(as_target(log_density).curvature)(places)
            state = state._replace(metric=Metric(places, bent, jnp.asarray(2.0)))
        else:
            state = state._replace(bandwidth=jnp.asarray(2.0))

        def step(state: Any, number: Array) -> tuple[Any, None]:
            return sampler.step(jax.random.fold_in(key, number), state)[0], None

        last: Array = jax.lax.scan(step, state, jnp.arange(steps))[0].particles
        return last

    return np.asarray(
        jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(5), len(start)), start)
    )


def dkw(count: int, level: float = 1e-6) -> float:
    """Half-width of the Dvoretzky–Kiefer–Wolfowitz band."""
    return float(np.sqrt(np.log(2 / level) / (2 * count)))


@pytest.mark.parametrize(
    ("method", "settings"), [(ssvgd, {"rate": 0.01}), (ssvn, {})], ids=["ssvgd", "ssvn"]
)
@pytest.mark.parametrize("target", ["gaussian", "skewed"])
def test_the_target_is_conserved(
    method: ModuleType, settings: dict[str, float], target: str
) -> None:
    """Exact draws, moved, are still draws of the target: each coordinate is in the DKW band."""
    shape = (600, 12, 3)
    start = (
        exact(jax.random.key(0), shape)
        if target == "skewed"
        else jax.random.normal(jax.random.key(0), shape)
    )
    cdf = tilted_cdf if target == "skewed" else ndtr
    moved = after(method, tilted if target == "skewed" else standard, start, 25, **settings)
    assert np.abs(moved - start).mean() > 0.1  # they did move
    for coordinate in range(3):
        assert distance(moved[:, :, coordinate], cdf) < dkw(600 * 12)


def test_the_published_steps_do_not_conserve_a_skewed_target() -> None:
    """Why moves are tested: the same check fails for the published steps."""
    start = exact(jax.random.key(0), (600, 12, 3))
    moved = after(ssvn, tilted, start, 60, adjusted=False, rate=0.05)
    assert distance(moved[:, :, 0], tilted_cdf) > 2 * dkw(600 * 12)


@pytest.mark.parametrize("method", [ssvgd, ssvn], ids=["ssvgd", "ssvn"])
def test_conjugate_gaussian_with_mean_and_covariance(method: ModuleType) -> None:
    target, mean, covariance = linear_model(4, 8)
    root = jnp.linalg.cholesky(jnp.asarray(covariance))
    found = sample(
        method,
        whiten(target, Laplace(jnp.asarray(mean), root)),
        4,
        particles=50,
        warm_up=300,
        steps=1500,
        thin=30,
    )
    draws = mean + found.usable.reshape(-1, 4) @ np.asarray(root).T
    assert len(draws) == 50 * 50
    deviation = np.sqrt(np.diag(covariance))
    assert np.abs((draws.mean(axis=0) - mean) / deviation).max() < 0.1
    np.testing.assert_allclose(
        np.cov(draws.T) / np.outer(deviation, deviation),
        covariance / np.outer(deviation, deviation),
        atol=0.1,
    )


@pytest.mark.parametrize("method", [ssvgd, ssvn], ids=["ssvgd", "ssvn"])
def test_gamma_poisson_with_mean_and_variance(method: ModuleType) -> None:
    """Counts with a Gamma prior of their rate; the posterior of the log rate is known."""
    counts, shape, rate = np.array([3, 1, 4, 1, 5]), 2.0, 1.0
    a, b = shape + counts.sum(), rate + len(counts)
    settings: dict[str, Any] = {"rate": 0.003} if method is ssvgd else {}
    found = sample(
        method, lambda x: a * x[0] - b * jnp.exp(x[0]), 1,
        particles=50, warm_up=300, steps=1500, thin=30,
        position=np.log(a / b) + 0.3 * jax.random.normal(jax.random.key(1), (50, 1)),
        **settings,
    )  # fmt: skip
    draws = found.usable.ravel()
    assert draws.mean() == pytest.approx(digamma(a) - np.log(b), abs=0.1 * polygamma(1, a) ** 0.5)
    assert draws.std() == pytest.approx(polygamma(1, a) ** 0.5, rel=0.1)
    assert np.exp(draws).std() == pytest.approx(a**0.5 / b, rel=0.1)


@pytest.mark.parametrize("hessian", ["block", "full"])
def test_the_warm_up_travels(hessian: str) -> None:
    """From far away, all together, by curvature: the end does not remember the start."""
    start = 30 + jax.random.normal(jax.random.key(0), (20, 2))
    found = sample(
        ssvn,
        standard,
        2,
        position=start,
        particles=20,
        hessian=hessian,
        warm_up=200,
        steps=1000,
        thin=20,
    )
    draws = found.usable.reshape(-1, 2)
    assert np.abs(draws.mean(axis=0)).max() < 0.2
    np.testing.assert_allclose(draws.std(axis=0), 1, atol=0.15)
