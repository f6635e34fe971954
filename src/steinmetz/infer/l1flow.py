"""Stein flow with an L1 prior: sparse and uncertain at once (the paper's outlook; method §7).

θ_i ← prox(θ_i + ε φ(θ_i)), prox(x) = sign(x) max(|x| − ε λ, 0): the Stein direction of the given
density, then the exact step of the prior λ Σ|θ| of each particle by itself. The kernel, whose mean
is below one, dilutes the slopes of the density but not the prior, so λ acts more strongly than it
would in the sum of both: that is what makes it carve. What the density holds less firmly than λ
becomes zero, not just small. Every coordinate has its own ε, smaller the larger its directions are
of late, and falling over the run: this changes the way and not where it ends. The coordinates are
the density's own: an L1 prior knows the axes, so nothing is whitened.
"""

from typing import ClassVar, Literal

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool
from pydantic import Field

from steinmetz.infer import kernels
from steinmetz.infer.base import Capabilities, Info, Sampler, Schedule, Target, admitted, usable
from steinmetz.infer.particles import Flow, FlowState, FlowSteps, Rate, Width, first
from steinmetz.shapes import Particles, Vector

# Share of the mean square direction that one step leaves as it is: some twenty steps count for ε.
_MEMORY = 0.95
# Direction, in the density's own units, below which ε no longer grows.
_REST = 0.1
# Share of its first value to which ε falls over the run.
_LAST = 0.01
_INSTEAD = (
    "carves the weights of a whole network itself; from Python, use "
    "steinmetz.network_likelihood(study) and steinmetz.sample(…, 'l1flow'), or take another "
    "sampler here"
)


class Config(Flow):
    """The price of a coordinate, and the flow."""

    capabilities: ClassVar[Capabilities] = Capabilities(whitens=False, instead_for_laws=_INSTEAD)
    method: Literal["l1flow"] = "l1flow"
    whiten: bool = Field(False, description="must be false: the prior knows the axes")
    particles: Width = 100
    steps: FlowSteps = 1000
    rate: Rate = 0.05
    thin: int = Field(0, ge=0, description="steps between two snapshots; 0 keeps the last alone")
    penalty: float = Field(1.0, ge=0, description="λ of the prior exp(−λ Σ|θ|)")
    nonnegative: tuple[int, ...] = Field((), description="coordinates that may not be negative")

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.steps, thin=min(self.thin, self.steps))


def build(target: Target, config: Config) -> Sampler[FlowState]:
    """A forward step along the Stein direction, then a backward step of the prior.

    The backward step also keeps the signs: what would become negative against them becomes zero.
    """

    def sign(dimension: int) -> Bool[np.ndarray, "dimension"]:
        """Which coordinates may not be negative."""
        fixed = np.zeros(dimension, bool)
        fixed[list(config.nonnegative)] = True
        return fixed

    def shrunk(x: Particles, epsilon: Vector) -> Particles:
        """prox(x), and zero where a sign would be broken."""
        short = jnp.maximum(jnp.abs(x) - epsilon * config.penalty, 0.0)
        return jnp.where(sign(x.shape[1]) & (x < 0), 0.0, jnp.sign(x) * short)

    def init(key: Array, position: Particles) -> FlowState:
        particles, alive = admitted(position)
        particles = jnp.where(sign(particles.shape[1]), jnp.abs(particles), particles)
        return first(particles, alive, jnp.zeros(particles.shape[1], particles.dtype))

    def step(key: Array, state: FlowState) -> tuple[FlowState, Info]:
        value, slope = target.values_and_slopes(key, state.particles)
        alive = usable(state.alive, value, slope)
        h = kernels.refreshed(state.bandwidth, state.particles, alive, state.number, config.refresh)
        direction = kernels.direction(config.kernel, state.particles, slope, alive, h)
        total = jnp.sum(jnp.where(alive[:, None], direction, 0.0) ** 2, axis=0)
        squares = total / jnp.maximum(jnp.sum(alive), 1)
        moments = _MEMORY * state.moments + (1 - _MEMORY) * squares
        late = moments / (1 - _MEMORY ** (state.number + 1.0))
        fall = 1 - (1 - _LAST) * state.number / config.steps
        epsilon = config.rate * fall / (jnp.sqrt(late) + _REST)
        moved = shrunk(state.particles + epsilon * direction, epsilon)
        particles = jnp.where(alive[:, None], moved, state.particles)
        facts = {"zero": jnp.sum(particles == 0, axis=1)}
        after = FlowState(particles, alive, moments, h, state.number + 1)
        return after, Info.of(direction, alive, facts)

    return Sampler(init, step)
