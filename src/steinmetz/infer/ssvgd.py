"""Stochastic SVGD: its noise makes it exact on average (Gallego & Insua 2018; method §5).

Particles keep moving, and every snapshot of them is a set of draws: no variance is lost.
"""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array
from pydantic import Field

from steinmetz.infer import kernels
from steinmetz.infer.base import Info, Sampler, Target, admitted, usable
from steinmetz.infer.particles import Batched, Moving, held_width, limited
from steinmetz.shapes import Alive, Count, Particles, Scalar

# Least motion of its own that every particle has: coincident ones come apart.
_JITTER = 1e-6


class Config(Moving, Batched):
    """Size of the steps."""

    method: Literal["ssvgd"] = "ssvgd"
    rate: float = Field(0.05, gt=0, le=1, description="size of a step, in posterior variances")
    own: float = Field(
        1.0, ge=0, le=100, description="Langevin motion of each alone; 0 as published"
    )


class State(NamedTuple):
    """Places, the kernel's `bandwidth` and the `number` of the step."""

    particles: Particles
    alive: Alive
    bandwidth: Scalar
    number: Count


def build(target: Target, config: Config) -> Sampler[State]:
    """x ← x + r [(K + own I) ∇log p + ∇·K] + √(2r) L ξ, with (K + own I) = L Lᵀ and r the rate.

    The drift belongs to the noise, so the law of the particles is kept in the limit of small steps
    for any kernel; the kernel's width must not depend on them, so it is held after the warm-up. In
    few dimensions the Gram matrix alone hardly moves near particles apart: `own` does.
    """
    own = max(config.own, _JITTER)

    def init(key: Array, position: Particles) -> State:
        particles, alive = admitted(position)
        return State(particles, alive, jnp.ones((), particles.dtype), jnp.zeros((), int))

    def step(key: Array, state: State) -> tuple[State, Info]:
        batch_key, noise_key = jax.random.split(key)
        x, number = state.particles, state.number
        value, slope = target.values_and_slopes(batch_key, x)
        alive = usable(state.alive, value, slope)
        h = held_width(x, alive, state.bandwidth, number, config.refresh, config.warm_up)
        direction = kernels.direction("rbf", x, slope, alive, h)
        noise = correlated(noise_key, x, alive, h, own)
        drift = jnp.sum(alive) * direction + own * slope
        change = limited(config.rate * drift) + jnp.sqrt(2 * config.rate) * noise
        moved = State(x + jnp.where(alive[:, None], change, 0.0), alive, h, number + 1)
        return moved, Info.of(direction, alive, {})

    return Sampler(init, step)


def correlated(key: Array, x: Particles, alive: Alive, h: Scalar, own: float) -> Particles:
    """L ξ: normal numbers whose covariance between particles is K + own I, K of the living ones."""
    centred = x - jnp.mean(x, axis=0)
    both = alive[:, None] & alive[None, :]
    near = kernels.gram("rbf", kernels.squared_distances(centred, centred), h).value
    covariance = jnp.where(both, near, 0.0) + jnp.diag(jnp.where(alive, own, 1.0))
    return jnp.matmul(jnp.linalg.cholesky(covariance), jax.random.normal(key, x.shape, x.dtype))
