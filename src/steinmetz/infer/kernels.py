"""Kernels of Stein methods as Gram products: no particles × particles × dimension array is ever made.

Every kernel here is k(x, y) = f(‖x − y‖²/h), so the direction of SVGD needs two matrices only: f, and −2f′/h.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from steinmetz.infer.median import ranked

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
    return _between(x, jnp.sum(x**2, axis=1), y, jnp.sum(y**2, axis=1))


def _between(x: Array, lengths: Array, y: Array, others: Array) -> Float[Array, "rows columns"]:
    return jnp.maximum(lengths[:, None] + others[None, :] - 2 * x @ y.T, 0.0)


class Cloud(NamedTuple):
    """Living particles about their mean, and ‖x‖². The dead are infinitely far from everybody: no kernel sees them."""

    x: Float[Array, "particles dimension"]
    lengths: Float[Array, "particles"]
    living: Float[Array, ""]


def cloud(x: Float[Array, "particles dimension"], alive: Bool[Array, "particles"]) -> Cloud:
    """Centred twice, because only a particle's distance to another is exactly zero where they coincide."""
    weight = alive.astype(x.dtype)
    living = jnp.maximum(jnp.sum(weight), 1)
    x = x - x[jnp.argmax(alive)]
    x = jnp.where(alive[:, None], x - weight @ x / living, 0.0)
    return Cloud(x, jnp.where(alive, jnp.sum(x**2, axis=1), jnp.inf), living)


def bandwidth(
    x: Float[Array, "particles dimension"], alive: Bool[Array, "particles"]
) -> Float[Array, ""]:
    """h = median² / log S over pairs of different living particles; 1 where all of them coincide.

    Half of all distances are at most twice their mean, and the sum over pairs of r² is S Σ ‖x‖² about the mean.
    """
    every = -(-len(x) // _MEDIAN)
    some = cloud(x[::every], alive[::every])
    squared = _between(some.x, some.lengths, some.x, some.lengths)
    pairs = some.living * (some.living - 1)
    top = 4 * jnp.sum(some.x**2) / jnp.maximum(some.living - 1, 1)
    # the zeros of the diagonal come first
    middle = ranked(squared, some.living + jnp.ceil(pairs / 2), top)
    h = middle / jnp.log(jnp.maximum(jnp.sum(alive.astype(x.dtype)), 2))
    return jnp.where(h > 0, h, 1.0)


def direction(
    name: Name,
    x: Float[Array, "particles dimension"],
    score: Float[Array, "particles dimension"],
    alive: Bool[Array, "particles"],
    h: Float[Array, ""],
) -> Float[Array, "particles dimension"]:
    """φ(x_i) = 1/S Σ_j [k(x_j, x_i) ∇log p(x_j) + ∇_{x_j} k(x_j, x_i)] over living j; dead particles stay.

    Σ_j ∇_{x_j} k = x_i Σ_j g_ij − Σ_j g_ij x_j with g = −2 ∂k/∂r²: one product of [f, g] with [∇log p, x, 1].
    `bilinear` adds (1 + (x − m)·(y − m))/D to the RBF, m the mean: alone it finds mean and covariance of a Gaussian.
    """
    near = cloud(x, alive)
    score = jnp.where(alive[:, None], score, 0.0)
    rows = jnp.concatenate([near.x, near.lengths[:, None]], axis=1)
    total = blocked(lambda some: _pairwise(name, some[:, :-1], some[:, -1], near, score, h), rows)
    if name == "bilinear":
        total = total + _bilinear(near, score)
    return jnp.where(alive[:, None], total / near.living, 0.0)


def _pairwise(
    name: Name, rows: Array, lengths: Array, near: Cloud, score: Array, h: Array
) -> Array:
    at = gram(name, _between(rows, lengths, near.x, near.lengths), h)
    one = jnp.ones((len(score), 1), score.dtype)
    if name == "imq":
        pulled = at.slope @ jnp.concatenate([near.x, one], axis=1)
        return at.value @ score + rows * pulled[:, -1:] - pulled[:, :-1]
    # for the RBF g is a multiple of f, so one product serves both terms
    pulled = at.value @ jnp.concatenate([score - 2 / h * near.x, one], axis=1)
    return pulled[:, :-1] + 2 / h * rows * pulled[:, -1:]


def _bilinear(near: Cloud, score: Array) -> Array:
    pulled = near.x @ (near.x.T @ score)
    return (jnp.sum(score, axis=0) + pulled + near.living * near.x) / near.x.shape[1]


def blocked(
    function: Callable[[Float[Array, "rows dimension"]], Array],
    x: Float[Array, "particles dimension"],
) -> Array:
    """function(x) row by row, in blocks of rows so that rows × particles stays small."""
    size = max(1, _BLOCK // len(x))
    return (
        function(x)
        if size >= len(x)
        else jax.lax.map(lambda row: function(row[None])[0], x, batch_size=size)
    )


def refreshed(
    h: Float[Array, ""],
    x: Float[Array, "particles dimension"],
    alive: Bool[Array, "particles"],
    number: Int[Array, ""],
    every: int,
) -> Float[Array, ""]:
    """The bandwidth, measured anew in every `every`-th step; without a branch, `direction` shares its distances."""
    if every == 1:
        return bandwidth(x, alive)
    return jax.lax.cond(number % every == 0, bandwidth, lambda *_: h, x, alive)
