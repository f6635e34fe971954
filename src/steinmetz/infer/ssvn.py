"""Stochastic Stein–Newton: noisy Stein steps in the metric of curvatures (Leviyev et al. 2022; method §5).

As published, the noise is only right where the curvature is the same everywhere: on a skewed target the mean is off by
0.2 standard deviations, whatever the step. So particles are first moved together as published (warm-up), and then one
half at a time, in the metric the kernel averages around each of them, with a Metropolis test per particle. That is
exact for any step and needs no derivative of the curvature. `adjusted = false` keeps to the published steps throughout.
"""

from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int
from pydantic import Field, model_validator

from steinmetz.infer import kernels, newton
from steinmetz.infer.base import Info, LogDensity, Sampler, Target, admitted, as_target, mean_length, usable
from steinmetz.infer.curvature import curvature_of
from steinmetz.infer.ssvgd import Noisy, held_width

# Share of the warm-up that is spent on moving together; the rest finds the step of the tested moves.
_TOGETHER = 0.5
# Best share of accepted Langevin proposals (Roberts & Rosenthal 1998), the first step, and how fast it is learnt.
_WANTED, _FIRST, _LEARNING = 0.574, 0.3, 2.0


class Config(Noisy):
    """Curvatures and steps."""

    method: Literal["ssvn"] = "ssvn"
    warm_up: int = Field(300, ge=0, description="steps before the first snapshot")
    steps: int = Field(400, ge=1, description="steps after the warm-up")
    thin: int = Field(10, ge=1, description="steps between two snapshots of the particles, all of which are kept")
    refresh: int = Field(10, ge=1, description="steps between two looks at the kernel's width during the warm-up")
    rate: float = Field(0.1, gt=0, le=1, description="size of a step that moves all particles together")
    hessian: Literal["block", "full"] = Field(
        "block",
        description="curvature of every particle alone, or of all of them coupled (particles × parameters ≤ 2000)",
    )
    adjusted: bool = Field(True, description="test every move after the warm-up, so that no step is too large")

    @model_validator(mode="after")
    def _needs_warm_up(self) -> "Config":
        if self.adjusted and self.warm_up < 20:
            raise ValueError("infer.warm_up: ssvn needs at least 20 steps to find the size of its moves")
        return self


class State(NamedTuple):
    """Particles with value, slope and curvature; `step` is the length of the tested moves."""

    particles: Float[Array, "particles dimension"]
    alive: Bool[Array, "particles"]
    value: Float[Array, "particles"]
    score: Float[Array, "particles dimension"]
    curvature: Float[Array, "particles dimension dimension"]
    bandwidth: Float[Array, ""]
    step: Float[Array, ""]
    accepted: Float[Array, "particles"]
    number: Int[Array, ""]


def build(log_density: LogDensity | Target, config: Config) -> Sampler:
    """Warm-up by `newton.together`, then tested moves of one half and the other."""
    target = as_target(log_density)
    curvatures = jax.vmap(curvature_of(target))
    together = round(_TOGETHER * config.warm_up) if config.adjusted else config.warm_up + config.steps

    def at(key: Array, particles: Float[Array, "particles dimension"]) -> tuple[Array, Array, Array]:
        value, score = target.scores(key, particles)
        return value, score, curvatures(particles)

    def init(key: Array, position: Float[Array, "particles dimension"]) -> State:
        particles, alive = admitted(position)
        value, score, curvature = at(key, particles)
        one, none = jnp.ones((), particles.dtype), jnp.zeros_like(value)
        start = State(particles, alive, value, score, curvature, one, _FIRST * one, none, jnp.zeros((), int))
        return _checked(start)

    def collective(key: Array, state: State) -> State:
        change = newton.together(key, state, config.hessian, config.rate)
        moved = jnp.where(state.alive[:, None], state.particles + change, state.particles)
        return _checked(state._replace(particles=moved, **dict(zip(_KNOWN, at(key, moved), strict=True))))

    def tested(key: Array, state: State) -> State:
        first_key, second_key = jax.random.split(key)
        state, first = _move_half(first_key, state, 0, at)
        state, second = _move_half(second_key, state, 1, at)
        share = jnp.zeros_like(state.value).at[0::2].set(first).at[1::2].set(second)
        mean = jnp.sum(share * state.alive) / jnp.maximum(jnp.sum(state.alive), 1)
        gain = jnp.where(state.number < config.warm_up, _LEARNING / (10 + state.number - together), 0.0)
        counted = jnp.where(state.number < config.warm_up, 0.0, share)
        step = state.step * jnp.exp(gain * (mean - _WANTED))
        return state._replace(step=step.astype(state.step.dtype), accepted=state.accepted + counted)

    def step(key: Array, state: State) -> tuple[State, Info]:
        h = held_width(state.particles, state.alive, state.bandwidth, state.number, config.refresh, config.warm_up)
        state = state._replace(bandwidth=h)
        if config.adjusted:
            state = jax.lax.cond(state.number < together, collective, tested, key, state)
        else:
            state = collective(key, state)
        direction = kernels.direction("rbf", state.particles, state.score, state.alive, h)
        info = Info(mean_length(direction, state.alive), jnp.sum(~state.alive), {"accepted": state.accepted})
        return state._replace(number=state.number + 1), info

    return Sampler(init, step)


