"""The collective step of stochastic Stein–Newton, as published: v = S K H⁻¹ φ, with noise √(2 S) K H^(−½) ξ.

K is k/S; H couples particles m and n by h_mn = 1/S Σ_p [k_mp k_np C_p + ∇_m k_mp ∇_n k_npᵀ], C_p the curvature at p.
`block` keeps h_mm only.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from steinmetz.errors import InputError
from steinmetz.infer import kernels
from steinmetz.infer.ssvgd import limited

LARGEST = 2000
_DAMPING = 1e-6


def together(
    key: Array, state: Any, hessian: str, rate: float
) -> Float[Array, "particles dimension"]:
    """One change of all particles."""
    count, size = state.particles.shape
    if hessian == "full" and count * size > LARGEST:
        raise InputError(
            f"infer.hessian = 'full' couples {count} particles × {size} parameters, more than {LARGEST}; use 'block'"
        )
    alive, h = state.alive, state.bandwidth
    weight = alive.astype(state.particles.dtype)
    living = jnp.maximum(jnp.sum(weight), 1)
    x = state.particles - weight @ state.particles / living
    near = (
        kernels.gram("rbf", kernels.squared_distances(x, x), h).value
        * weight[:, None]
        * weight[None, :]
    )
    direction = kernels.direction("rbf", x, state.score, alive, h)
    noise = jax.random.normal(key, x.shape, x.dtype)
    solve = _full if hessian == "full" else _block
    drift, spread = solve(x, near, state.curvature, h, living, direction, noise)
    drift, spread = near @ drift, near @ spread * jnp.sqrt(2 * rate / living)
    return limited(rate * drift) + spread


def _block(
    x: Array, near: Array, curvature: Array, h: Array, living: Array, direction: Array, noise: Array
) -> tuple[Array, Array]:
    """h_mm for every m: solve, and L⁻ᵀ ξ."""
    size = x.shape[1]
    weight = near**2 / living
    steep = 4 / h**2 * weight
    # Σ_p w (x_p − x_m)(x_p − x_m)ᵀ from sums over p of w, w x_p and w x_p x_pᵀ
    outer = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    second = (steep @ outer).reshape(-1, size, size)
    cross = (steep @ x)[:, :, None] * x[:, None, :]
    spread = (
        second
        - cross
        - cross.transpose(0, 2, 1)
        + jnp.sum(steep, 1)[:, None, None] * outer.reshape(second.shape)
    )
    blocks = (weight @ curvature.reshape(len(x), -1)).reshape(second.shape) + spread
    blocks = blocks + _damping(blocks) * jnp.eye(size, dtype=x.dtype)
    lower = jnp.linalg.cholesky(blocks)
    drift = jax.vmap(lambda low, row: jax.scipy.linalg.cho_solve((low, True), row))(
        lower, direction
    )
    back = jax.vmap(
        lambda low, row: jax.scipy.linalg.solve_triangular(low, row, trans=1, lower=True)
    )
    return drift, back(lower, noise)


def _full(
    x: Array, near: Array, curvature: Array, h: Array, living: Array, direction: Array, noise: Array
) -> tuple[Array, Array]:
    """The coupled system, one row of blocks at a time."""
    count, size = x.shape

    def row(m: Array) -> Array:
        pairs = near[m][None, :] * near / living  # k_mp k_np over n, p
        own = (pairs @ curvature.reshape(count, -1)).reshape(count, size, size)
        # Σ_p 4/h² k_mp k_np (x_p − x_m)(x_p − x_n)ᵀ
        steep = 4 / h**2 * pairs
        outer = (x[:, :, None] * x[:, None, :]).reshape(count, -1)
        first = steep @ x
        total = (steep @ outer).reshape(count, size, size) - first[:, :, None] * x[:, None, :]
        total = total - x[m][None, :, None] * (first - jnp.sum(steep, 1)[:, None] * x)[:, None, :]
        return (own + total).transpose(1, 0, 2).reshape(size, count * size)

    matrix = jax.lax.map(row, jnp.arange(count)).reshape(count * size, count * size)
    matrix = 0.5 * (matrix + matrix.T) + _damping(matrix) * jnp.eye(count * size, dtype=x.dtype)
    lower = jnp.linalg.cholesky(matrix)
    drift = jax.scipy.linalg.cho_solve((lower, True), direction.ravel())
    spread = jax.scipy.linalg.solve_triangular(lower, noise.ravel(), trans=1, lower=True)
    return drift.reshape(x.shape), spread.reshape(x.shape)


def _damping(matrices: Array) -> Array:
    """A small share of the mean diagonal: Gram matrices of near particles are hardly positive."""
    size = matrices.shape[-1]
    mean = jnp.trace(matrices, axis1=-2, axis2=-1) / size
    return _DAMPING * jnp.maximum(mean, 1e-300)[..., None, None]
