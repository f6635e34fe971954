"""Kernels of Stein methods as Gram products: no particles × particles × dimension array is ever made.

Every kernel here is k(x, y) = f(‖x − y‖²/h), so the direction of SVGD needs two matrices only: f, and −2f′/h.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from steinmetz.infer.median import bandwidth_of

Name = Literal["rbf", "imq", "bilinear"]
# Entries of a block of the Gram matrix; above, it is worked through in blocks of rows.
_BLOCK = 4_194_304
# Particles above which the median is that of every k-th particle.
_MEDIAN = 2048


class Gram(NamedTuple):
    """k and −2 ∂k/∂‖x − y‖² for rows × columns of particles."""

    value: Float[Array, "rows columns"]
    slope: Float[Array, "rows columns"]


def gram(name: Name, squared: Float[Array, "rows columns"], h: Float[Array, ""]) -> Gram:
    """RBF exp(−r²/h) or IMQ (1 + r²/h)^(−½); of `bilinear` the RBF part (the rest is in `direction`)."""
    if name == "imq":
        root = jax.lax.rsqrt(1 + squared / h)
        return Gram(root, root**3 / h)
    value = jnp.exp(-squared / h)
    return Gram(value, 2 / h * value)


def squared_distances(
    x: Float[Array, "rows dimension"], y: Float[Array, "columns dimension"]
) -> Float[Array, "rows columns"]:
    """‖x_i − y_j‖² from one matrix product; take a common mean off first to save digits."""
    return jnp.maximum(jnp.sum(x**2, axis=1)[:, None] + jnp.sum(y**2, axis=1)[None, :] - 2 * x @ y.T, 0.0)


def bandwidth(x: Float[Array, "particles dimension"], alive: Bool[Array, "particles"]) -> Float[Array, ""]:
    """h = median² / log S over pairs of different living particles; 1 where all of them coincide."""
    every = -(-len(x) // _MEDIAN)
    x, count = x[::every], jnp.sum(alive)
    return bandwidth_of(squared_distances(x - x.mean(axis=0), x - x.mean(axis=0)), alive[::every], count)


def direction(
    name: Name,
    x: Float[Array, "particles dimension"],
    score: Float[Array, "particles dimension"],
    alive: Bool[Array, "particles"],
    h: Float[Array, ""],
) -> Float[Array, "particles dimension"]:
    """φ(x_i) = 1/S Σ_j [k(x_j, x_i) ∇log p(x_j) + ∇_{x_j} k(x_j, x_i)] over living j; dead particles stay.

    Σ_j ∇_{x_j} k = x_i Σ_j g_ij − Σ_j g_ij x_j with g = −2 ∂k/∂r²: one product of [f, g] with [∇log p, x].
    `bilinear` adds (1 + (x − m)·(y − m))/D to the RBF, m the mean: alone it finds mean and covariance of a Gaussian.
    """
    weight = alive.astype(x.dtype)
    x = x - weight @ x / jnp.maximum(jnp.sum(weight), 1)
    score = jnp.where(alive[:, None], score, 0.0)
    total = blocked(lambda rows: _pairwise(name, rows, x, score, weight, h), x)
    if name == "bilinear":
        total = total + _bilinear(x, score, weight)
    return jnp.where(alive[:, None], total / jnp.maximum(jnp.sum(weight), 1), 0.0)


def _pairwise(name: Name, rows: Array, x: Array, score: Array, weight: Array, h: Array) -> Array:
    at = gram(name, squared_distances(rows, x), h)
    if name == "imq":
        slope = at.slope * weight
        return at.value @ score + rows * jnp.sum(slope, axis=1, keepdims=True) - slope @ x
    # for the RBF g is a multiple of f, so one product serves both terms
    value = at.value * weight
    return value @ (score - 2 / h * x) + 2 / h * rows * jnp.sum(value, axis=1, keepdims=True)


def _bilinear(x: Array, score: Array, weight: Array) -> Array:
    dimension = x.shape[1]
    pulled = x @ ((x * weight[:, None]).T @ score)
    return (jnp.sum(score, axis=0) + pulled + jnp.sum(weight) * x) / dimension


def blocked(
    function: Callable[[Float[Array, "rows dimension"]], Array], x: Float[Array, "particles dimension"]
) -> Array:
    """function(x) row by row, in blocks of rows so that rows × particles stays small."""
    size = max(1, _BLOCK // len(x))
    return function(x) if size >= len(x) else jax.lax.map(lambda row: function(row[None])[0], x, batch_size=size)
