"""Stochastic SVGD: Stein steps with the noise that makes them exact on average (Gallego & Insua 2018; method §5)."""

from typing import ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int
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

# Least motion of its own that every particle has: coincident ones come apart.
_JITTER = 1e-6


class Noisy(Settings):
    """Particles that keep moving: snapshots of them are draws."""

    particles: int = Field(50, ge=1, le=5000, description="laws that move together")
    warm_up: int = Field(
        500, ge=0, description="steps before the first snapshot; the kernel's width is then held"
    )
    steps: int = Field(2000, ge=1, description="steps after the warm-up")
    thin: int = Field(
        50, ge=1, description="steps between two snapshots of the particles, all of which are kept"
    )

    @property
    def width(self) -> int:
        return self.particles

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.steps, burn=self.warm_up, thin=min(self.thin, self.steps))


class Config(Noisy):
    """Size of the steps."""

    capabilities: ClassVar[Capabilities] = Capabilities(snapshots=True)
    method: Literal["ssvgd"] = "ssvgd"
    refresh: int = Field(
        10, ge=1, description="steps between two looks at the kernel's width during the warm-up"
    )
    rate: float = Field(0.05, gt=0, le=1, description="size of a step, in posterior variances")
    own: float = Field(
        1.0,
        ge=0,
        le=100,
        description="Langevin motion of every particle alone, beside the common one; 0 as published",
    )
    batch: int | None = Field(
        None, ge=1, description="data drawn anew for every step; all of them if not given"
    )

    @property
    def batch_size(self) -> int | None:
        return self.batch


class State(NamedTuple):
    particles: Float[Array, "particles dimension"]
    alive: Bool[Array, "particles"]
    bandwidth: Float[Array, ""]
    number: Int[Array, ""]


def build(log_density: LogDensity | Target, config: Config) -> Sampler:
    """x ← x + r [(K + own I) ∇log p + ∇·K] + √(2r) L ξ, with (K + own I) = L Lᵀ and r the rate.

    The drift belongs to the noise, so the law of the particles is kept in the limit of small steps for any kernel; the
    kernel's width must not depend on them, so it is held after the warm-up. In few dimensions the Gram matrix alone
    hardly moves near particles apart: `own` does.
    """
    target, own = as_target(log_density), max(config.own, _JITTER)

    def init(key: Array, position: Float[Array, "particles dimension"]) -> State:
        particles, alive = admitted(position)
        return State(particles, alive, jnp.ones((), particles.dtype), jnp.zeros((), int))

    def step(key: Array, state: State) -> tuple[State, Info]:
        batch_key, noise_key = jax.random.split(key)
        value, score = target.values_and_slopes(batch_key, state.particles)
        alive = usable(state.alive, value, score)
        h = held_width(
            state.particles, alive, state.bandwidth, state.number, config.refresh, config.warm_up
        )
        direction = kernels.direction("rbf", state.particles, score, alive, h)
        noise = correlated(noise_key, state.particles, alive, h, own)
        drift = jnp.sum(alive) * direction + own * score
        change = limited(config.rate * drift) + jnp.sqrt(2 * config.rate) * noise
        particles = state.particles + jnp.where(alive[:, None], change, 0.0)
        return State(particles, alive, h, state.number + 1), Info(
            mean_length(direction, alive), jnp.sum(~alive), {}
        )

    return Sampler(init, step)


def limited(drift: Float[Array, "particles dimension"]) -> Float[Array, "particles dimension"]:
    """No drift longer than √dimension posterior deviations in one step: steep densities would explode it."""
    lengths = jnp.linalg.norm(drift, axis=1, keepdims=True)
    return drift * jnp.minimum(1.0, drift.shape[1] ** 0.5 / jnp.maximum(lengths, 1e-300))


def held_width(
    particles: Array, alive: Array, width: Array, number: Array, refresh: int, warm_up: int
) -> Float[Array, ""]:
    """The median heuristic now and then during the warm-up (and once where there is none), the last value after it."""
    due = (number == 0) | ((number % refresh == 0) & (number < warm_up))
    return jax.lax.cond(due, kernels.bandwidth, lambda *_: width, particles, alive)


def correlated(
    key: Array,
    particles: Float[Array, "particles dimension"],
    alive: Bool[Array, "particles"],
    h: Float[Array, ""],
    own: float,
) -> Float[Array, "particles dimension"]:
    """L ξ: normal numbers whose covariance between particles is the Gram matrix of the living ones, and `own` more."""
    x = particles - jnp.mean(particles, axis=0)
    both = alive[:, None] & alive[None, :]
    gram = jnp.where(both, kernels.gram("rbf", kernels.squared_distances(x, x), h).value, 0.0)
    lower = jnp.linalg.cholesky(gram + jnp.diag(jnp.where(alive, own, 1.0)))
    return lower @ jax.random.normal(key, particles.shape, particles.dtype)
