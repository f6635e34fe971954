"""Stein variational gradient descent (Liu & Wang 2016; method §5): RBF, IMQ or bilinear kernel, median heuristic."""

from typing import ClassVar, Literal, NamedTuple

import jax.numpy as jnp
import optax
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

_REST = 0.1


class Config(Settings):
    """Particles and steps."""

    capabilities: ClassVar[Capabilities] = Capabilities(rests=True)
    method: Literal["svgd"] = "svgd"
    particles: int = Field(500, ge=1, le=100_000, description="laws in the ensemble")
    steps: int = Field(2000, ge=1, description="steps of the particles")
    kernel: kernels.Name = Field("rbf", description="kernel: rbf, imq, or bilinear (with the RBF)")
    optimiser: Literal["adam", "plain", "adagrad"] = Field(
        "adam", description="how a direction becomes a step"
    )
    refresh: int = Field(
        10, ge=1, description="steps between two looks at the median distance (the kernel's width)"
    )
    rate: float = Field(0.1, gt=0, le=10, description="learning rate")
    tolerance: float = Field(
        2e-4,
        ge=0,
        description="stop when the mean Stein direction is shorter, in posterior standard deviations",
    )
    batch: int | None = Field(
        None, ge=1, description="data drawn anew for every step; all of them if not given"
    )

    @property
    def batch_size(self) -> int | None:
        return self.batch

    @property
    def width(self) -> int:
        return self.particles

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.steps, tolerance=self.tolerance)


class State(NamedTuple):
    """What the next step needs. A particle whose density or slope was not finite is no longer `alive`: it stays put."""

    particles: Float[Array, "particles dimension"]
    alive: Bool[Array, "particles"]
    moments: optax.OptState
    bandwidth: Float[Array, ""]
    number: Int[Array, ""]


def optimiser_of(config: Config) -> optax.GradientTransformation:
    """Adam with a large ε: near rest, steps shrink with the direction instead of keeping their length."""
    if config.optimiser == "adam":
        return optax.adam(config.rate, eps=_REST)
    return optax.sgd(config.rate) if config.optimiser == "plain" else optax.adagrad(config.rate)


def build(log_density: LogDensity | Target, config: Config) -> Sampler:
    """θ_i ← θ_i + ε φ(θ_i), ε by the optimiser; φ as in `kernels.direction`."""
    target, optimiser = as_target(log_density), optimiser_of(config)

    def init(key: Array, position: Float[Array, "particles dimension"]) -> State:
        particles, alive = admitted(position)
        return State(
            particles,
            alive,
            optimiser.init(particles),
            jnp.ones((), particles.dtype),
            jnp.zeros((), int),
        )

    def step(key: Array, state: State) -> tuple[State, Info]:
        value, score = target.values_and_slopes(key, state.particles)
        alive = usable(state.alive, value, score)
        h = kernels.refreshed(state.bandwidth, state.particles, alive, state.number, config.refresh)
        direction = kernels.direction(config.kernel, state.particles, score, alive, h)
        change, moments = optimiser.update(-direction, state.moments)
        particles = state.particles + jnp.where(alive[:, None], change, 0.0)
        moved = State(particles, alive, moments, h, state.number + 1)
        return moved, Info(mean_length(direction, alive), jnp.sum(~alive), {})

    return Sampler(init, step)
