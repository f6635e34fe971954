"""Curvature of a log density at a point, always positive definite: Gauss–Newton where rows are known."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from steinmetz.infer.base import Target

_SMALLEST = 1e-3


def curvature_of(
    target: Target,
) -> Callable[[Float[Array, "dimension"]], Float[Array, "dimension dimension"]]:
    """JᵀJ of the rows of likelihood and prior; without rows, the Hessian with eigenvalues made positive."""
    likelihood, prior = target.likelihood, target.prior
    if likelihood is None or prior is None:
        return lambda x: _positive(-jax.hessian(target.log_density)(x))

    def curvature(x: Float[Array, "dimension"]) -> Float[Array, "dimension dimension"]:
        slopes = jax.jacfwd(lambda y: jnp.concatenate([likelihood(y), prior(y)]))(x)
        return slopes.T @ slopes

    return curvature


def _positive(hessian: Float[Array, "dimension dimension"]) -> Float[Array, "dimension dimension"]:
    """|λ|, and at least a thousandth of the largest; the identity where the Hessian is not finite."""
    finite = jnp.all(jnp.isfinite(hessian))
    unit = jnp.eye(len(hessian), dtype=hessian.dtype)
    values, vectors = jnp.linalg.eigh(jnp.where(finite, hessian, unit))
    size = jnp.abs(values)
    size = jnp.maximum(
        size, jnp.maximum(_SMALLEST * jnp.max(size), jnp.finfo(hessian.dtype).tiny ** 0.5)
    )
    return (vectors * size) @ vectors.T
