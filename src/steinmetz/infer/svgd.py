"""Stein variational gradient descent (Liu & Wang 2016; method §5) with the RBF kernel and the median heuristic."""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int
from pydantic import BaseModel, ConfigDict, Field

from steinmetz.infer import kernels
from steinmetz.infer.base import LogDensity, Sampler

_REST = 0.1


class Config(BaseModel):
    """Particles and steps."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    method: Literal["svgd"] = "svgd"
    particles: int = Field(500, ge=1, le=100_000, description="laws in the ensemble")
    steps: int = Field(2000, ge=1, description="Adam steps on the particles")
    refresh: int = Field(10, ge=1, description="steps between two looks at the median distance (the kernel's width)")
    rate: float = Field(0.1, gt=0, le=10, description="learning rate of Adam")
    tolerance: float = Field(
        2e-4,
        ge=0,
        description="stop when the mean Stein direction is shorter, in posterior standard deviations",
    )


class State(NamedTuple):
    """What the next step needs. A particle whose density or slope was not finite is no longer `alive`: it stays put."""

    particles: Float[Array, "particles dimension"]
    alive: Bool[Array, "particles"]
    moments: optax.OptState
    bandwidth: Float[Array, ""]
    number: Int[Array, ""]


class Info(NamedTuple):
    """What a reader wants to know of a step."""

    direction: Float[Array, ""]
    bandwidth: Float[Array, ""]
    frozen: Int[Array, ""]


def build(log_density: LogDensity, config: Config) -> Sampler:
    """θ_i ← θ_i + ε φ(θ_i), ε by Adam; φ as in `kernels.rbf_direction`."""
    # ε in the denominator of Adam: near rest, steps shrink with the direction instead of keeping their length
    optimiser = optax.adam(config.rate, eps=_REST)
    evaluate = jax.vmap(jax.value_and_grad(log_density))

    def init(key: Array, position: Float[Array, "particles dimension"]) -> State:
        alive = jnp.all(jnp.isfinite(position), axis=1)
        particles = jnp.where(alive[:, None], position, 0.0)
        return State(particles, alive, optimiser.init(position), jnp.ones(()), jnp.zeros((), int))

    def step(key: Array, state: State) -> tuple[State, Info]:
        value, score = evaluate(state.particles)
        alive = state.alive & jnp.isfinite(value) & jnp.all(jnp.isfinite(score), axis=1)
        score = jnp.where(alive[:, None], score, 0.0)
        squared = kernels.squared_distances(state.particles)
        due = state.number % config.refresh == 0
        h = jax.lax.cond(due, kernels.bandwidth, lambda *_: state.bandwidth, squared, alive)
        direction = kernels.rbf_direction(state.particles, score, alive, squared, h)
        direction = jnp.where(alive[:, None], direction, 0.0)
        change, moments = optimiser.update(-direction, state.moments)
        change = jnp.where(alive[:, None], change, 0.0)
        length = jnp.sum(jnp.linalg.norm(direction, axis=1)) / jnp.maximum(jnp.sum(alive), 1)
        moved = State(state.particles + change, alive, moments, h, state.number + 1)
        return moved, Info(length, h, jnp.sum(~alive))

    return Sampler(init, step)
