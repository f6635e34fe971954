"""Stein variational gradient descent (Liu & Wang 2016; method §5).

Deterministic: particles attract each other towards high density and repel each other by the kernel,
until they rest. With few particles for the number of parameters it loses variance
(docs/samplers.md).
"""

from typing import Literal

import jax.numpy as jnp
from jaxtyping import Array

from steinmetz.infer import kernels
from steinmetz.infer.base import Info, Sampler, Target, admitted, usable
from steinmetz.infer.particles import Descent, FlowState, first
from steinmetz.shapes import Particles


class Config(Descent):
    """Particles and steps."""

    method: Literal["svgd"] = "svgd"


def build(target: Target, config: Config) -> Sampler[FlowState]:
    """θ_i ← θ_i + ε φ(θ_i), ε by the optimiser; φ as in `kernels.direction`."""
    optimiser = config.optimise()

    def init(key: Array, position: Particles) -> FlowState:
        particles, alive = admitted(position)
        return first(particles, alive, optimiser.init(particles))

    def step(key: Array, state: FlowState) -> tuple[FlowState, Info]:
        value, slope = target.values_and_slopes(key, state.particles)
        alive = usable(state.alive, value, slope)
        h = kernels.refreshed(state.bandwidth, state.particles, alive, state.number, config.refresh)
        direction = kernels.direction(config.kernel, state.particles, slope, alive, h)
        change, moments = optimiser.update(-direction, state.moments)
        particles = state.particles + jnp.where(alive[:, None], change, 0.0)
        moved = FlowState(particles, alive, moments, h, state.number + 1)
        return moved, Info.of(target.in_deviations(direction), alive, {})

    return Sampler(init, step)
