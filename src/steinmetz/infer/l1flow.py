"""Stein flow with an L1 prior: sparse and uncertain at once (the paper's outlook; method §7).

θ_i ← prox(θ_i + ε φ(θ_i)), prox(x) = sign(x) max(|x| − ε λ, 0): the Stein direction of the given density, then the
exact step of the prior λ Σ|θ| of each particle by itself. The kernel, whose mean is below one, dilutes the slopes of
the density but not the prior, so λ acts more strongly than it would in the sum of both: that is what makes it carve.
What the density holds less firmly than λ becomes zero, not just small. Every coordinate has its own ε, smaller the
larger its directions are of late, and falling over the run: this changes the way and not where it ends. The coordinates
are the density's own: an L1 prior knows the axes, so nothing is whitened.
"""

from typing import ClassVar, Literal

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from pydantic import Field

from steinmetz.infer import kernels
from steinmetz.infer.base import (
    Capabilities,
    Info,
    LogDensity,
    Sampler,
    Schedule,
    Settings,
    Target,
    admitted,
    as_target,
    mean_length,
    usable,
)
from steinmetz.infer.svgd import State

# Directions of so many steps count for ε; one this short no longer does; ε falls to this share.
_MEMORY, _REST, _LAST = 0.95, 0.1, 0.01


_INSTEAD = (
    "carves the weights of a whole network itself; from Python, use steinmetz.weights(study) and "
    "steinmetz.sample(…, 'l1flow'), or take another sampler here"
)


class Config(Settings):
    """The price of a coordinate, and the flow."""

    capabilities: ClassVar[Capabilities] = Capabilities(whitens=False, instead_for_laws=_INSTEAD)
    method: Literal["l1flow"] = "l1flow"
    particles: int = Field(100, ge=1, le=100_000, description="particles that flow together")
    steps: int = Field(1000, ge=1, description="steps of the flow")
    thin: int = Field(
        0, ge=0, description="steps between two snapshots that are kept; 0 keeps the last alone"
    )
    penalty: float = Field(1.0, ge=0, description="λ of the prior exp(−λ Σ|θ|)")
    rate: float = Field(
        0.05, gt=0, le=10, description="length of the first steps; later ones are shorter"
    )
    kernel: kernels.Name = Field("rbf", description="kernel: rbf, imq, or bilinear (with the RBF)")
    refresh: int = Field(
        10, ge=1, description="steps between two looks at the median distance (the kernel's width)"
    )
    nonnegative: tuple[int, ...] = Field((), description="coordinates that may not be negative")
    whiten: bool = Field(False, description="must be false: the prior knows the axes")

    @property
    def width(self) -> int:
        return self.particles

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.steps, thin=min(self.thin, self.steps))


def build(log_density: LogDensity | Target, config: Config) -> Sampler:
    """A forward step along the Stein direction, a backward step of the prior, signs kept by the backward step."""
    target = as_target(log_density)

    def sign(dimension: int) -> np.ndarray:
        fixed = np.zeros(dimension, bool)
        fixed[list(config.nonnegative)] = True
        return fixed

    def shrunk(x: Float[Array, "particles dimension"], epsilon: Float[Array, "dimension"]) -> Array:
        short = jnp.maximum(jnp.abs(x) - epsilon * config.penalty, 0.0)
        return jnp.where(sign(x.shape[1]) & (x < 0), 0.0, jnp.sign(x) * short)

    def init(key: Array, position: Float[Array, "particles dimension"]) -> State:
        particles, alive = admitted(position)
        particles = jnp.where(sign(particles.shape[1]), jnp.abs(particles), particles)
        moments = jnp.zeros(particles.shape[1], particles.dtype)
        return State(particles, alive, moments, jnp.ones((), particles.dtype), jnp.zeros((), int))

    def step(key: Array, state: State) -> tuple[State, Info]:
        value, score = target.values_and_slopes(key, state.particles)
        alive = usable(state.alive, value, score)
        h = kernels.refreshed(state.bandwidth, state.particles, alive, state.number, config.refresh)
        direction = kernels.direction(config.kernel, state.particles, score, alive, h)
        squares = jnp.sum(jnp.where(alive[:, None], direction, 0.0) ** 2, axis=0) / jnp.maximum(
            jnp.sum(alive), 1
        )
        moments = _MEMORY * state.moments + (1 - _MEMORY) * squares
        late = moments / (1 - _MEMORY ** (state.number + 1.0))
        fall = 1 - (1 - _LAST) * state.number / config.steps
        epsilon = config.rate * fall / (jnp.sqrt(late) + _REST)
        particles = jnp.where(
            alive[:, None], shrunk(state.particles + epsilon * direction, epsilon), state.particles
        )
        moved = State(particles, alive, moments, h, state.number + 1)
        zero = jnp.sum(particles == 0, axis=1)
        return moved, Info(mean_length(direction, alive), jnp.sum(~alive), {"zero": zero})

    return Sampler(init, step)
