"""Stein flow with an L1 prior: sparse and uncertain at once (the paper's outlook; method §7).

What it samples. Let p be the given density. In the first part of the run every particle goes alone
to a maximum of log p − λ Σ|θ| (the lasso, by proximal steps): coordinates that p holds less firmly
than λ become exactly zero. In the second part the particles are those of SVGD for the density
p · exp(−λ Σ|θ|) of the coordinates that are not zero, the others staying at zero as long as the
slope of log p there is below λ. So the draws are the posterior under the L1 prior *on the face of
the parameter space that the lasso leaves*: zeros are those of the most probable point, not of the
posterior, in which no coordinate is exactly zero with any probability.

Every coordinate has its own step ε, smaller the larger its directions are of late, and falling over
the run: this changes the way and not where it ends. The coordinates are the density's own: an L1
prior knows the axes, so nothing is whitened.
"""

from typing import ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool
from pydantic import Field

from steinmetz.infer import kernels
from steinmetz.infer.base import Capabilities, Info, Sampler, Target, admitted, usable
from steinmetz.infer.particles import Flow, FlowState, FlowSteps, Rate, Width, first
from steinmetz.infer.schedule import Schedule
from steinmetz.shapes import Alive, Particles, Scalar, Vector

# Share of the mean square direction that one step leaves as it is: some twenty steps count for ε.
_MEMORY = 0.95
# Direction, in the density's own units, below which ε no longer grows.
_REST = 0.1
# Share of the steps in which every particle goes alone.
_ALONE = 0.4
# How far particles that have met are moved apart, as a share of each coordinate.
_APART = 0.1
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
    """Each alone to its lasso; then forward along the Stein direction of the whole posterior.

    Signs are kept: what would become negative against them becomes zero.
    """
    together = round(_ALONE * config.steps)

    def sign(dimension: int) -> Bool[np.ndarray, "dimension"]:
        """Which coordinates may not be negative."""
        fixed = np.zeros(dimension, bool)
        fixed[list(config.nonnegative)] = True
        return fixed

    def init(key: Array, position: Particles) -> FlowState:
        particles, alive = admitted(position)
        particles = jnp.where(sign(particles.shape[1]), jnp.abs(particles), particles)
        return first(particles, alive, jnp.zeros(particles.shape[1], particles.dtype))

    def spread(state: FlowState, key: Array) -> Particles:
        """Particles that met at their lasso come apart a little, where they are not zero."""
        x = state.particles
        apart = x * (1 + _APART * jax.random.normal(key, x.shape, x.dtype))
        return jnp.where(state.number == together, apart, x)

    def step(key: Array, state: FlowState) -> tuple[FlowState, Info]:
        x, number = spread(state, key), state.number
        value, slope = target.values_and_slopes(key, x)
        alive, alone = usable(state.alive, value, slope), number < together
        h = kernels.refreshed(state.bandwidth, x, alive, number, config.refresh)
        pull = _pulls(config, x, slope, alive, h)
        pull = Pull(*(jnp.where(alone, a, b) for a, b in zip(_own(x, slope), pull, strict=True)))
        full = pull.slope - config.penalty * pull.prior
        total = jnp.sum(jnp.where(alive[:, None], full, 0.0) ** 2, axis=0)
        squares = total / jnp.maximum(jnp.sum(alive), 1)
        moments = _MEMORY * state.moments + (1 - _MEMORY) * squares
        late = moments / (1 - _MEMORY ** (number + 1.0))
        fall = 1 - (1 - _LAST) * number / config.steps
        epsilon = config.rate * fall / (jnp.sqrt(late) + _REST)
        moved = _moved(x, pull, epsilon, config.penalty)
        moved = jnp.where(sign(x.shape[1]) & (moved < 0), 0.0, moved)
        particles = jnp.where(alive[:, None], moved, x)
        facts = {"zero": jnp.sum(particles == 0, axis=1)}
        after = FlowState(particles, alive, moments, h, number + 1)
        return after, Info.of(full, alive, facts)

    return Sampler(init, step)


class Pull(NamedTuple):
    """What acts on a particle: the direction of p, that of Σ|θ|, and the weight of the kernel.

    All three are averages with the same kernel, so that λ is weighed against p as the density says.
    """

    slope: Particles
    prior: Particles
    weight: Particles


def _own(x: Particles, slope: Particles) -> Pull:
    """Of a particle alone."""
    return Pull(slope, jnp.sign(x), jnp.ones_like(x))


def _pulls(config: Config, x: Particles, slope: Particles, alive: Alive, h: Scalar) -> Pull:
    """By the kernel; only particles push each other that are both not zero in a coordinate.

    Σ_j g_ij (x_i − x_j) m_i m_j for every coordinate, m = 0 at zero, g = −2 ∂k/∂r².
    """
    centre = kernels.cloud(x, alive)
    squared = kernels.squared_distances(centre.x, centre.x)
    at = kernels.gram(config.kernel, squared, h)
    near, steep = (part * alive[None, :] / centre.living for part in at)
    free = jnp.where(x != 0, 1.0, 0.0)
    push = free * (x * (steep @ free) - steep @ (x * free))
    weight = jnp.broadcast_to(jnp.sum(near, axis=1)[:, None], x.shape)
    return Pull(near @ slope + push, near @ jnp.sign(x), weight)


def _moved(x: Particles, pull: Pull, epsilon: Vector, penalty: float) -> Particles:
    """x + ε (slope − λ prior); through zero only where the slope is steeper than λ.

    A coordinate at zero leaves it by the proximal step of λ, weighed by the kernel as the slope is.
    """
    held = jnp.abs(pull.slope) <= penalty * pull.weight
    ahead = x + epsilon * (pull.slope - penalty * pull.prior)
    crossed = jnp.where((jnp.sign(ahead) != jnp.sign(x)) & held, 0.0, ahead)
    out = jnp.maximum(jnp.abs(pull.slope) - penalty * pull.weight, 0.0)
    return jnp.where(x == 0, epsilon * jnp.sign(pull.slope) * out, crossed)
