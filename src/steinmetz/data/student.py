"""Student's t distribution, for data with outliers: weights of reweighting, quantiles, draws.

An error e of scale s has the density ∝ (1 + e²/(ν s²))^(−(ν+1)/2). It is that of a normal error
whose variance is drawn anew for every datum; the mean of its inverse, given e, is the weight that a
datum has in a fit by least squares (expectation–maximisation).
"""

import math
from functools import partial
from statistics import NormalDist

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.data import counted

# Degrees of freedom: few, so that outliers hardly count; the deviation is still finite.
DEGREES = 4.0
# Normal scores are not told apart beyond.
_FARTHEST = 8.0
_NORMAL = NormalDist()


def weights(squares: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """The weight of data whose squared errors are so many squared scales: (ν + 1)/(ν + r²)."""
    return np.asarray((DEGREES + 1) / (DEGREES + squares))


def information(squares: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """The same weights times (ν + 1)/(ν + 3).

    The minimum is the same, and the curvature there what such data say on average (Fisher).
    """
    return np.asarray(weights(squares) * (DEGREES + 1) / (DEGREES + 3))


def unlikely(squares: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """−2 log density in place of r²: (ν + 1) log(1 + r²/ν)."""
    return np.asarray((DEGREES + 1) * np.log1p(squares / DEGREES))


def log_density(errors: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """The logarithm of the density of errors in units of their scale."""
    half = math.lgamma((DEGREES + 1) / 2) - math.lgamma(DEGREES / 2)
    return np.asarray(half - 0.5 * (np.log(DEGREES * np.pi) + unlikely(errors**2)))


def normal_scores(residuals: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """What residuals of a normal distribution would be as improbable: Φ⁻¹(F(r)), four degrees."""
    size = np.abs(residuals)
    part = size**2 / (4 + size**2)
    # The tail in closed form, without cancellation.
    root = np.sqrt(part)
    tail = (1 - root) ** 2 * (2 + root) / 4
    least = _NORMAL.cdf(-_FARTHEST)
    found = [-_NORMAL.inv_cdf(max(float(p), least)) for p in np.ravel(tail)]
    return np.asarray(np.sign(residuals) * np.reshape(found, np.shape(residuals)))


def factors(
    key: Array, shape: tuple[int, ...], first: int = 0, whole: int | None = None
) -> Float[Array, "*shape"]:
    """What normal errors are multiplied with so that they have these tails: √(ν/χ²).

    χ² of four degrees of freedom is twice the sum of two exponential numbers. Errors are those from
    the number `first` on of as many as `whole`, or all.
    """
    every = math.prod(shape) if whole is None else whole
    found: Array = _factors(key, shape, first, every + first)
    return found


@partial(jax.jit, static_argnames="shape")
def _factors(
    key: Array, shape: tuple[int, ...], first: int | Array, second: int | Array
) -> Float[Array, "*shape"]:
    total = counted.exponential(key, first, shape) + counted.exponential(key, second, shape)
    return jnp.sqrt(DEGREES / (2 * total))
