"""Stochastic SVGD: Stein steps with the noise that makes them exact on average (Gallego & Insua 2018; method §5)."""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int
from pydantic import Field

from steinmetz.infer import kernels
from steinmetz.infer.base import (
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

# Added to the diagonal of the Gram matrix, as noise of its own for every particle: coincident ones come apart.
_JITTER = 1e-6


class Noisy(Settings):
    """Particles that keep moving: snapshots of them are draws."""

    particles: int = Field(50, ge=1, le=5000, description="laws that move together")
    warm_up: int = Field(500, ge=0, description="steps before the first snapshot; the kernel's width is then held")
    steps: int = Field(2000, ge=1, description="steps after the warm-up")
    thin: int = Field(50, ge=1, description="steps between two snapshots of the particles, all of which are kept")

    @property
    def width(self) -> int:
        return self.particles

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.steps, burn=self.warm_up, thin=min(self.thin, self.steps))


class Config(Noisy):
    """Size of the steps."""

    method: Literal["ssvgd"] = "ssvgd"
    refresh: int = Field(10, ge=1, description="steps between two looks at the kernel's width during the warm-up")
    rate: float = Field(0.05, gt=0, le=1, description="step of a particle on its own, in posterior variances")
    batch: int | None = Field(None, ge=1, description="data drawn anew for every step; all of them if not given")


class State(NamedTuple):
    particles: Float[Array, "particles dimension"]
    alive: Bool[Array, "particles"]
    bandwidth: Float[Array, ""]
    number: Int[Array, ""]


def build(log_density: LogDensity | Target, config: Config) -> Sampler:
    """x ← x + ε φ(x) + √(2ε/S) L ξ with K = L Lᵀ and ε = S · rate, so that a particle alone makes Langevin steps.

    The drift is K ∇log p + ∇·K over S, so the law of the particles is kept in the limit of small steps for any kernel;
    the kernel's width must not depend on them, so it is held after the warm-up.
    """
    target = as_target(log_density)

    def init(key: Array, position: Float[Array, "particles dimension"]) -> State:
        particles, alive = admitted(position)
        return State(particles, alive, jnp.ones((), particles.dtype), jnp.zeros((), int))

    def step(key: Array, state: State) -> tuple[State, Info]:
        batch_key, noise_key = jax.random.split(key)
        value, score = target.scores(batch_key, state.particles)
        alive = usable(state.alive, value, score)
        h = held_width(state.particles, alive, state.bandwidth, state.number, config.refresh, config.warm_up)
        direction = kernels.direction("rbf", state.particles, score, alive, h)
        noise = correlated(noise_key, state.particles, alive, h)
        count = jnp.sum(alive)
        change = config.rate * count * direction + jnp.sqrt(2 * config.rate) * noise
        particles = state.particles + jnp.where(alive[:, None], change, 0.0)
        return State(particles, alive, h, state.number + 1), Info(mean_length(direction, alive), jnp.sum(~alive), {})

    return Sampler(init, step)


def held_width(
    particles: Array, alive: Array, width: Array, number: Array, refresh: int, warm_up: int
) -> Float[Array, ""]:
    """The median heuristic now and then during the warm-up (and once where there is none), the last value after it."""
    due = (number == 0) | ((number % refresh == 0) & (number < warm_up))
    return jax.lax.cond(due, kernels.bandwidth, lambda *_: width, particles, alive)


def correlated(
    key: Array, particles: Float[Array, "particles dimension"], alive: Bool[Array, "particles"], h: Float[Array, ""]
) -> Float[Array, "particles dimension"]:
    """L ξ: normal numbers whose covariance between particles is the Gram matrix of the living ones."""
    x = particles - jnp.mean(particles, axis=0)
    both = alive[:, None] & alive[None, :]
    gram = jnp.where(both, kernels.gram("rbf", kernels.squared_distances(x, x), h).value, 0.0)
    own = jnp.where(alive, _JITTER, 1.0)
    lower = jnp.linalg.cholesky(gram + jnp.diag(own))
    return lower @ jax.random.normal(key, particles.shape, particles.dtype)