_KNOWN = ("value", "score", "curvature")


def _checked(state: State) -> State:
    """Particles without a finite density, slope and curvature are no longer used; their entries are made harmless."""
    finite = jnp.all(jnp.isfinite(state.curvature), axis=(1, 2))
    alive = usable(state.alive, state.value, state.score) & finite
    unit = jnp.eye(state.particles.shape[1], dtype=state.particles.dtype)
    return state._replace(
        alive=alive,
        value=jnp.where(alive, state.value, 0.0),
        score=jnp.where(alive[:, None], state.score, 0.0),
        curvature=jnp.where(alive[:, None, None], state.curvature, unit),
    )


def _move_half(key: Array, state: State, half: int, at: Any) -> tuple[State, Float[Array, "half"]]:
    """Langevin proposals of every second particle, x' = x + τ A ∇log p + √(2τ) A^½ ξ, each accepted or not.

    A⁻¹ is the curvature around x, averaged with k² over x itself and the other half, which stays: so the pair of
    proposal and its way back is known, and the test is exact.
    """
    mine, other = slice(half, None, 2), slice(1 - half, None, 2)
    noise_key, test_key, at_key = jax.random.split(key, 3)
    x, value, score, own = (field[mine] for field in (state.particles, state.value, state.score, state.curvature))
    others = (state.particles[other], state.alive[other], state.curvature[other])
    noise = jax.random.normal(noise_key, x.shape, x.dtype)
    here = _Proposal.around(x, score, own, others, state.bandwidth, state.step)
    y = here.draw(noise)
    new_value, new_score, new_own = at(at_key, y)
    good = usable(state.alive[mine], new_value, new_score) & jnp.all(jnp.isfinite(new_own), axis=(1, 2))
    safe = jnp.where(good[:, None, None], new_own, own)
    there = _Proposal.around(y, jnp.where(good[:, None], new_score, score), safe, others, state.bandwidth, state.step)
    gain = new_value - value + there.log_density(x) - here.log_density(y)
    chance = jnp.where(good & jnp.isfinite(gain), jnp.exp(jnp.minimum(gain, 0.0)), 0.0)
    taken = jax.random.uniform(test_key, chance.shape, x.dtype) < chance
    fresh = {"particles": y, "value": new_value, "score": new_score, "curvature": new_own}
    kept = {"particles": x, "value": value, "score": score, "curvature": own}
    chosen = {name: getattr(state, name).at[mine].set(_where(taken, fresh[name], kept[name])) for name in fresh}
    return state._replace(**chosen), chance


def _where(taken: Array, new: Array, old: Array) -> Array:
    return jnp.where(taken.reshape(-1, *(1,) * (new.ndim - 1)), new, old)


class _Proposal(NamedTuple):
    """N(mean, 2τ A) for every moving particle; A⁻¹ = L Lᵀ."""

    mean: Float[Array, "half dimension"]
    lower: Float[Array, "half dimension dimension"]
    step: Float[Array, ""]

    @staticmethod
    def around(x: Array, score: Array, own: Array, others: tuple[Array, Array, Array], h: Array, step: Array) -> Any:
        places, alive, curvature = others
        middle = jnp.mean(x, axis=0)
        near = kernels.gram("rbf", kernels.squared_distances(x - middle, places - middle), h).value
        weight = jnp.where(alive[None, :], near**2, 0.0)
        size = curvature.shape[1]
        shared = (weight @ curvature.reshape(-1, size * size)).reshape(-1, size, size)
        lower = jnp.linalg.cholesky((own + shared) / (1 + jnp.sum(weight, axis=1))[:, None, None])
        ahead = jax.vmap(lambda low, slope: jax.scipy.linalg.cho_solve((low, True), slope))(lower, score)
        return _Proposal(x + step * ahead, lower, step)

    def draw(self, noise: Float[Array, "half dimension"]) -> Float[Array, "half dimension"]:
        back = jax.vmap(lambda low, row: jax.scipy.linalg.solve_triangular(low, row, trans=1, lower=True))
        return self.mean + jnp.sqrt(2 * self.step) * back(self.lower, noise)

    def log_density(self, y: Float[Array, "half dimension"]) -> Float[Array, "half"]:
        white = jnp.einsum("sji,sj->si", self.lower, y - self.mean)
        volume = jnp.sum(jnp.log(jnp.diagonal(self.lower, axis1=1, axis2=2)), axis=1)
        return volume - jnp.sum(white**2, axis=1) / (4 * self.step)
