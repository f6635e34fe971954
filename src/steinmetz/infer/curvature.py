"""Curvature of a log density at a point, always positive definite."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from steinmetz.infer.base import Target
from steinmetz.laplace import gauss_newton
from steinmetz.shapes import Matrix, Vector

# Least eigenvalue, as a share of the largest: a flat direction must not make a step infinite.
_SMALLEST = 1e-3


def curvature_of(target: Target) -> Callable[[Vector], Matrix]:
    """Gauss–Newton where the rows of likelihood and prior are known, else the Hessian made positive."""
    if target.likelihood is not None and target.prior is not None:
        return gauss_newton(target.likelihood, target.prior)
    return lambda x: _positive(-jax.hessian(target.log_density)(x))


def _positive(hessian: Matrix) -> Matrix:
    """|λ|, and at least a thousandth of the largest; the identity where the Hessian is not finite."""
    finite = jnp.all(jnp.isfinite(hessian))
    unit = jnp.eye(len(hessian), dtype=hessian.dtype)
    values, vectors = jnp.linalg.eigh(jnp.where(finite, hessian, unit))
    size = jnp.abs(values)
    tiny = float(np.finfo(hessian.dtype).tiny) ** 0.5
    size = jnp.maximum(size, jnp.maximum(_SMALLEST * jnp.max(size), tiny))
    return (vectors * size) @ vectors.T
