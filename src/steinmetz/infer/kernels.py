"""Kernels of Stein methods as Gram products: particles × particles × dimension is never an array.

Every kernel here is k(x, y) = f(‖x − y‖²/h), so the direction of SVGD needs two matrices only: f,
and −2f′/h.
"""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from steinmetz.infer.median import ranked
from steinmetz.infer.placement import rows as by_rows
from steinmetz.shapes import Alive, Count, Particles, PerParticle, Scalar

Name = Literal["rbf", "imq", "bilinear"]
Rows = Float[Array, "rows dimension"]
Pairs = Float[Array, "rows columns"]

# Particles above which the median is that of every k-th particle.
_MEDIAN = 2048


class Gram(NamedTuple):
    """k and −2 ∂k/∂‖x − y‖² for rows × columns of particles."""

    value: Pairs
    steepness: Pairs


def gram(name: Name, squared: Pairs, h: Scalar) -> Gram:
    """RBF exp(−r²/h) or IMQ (1 + r²/h)^(−½); of `bilinear` the RBF part.

    The rest of `bilinear` needs no Gram matrix and is added in `direction`.
    """
    if name == "imq":
        root = jax.lax.rsqrt(1 + squared / h)
        return Gram(root, root**3 / h)
    value = jnp.exp(-squared / h)
    return Gram(value, 2 / h * value)


def squared_distances(x: Rows, y: Float[Array, "columns dimension"]) -> Pairs:
    """‖x_i − y_j‖² from one matrix product; take a common mean off first to save digits."""
    return _between(x, jnp.sum(x**2, axis=1), y, jnp.sum(y**2, axis=1))


def _between(x: Array, lengths: Array, y: Array, others: Array) -> Pairs:
    """‖x_i‖² + ‖y_j‖² − 2 x_i·y_j, never below zero by rounding."""
    return jnp.maximum(lengths[:, None] + others[None, :] - 2 * x @ y.T, 0.0)


class Cloud(NamedTuple):
    """Living particles about their mean, ‖x‖² of each, and how many they are.

    The dead are infinitely far from everybody: no kernel sees them.
    """

    x: Particles
    lengths: PerParticle
    living: Scalar


def cloud(x: Particles, alive: Alive) -> Cloud:
    """Centred twice: only a particle's distance to another is exactly zero where they coincide."""
    weight = alive.astype(x.dtype)
    living = jnp.maximum(jnp.sum(weight), 1)
    x = x - x[jnp.argmax(alive)]
    x = jnp.where(alive[:, None], x - weight @ x / living, 0.0)
    return Cloud(x, jnp.where(alive, jnp.sum(x**2, axis=1), jnp.inf), living)


def bandwidth(x: Particles, alive: Alive) -> Scalar:
    """h = median² / log S over pairs of different living particles; 1 where all of them coincide.

    Half of all distances are at most twice their mean, and the sum over pairs of r² is S Σ ‖x‖²
    about the mean: that bounds the median from above.
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


def direction(name: Name, x: Particles, slope: Particles, alive: Alive, h: Scalar) -> Particles:
    """φ(x_i) = 1/S Σ_j [k(x_j, x_i) ∇log p(x_j) + ∇_{x_j} k(x_j, x_i)] over living j.

    Σ_j ∇_{x_j} k = x_i Σ_j g_ij − Σ_j g_ij x_j with g = −2 ∂k/∂r²: one product of [f, g] with [∇log
    p, x, 1]. `bilinear` adds (1 + (x − m)·(y − m))/D to the RBF, m the mean: alone it finds mean
    and covariance of a Gaussian.
    """
    near = cloud(x, alive)
    slope = jnp.where(alive[:, None], slope, 0.0)
    rows = near.x, near.lengths
    total = by_rows(lambda some: _pairwise(name, *some, near, slope, h), rows, len(x))
    if name == "bilinear":
        total = total + _bilinear(near, slope)
    return jnp.where(alive[:, None], total / near.living, 0.0)


def _pairwise(name: Name, rows: Rows, lengths: Array, near: Cloud, slope: Array, h: Scalar) -> Rows:
    """S φ of some rows."""
    at = gram(name, _between(rows, lengths, near.x, near.lengths), h)
    one = jnp.ones((len(slope), 1), slope.dtype)
    if name == "imq":
        pulled = at.steepness @ jnp.concatenate([near.x, one], axis=1)
        return at.value @ slope + rows * pulled[:, -1:] - pulled[:, :-1]
    # for the RBF g is a multiple of f, so one product serves both terms
    pulled = at.value @ jnp.concatenate([slope - 2 / h * near.x, one], axis=1)
    return pulled[:, :-1] + 2 / h * rows * pulled[:, -1:]


def _bilinear(near: Cloud, slope: Particles) -> Particles:
    """S φ of the kernel (1 + x·y)/D, without a Gram matrix."""
    pulled = near.x @ (near.x.T @ slope)
    return (jnp.sum(slope, axis=0) + pulled + near.living * near.x) / near.x.shape[1]


def refreshed(h: Scalar, x: Particles, alive: Alive, number: Count, every: int) -> Scalar:
    """The bandwidth, measured anew in every `every`-th step; else the one before.

    Measured in every step there is no branch, and `direction` shares its distances.
    """
    if every == 1:
        return bandwidth(x, alive)
    width: Scalar = jax.lax.cond(number % every == 0, bandwidth, lambda *_: h, x, alive)
    return width
