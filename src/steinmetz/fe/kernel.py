"""Residual, tangent and stress of all cells, for many draws at once, in JAX.

The energy of a body is Σ w Ψ̂(x̄) over its points, x̄ = (I1 r^⅔, I2 r^4⁄3, J̄) with r = J̄/J; r = 1
where the volume is not projected. What a law has to say at a point are p = ∇Ψ̂ and H = ∇∇Ψ̂ in x̄;
everything else is the same for every law, so this is compiled once per mesh, and only p and H once
per law. In plane strain F33 = 1: I1 = tr C + 1 and I2 = tr C + det C.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from steinmetz.fe.space import Cubature

Field = Float[Array, "cells corners dimension"]
Gradient = Float[Array, "dimension dimension"]


class Points(NamedTuple):
    """What is at the points of all cells: F, the invariants y with J̄, and x̄."""

    gradient: Float[Array, "cells points dimension dimension"]
    mixed: Float[Array, "cells points four"]
    inputs: Float[Array, "cells points three"]


def _invariants(F: Gradient) -> Float[Array, "3"]:
    """I1, I2 and J."""
    C = F.T @ F
    trace = jnp.trace(C)
    if len(F) == 2:
        J = F[0, 0] * F[1, 1] - F[0, 1] * F[1, 0]
        return jnp.stack([trace + 1, trace + J**2, J])
    J = F[0] @ jnp.cross(F[1], F[2])
    return jnp.stack([trace, 0.5 * (trace**2 - jnp.sum(C * C)), J])


def _projected(y: Float[Array, "four"]) -> Float[Array, "three"]:
    """x̄ from I1, I2, J and J̄."""
    ratio = y[3] / y[2]
    third = jnp.cbrt(ratio)
    return jnp.stack([y[0] * third**2, y[1] * third**4, y[3]])


def points(cubature: Cubature, moved: Field) -> Points:
    """F and invariants at every point."""
    F = jnp.eye(moved.shape[-1]) + jnp.einsum("cai,cqaj->cqij", moved, cubature.gradients)
    y = jax.vmap(jax.vmap(_invariants))(F)
    J = y[..., 2]
    mean = J if cubature.projection is None else jnp.einsum("cqp,cp->cq", cubature.projection, J)
    mixed = jnp.concatenate([y, mean[..., None]], axis=-1)
    inputs = y if cubature.projection is None else jax.vmap(jax.vmap(_projected))(mixed)
    return Points(F, mixed, inputs)


def _pulled(cubature: Cubature, at: Points, slopes: Array) -> tuple[Array, Array]:
    """Slopes in I1, I2, J and J̄; and weights of the slopes of I1, I2 and J in the residual."""
    if cubature.projection is None:
        return slopes, jnp.asarray(cubature.weights)[..., None] * slopes
    turns = jax.vmap(jax.vmap(jax.jacfwd(_projected)))(at.mixed)
    own = jnp.einsum("cqk,cqka->cqa", slopes, turns)
    every = jnp.asarray(cubature.weights)[..., None] * own
    shared = jnp.einsum("cqp,cq->cp", cubature.projection, every[..., 3])
    return own, every[..., :3].at[..., 2].add(shared)


def residual(cubature: Cubature, moved: Field, slopes: Array) -> Field:
    """Forces of every cell on its corners."""
    at = points(cubature, moved)
    _, weights = _pulled(cubature, at, slopes.reshape(at.inputs.shape))
    stress = jax.vmap(jax.vmap(_stress))(at.gradient, weights)
    return jnp.einsum("cqij,cqaj->cai", stress, cubature.gradients)


def _stress(F: Gradient, weights: Float[Array, "3"]) -> Gradient:
    """Σ_k weight_k ∂y_k/∂F."""
    pulled: Gradient = jax.grad(lambda each: _invariants(each) @ weights)(F)
    return pulled


def tangent(
    cubature: Cubature, moved: Field, slopes: Array, curvatures: Array
) -> Float[Array, "cells unknowns unknowns"]:
    """The matrix of every cell."""
    at = points(cubature, moved)
    slopes = slopes.reshape(at.inputs.shape)
    curvatures = curvatures.reshape(*at.inputs.shape, 3)
    _, weights = _pulled(cubature, at, slopes)
    if cubature.projection is not None:
        curvatures = _turned(at.mixed, slopes, curvatures)
    scaled = jnp.asarray(cubature.weights)[..., None, None] * curvatures
    cells, corners, dimension = moved.shape
    moduli = jax.vmap(jax.vmap(_moduli))(at.gradient, weights, scaled[..., :3, :3])
    half = jnp.einsum("cqijkl,cqbl->cqijbk", moduli, cubature.gradients)
    size = corners * dimension
    matrix = jnp.einsum("cqaj,cqijbk->caibk", cubature.gradients, half).reshape(cells, size, size)
    return matrix if cubature.projection is None else matrix + _coupled(cubature, at, scaled)


def _turned(mixed: Array, slopes: Array, curvatures: Array) -> Array:
    """Curvatures in I1, I2, J and J̄ from p and H in x̄."""

    def one(y: Array, p: Array, H: Array) -> Array:
        turn: Array = jax.jacfwd(_projected)(y)
        bend: Array = jax.hessian(lambda each: p @ _projected(each))(y)
        return turn.T @ H @ turn + bend

    found: Array = jax.vmap(jax.vmap(one))(mixed, slopes, curvatures)
    return found


def _moduli(F: Gradient, weights: Float[Array, "3"], curvature: Float[Array, "3 3"]) -> Array:
    """Σ weight_k ∂²y_k/∂F² + Σ curvature_kl ∂y_k/∂F ⊗ ∂y_l/∂F."""
    own: Array = jax.hessian(lambda each: _invariants(each) @ weights)(F)
    slope = jax.jacfwd(_invariants)(F)
    return own + jnp.einsum("kij,kl,lno->ijno", slope, curvature, slope)


def _coupled(cubature: Cubature, at: Points, scaled: Array) -> Array:
    """What J̄, which all points of a cell share, adds to its matrix."""
    slope = jax.vmap(jax.vmap(jax.jacfwd(_invariants)))(at.gradient)
    cells, count, corners, dimension = cubature.gradients.shape
    rows = jnp.einsum("cqkij,cqaj->cqkai", slope, cubature.gradients)
    rows = rows.reshape(cells, count, 3, corners * dimension)
    shared = jnp.einsum("cqp,cpn->cqn", cubature.projection, rows[:, :, 2])
    mixed = jnp.einsum("cqk,cqkn->cqn", scaled[..., :3, 3], rows)
    cross = jnp.einsum("cqm,cqn->cmn", mixed, shared)
    own = jnp.einsum("cq,cqm,cqn->cmn", scaled[..., 3, 3], shared, shared)
    return cross + jnp.swapaxes(cross, 1, 2) + own


def cauchy(cubature: Cubature, moved: Field, slopes: Array) -> Float[Array, "cells points 3 3"]:
    """σ at every point, of F̄ where the volume is projected."""
    at = points(cubature, moved)
    scale = jnp.cbrt(at.inputs[..., 2] / at.mixed[..., 2])
    F = jnp.broadcast_to(jnp.eye(3), (*at.gradient.shape[:2], 3, 3))
    F = F.at[..., : moved.shape[-1], : moved.shape[-1]].set(at.gradient) * scale[..., None, None]
    stress = jax.vmap(jax.vmap(_stress))(F, slopes.reshape(at.inputs.shape))
    return jnp.einsum("cqik,cqjk->cqij", stress, F) / at.inputs[..., 2, None, None]
