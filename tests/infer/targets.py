"""Targets with known moments, and one way to sample them all."""

from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from cases import Numbers
from steinmetz.cache import Cache
from steinmetz.infer import driver
from steinmetz.infer.base import Target, as_target
from steinmetz.infer.driver import Run
from steinmetz.laplace import LogDensity

COVARIANCE = np.array([[2.0, 1.2], [1.2, 1.5]])
MEAN = np.array([3.0, -1.0])


def gaussian(x: Array) -> Array:
    difference = x - MEAN
    return -0.5 * difference @ jnp.asarray(np.linalg.inv(COVARIANCE)) @ difference


def standard(x: Array) -> Array:
    return -0.5 * x @ x


def skewed(x: Array) -> Array:
    """log of Gamma(3, 1) variables: digamma(3) and trigamma(3) are their mean and variance."""
    return jnp.sum(3 * x - jnp.exp(x))


def poisoned(x: Array) -> Array:
    """The Gaussian, not a number beyond x₀ = 8 in value and slope."""
    return jnp.where(x[0] > 8, jnp.nan, 1.0) * gaussian(x)


def linear_model(size: int, rows: int, seed: int = 0) -> tuple[Target, Numbers, Numbers]:
    """y = A θ + noise with prior N(m, diag): a Target with all parts, and its exact posterior."""
    random = np.random.default_rng(seed)
    A = random.normal(size=(rows, size))
    prior_mean, prior_deviation = random.normal(size=size), random.uniform(0.5, 2, size)
    y = A @ random.normal(size=size) + random.normal(size=rows)
    precision = A.T @ A + np.diag(prior_deviation**-2)
    covariance: Numbers = np.linalg.inv(precision).astype(float)
    mean = covariance @ (A.T @ y + prior_mean / prior_deviation**2)

    def likelihood(x: Array) -> Array:
        return jnp.asarray(A) @ x - y

    def prior(x: Array) -> Array:
        return (x - prior_mean) / prior_deviation

    def log_density(x: Array) -> Array:
        return -0.5 * jnp.sum(likelihood(x) ** 2) - 0.5 * jnp.sum(prior(x) ** 2)

    def draw(key: Array) -> Array:
        return jnp.asarray(prior_mean) + prior_deviation * jax.random.normal(key, (size,))

    def log_prior(x: Array) -> Array:
        logs: Array = jax.scipy.stats.norm.logpdf(x, prior_mean, prior_deviation)
        return jnp.sum(logs)

    plain = as_target(log_density)
    parts = plain.log_density, plain.values_and_slopes, likelihood, prior, draw
    target = Target(*parts, jnp.asarray(mean), log_prior=log_prior)
    return target, mean, covariance


def sample(
    method: ModuleType,
    log_density: LogDensity | Target,
    dimension: int,
    position: Array | None = None,
    key: int = 0,
    cache: Cache | None = None,
    spread: float = 1.0,
    **settings: object,
) -> Run:
    """A run of a method, from normal positions."""
    config = method.Config(**settings)
    start = (
        spread * jax.random.normal(jax.random.key(7), (config.width, dimension))
        if position is None
        else position
    )
    sampler = method.build(as_target(log_density), config)
    checkpoints = None if cache is None else driver.Checkpoints(cache)
    return driver.run(
        jax.random.key(key), sampler, jnp.asarray(start), config.schedule, checkpoints=checkpoints
    )
