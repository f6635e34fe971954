"""The collective step of stochastic Stein–Newton, as published (Leviyev et al. 2022; method §5).

v = S K H⁻¹ φ, with noise √(2 S) K H^(−½) ξ. K is k/S, φ the Stein direction; H couples particles m
and n by h_mn = 1/S Σ_p [k_mp k_np C_p + ∇_m k_mp ∇_n k_npᵀ], C_p the curvature at p.
"""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from steinmetz.errors import InputError
from steinmetz.infer import kernels, placement
from steinmetz.infer.langevin import Matrices, Metric, solved, spread
from steinmetz.infer.particles import limited
from steinmetz.shapes import Alive, Particles, PerParticle, Scalar

# `block` keeps h_mm alone, `full` couples all particles.
Hessian = Literal["block", "full"]

# Rows of the coupled system above which its Cholesky factor takes seconds.
LARGEST = 2000
# Share of the mean diagonal that is added: Gram matrices of near particles are hardly positive.
_DAMPING = 1e-6


class _Pairs(NamedTuple):
    """Particles about their mean, 1 for living ones, curvatures, h, and S."""

    x: Particles
    weight: PerParticle
    curvature: Matrices
    h: Scalar
    living: Scalar

    def near(self, x: Particles, weight: PerParticle) -> Float[Array, "particles all"]:
        """k of some particles and all, zero unless both are living."""
        k = kernels.gram("rbf", kernels.squared_distances(x, self.x), self.h).value
        return k * weight[:, None] * self.weight[None, :]


def together(
    key: Array, metric: Metric, slope: Particles, alive: Alive, hessian: Hessian, rate: float
) -> Particles:
    """One change of all particles, by the drift v and its noise, from the places of the metric.

    The drift is limited in length, because far from the mode H hardly knows the way.
    """
    count, size = metric.places.shape
    if hessian == "full" and count * size > LARGEST:
        raise InputError(
            f"infer.hessian = 'full' couples {count} particles × {size} parameters, more than "
            f"{LARGEST}; use 'block'"
        )
    weight, h = alive.astype(metric.places.dtype), metric.bandwidth
    living = jnp.maximum(jnp.sum(weight), 1)
    x = metric.places - weight @ metric.places / living
    direction = kernels.direction("rbf", x, slope, alive, h)
    noise = jax.random.normal(key, x.shape, x.dtype)
    pairs = _Pairs(x, weight, metric.curvature, h, living)
    if hessian == "full":
        drift, noisy = _full(pairs, direction, noise)
    else:
        every = x, weight, direction, noise
        drift, noisy = placement.rows(lambda some: _block(pairs, *some), every, count)

    def averaged(some: tuple[Particles, PerParticle]) -> tuple[Particles, Particles]:
        near = pairs.near(*some)
        return near @ drift, near @ noisy

    pulled, shaken = placement.rows(averaged, (x, weight), count)
    return limited(rate * pulled) + shaken * jnp.sqrt(2 * rate / living)


def _block(
    pairs: _Pairs, at: Particles, alive: PerParticle, direction: Particles, noise: Particles
) -> tuple[Particles, Particles]:
    """H⁻¹ φ and H^(−½) ξ of some particles with h_mm alone, a small system for every m."""
    x, size = pairs.x, pairs.x.shape[1]
    weight = pairs.near(at, alive) ** 2 / pairs.living
    steep = 4 / pairs.h**2 * weight
    # Σ_p w (x_p − x_m)(x_p − x_m)ᵀ from sums over p of w, w x_p and w x_p x_pᵀ
    outer = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    second = (steep @ outer).reshape(-1, size, size)
    cross = (steep @ x)[:, :, None] * at[:, None, :]
    alone = jnp.sum(steep, 1)[:, None, None] * (at[:, :, None] * at[:, None, :])
    moments = second - cross - cross.transpose(0, 2, 1) + alone
    blocks = (weight @ pairs.curvature.reshape(len(x), -1)).reshape(second.shape) + moments
    lower = jnp.linalg.cholesky(blocks + _damping(blocks) * jnp.eye(size, dtype=x.dtype))
    return solved(lower, direction), spread(lower, noise)


def _full(pairs: _Pairs, direction: Particles, noise: Particles) -> tuple[Particles, Particles]:
    """The same with all h_mn, one row of blocks at a time."""
    x, near = pairs.x, pairs.near(pairs.x, pairs.weight)
    count, size = x.shape

    def row(m: Array) -> Array:
        both = near[m][None, :] * near / pairs.living  # k_mp k_np over n, p
        bent = (both @ pairs.curvature.reshape(count, -1)).reshape(count, size, size)
        # Σ_p 4/h² k_mp k_np (x_p − x_m)(x_p − x_n)ᵀ
        steep = 4 / pairs.h**2 * both
        outer = (x[:, :, None] * x[:, None, :]).reshape(count, -1)
        first = steep @ x
        total = (steep @ outer).reshape(count, size, size) - first[:, :, None] * x[:, None, :]
        total = total - x[m][None, :, None] * (first - jnp.sum(steep, 1)[:, None] * x)[:, None, :]
        return (bent + total).transpose(1, 0, 2).reshape(size, count * size)

    matrix = jax.lax.map(row, jnp.arange(count)).reshape(count * size, count * size)
    matrix = 0.5 * (matrix + matrix.T) + _damping(matrix) * jnp.eye(count * size, dtype=x.dtype)
    lower = jnp.linalg.cholesky(matrix)
    drift = jax.scipy.linalg.cho_solve((lower, True), direction.ravel())
    noisy = jax.scipy.linalg.solve_triangular(lower, noise.ravel(), trans=1, lower=True)
    return drift.reshape(x.shape), noisy.reshape(x.shape)


def _damping(matrices: Float[Array, "*many rows rows"]) -> Float[Array, "*many 1 1"]:
    """What is added to the diagonal of each matrix."""
    mean = jnp.trace(matrices, axis1=-2, axis2=-1) / matrices.shape[-1]
    return _DAMPING * jnp.maximum(mean, 1e-300)[..., None, None]
