"""Stochastic Stein–Newton: noisy Stein steps in the metric of curvatures (Leviyev et al. 2022; method §5).

As published, the noise is only right where the curvature is the same everywhere: on a skewed target the mean is off by
0.2 standard deviations, whatever the step. So the published steps only move the particles together, in the first half
of the warm-up. Their places and curvatures then become a metric field, the kernel's average of the curvatures around a
point, and every particle makes Langevin steps in it with a Metropolis test, and jumps along the difference of two
others (ter Braak 2006), which know long tails. That is exact for any step, and needs no curvature after the warm-up.
`adjusted = false` keeps to the published steps throughout.
"""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int
from pydantic import Field, model_validator

from steinmetz.infer import kernels, newton
from steinmetz.infer.base import Info, LogDensity, Sampler, Scores, Target, admitted, as_target, mean_length, usable
from steinmetz.infer.curvature import curvature_of
from steinmetz.infer.ssvgd import Noisy, held_width

# Shares of the warm-up after which particles no longer move together, and after which the metric is held; the rest
# finds the length of the tested moves.
_TOGETHER, _SURVEYED = 0.5, 0.75
# Best share of accepted Langevin proposals (Roberts & Rosenthal 1998), the first step, and how fast it is learnt.
_WANTED, _FIRST, _LEARNING = 0.574, 0.3, 2.0
# Weight in the metric of places that are far away.
_FAR = 1e-3
# Jumps: share of long ones, noise that lets them reach every point, and fewest particles that can make them.
_LONG, _BLUR, _FEWEST = 0.1, 1e-4, 6


class Config(Noisy):
    """Curvatures and steps."""

    method: Literal["ssvn"] = "ssvn"
    warm_up: int = Field(300, ge=0, description="steps before the first snapshot")
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
    """Particles with value and slope; `places` and their curvatures make the metric, `step` is the length of moves."""

    particles: Float[Array, "particles dimension"]
    alive: Bool[Array, "particles"]
    value: Float[Array, "particles"]
    score: Float[Array, "particles dimension"]
    places: Float[Array, "particles dimension"]
    curvature: Float[Array, "particles dimension dimension"]
    bandwidth: Float[Array, ""]
    step: Float[Array, ""]
    accepted: Float[Array, "particles"]
    number: Int[Array, ""]


def build(log_density: LogDensity | Target, config: Config) -> Sampler:
    """Warm-up by `newton.together`, then tested moves."""
    target = as_target(log_density)
    curvatures = jax.vmap(curvature_of(target))
    together = round(_TOGETHER * config.warm_up) if config.adjusted else config.warm_up + config.steps
    surveyed = round(_SURVEYED * config.warm_up)

    def init(key: Array, position: Float[Array, "particles dimension"]) -> State:
        particles, alive = admitted(position)
        value, score = target.scores(key, particles)
        one, none = jnp.ones((), particles.dtype), jnp.zeros_like(value)
        unknown = curvatures(particles)
        start = State(particles, alive, value, score, particles, unknown, one, _FIRST * one, none, jnp.zeros((), int))
        return _checked(start)

    def survey(state: State) -> State:
        """The metric of the present places."""
        return _checked(state._replace(places=state.particles, curvature=curvatures(state.particles)))

    def collective(key: Array, state: State) -> State:
        change = newton.together(key, state, config.hessian, config.rate)
        moved = jnp.where(state.alive[:, None], state.particles + change, state.particles)
        value, score = target.scores(key, moved)
        return survey(_checked(state._replace(particles=moved, value=value, score=score)))

    def tested(key: Array, state: State) -> State:
        move_key, *jump_keys = jax.random.split(key, 3)
        due = (state.number < surveyed) & (state.number % config.refresh == 0)
        state = jax.lax.cond(due, survey, lambda same: same, state)
        state, chance = _move(move_key, state, target.scores)
        if len(state.particles) >= _FEWEST:
            for half, jump_key in enumerate(jump_keys):
                state = _jump(jump_key, state, half, target.scores)
        mean = jnp.sum(chance * state.alive) / jnp.maximum(jnp.sum(state.alive), 1)
        warm = state.number < config.warm_up
        gain = jnp.where(warm, _LEARNING / (10 + state.number - together), 0.0)
        step = state.step * jnp.exp(gain * (mean - _WANTED))
        counted = state.accepted + jnp.where(warm, 0.0, chance)
        return state._replace(step=step.astype(state.step.dtype), accepted=counted)

    def step(key: Array, state: State) -> tuple[State, Info]:
        h = held_width(state.particles, state.alive, state.bandwidth, state.number, config.refresh, surveyed)
        state = state._replace(bandwidth=h)
        if config.adjusted:
            state = jax.lax.cond(state.number < together, collective, tested, key, state)
        else:
            state = collective(key, state)
        direction = kernels.direction("rbf", state.particles, state.score, state.alive, h)
        info = Info(mean_length(direction, state.alive), jnp.sum(~state.alive), {"accepted": state.accepted})
        return state._replace(number=state.number + 1), info

    return Sampler(init, step)


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


def _move(key: Array, state: State, scores: Scores) -> tuple[State, Float[Array, "particles"]]:
    """Langevin proposals x' = x + τ A ∇log p + √(2τ) A^½ ξ, each accepted or not; A⁻¹ is the metric at x."""
    noise_key, test_key, score_key = jax.random.split(key, 3)
    x = state.particles
    here = _Proposal.around(x, state.score, state)
    y = here.draw(jax.random.normal(noise_key, x.shape, x.dtype))
    value, score = scores(score_key, y)
    good = usable(state.alive, value, score)
    there = _Proposal.around(y, jnp.where(good[:, None], score, 0.0), state)
    chance = _chance(value - state.value + there.log_density(x) - here.log_density(y), good)
    return _taken(test_key, state, slice(None), chance, (y, value, score)), chance


def _jump(key: Array, state: State, half: int, scores: Scores) -> State:
    """Every second particle proposes x' = x + γ (a − b), a and b of the other half: as likely there as back.

    γ = 2.38/√(2D) suits a Gaussian; one in ten jumps has γ = 1, which may reach another mode.
    """
    mine, other = slice(half, None, 2), slice(1 - half, None, 2)
    first_key, second_key, length_key, noise_key, score_key, test_key = jax.random.split(key, 6)
    x, others = state.particles[mine], state.particles[other]
    count, size = x.shape
    first = jax.random.randint(first_key, (count,), 0, len(others))
    second = (first + jax.random.randint(second_key, (count,), 1, len(others))) % len(others)
    both = state.alive[other][first] & state.alive[other][second]
    long = jax.random.uniform(length_key, (count, 1), x.dtype) < _LONG
    change = jnp.where(long, 1.0, 2.38 / (2 * size) ** 0.5) * (others[first] - others[second])
    y = x + change + _BLUR * jax.random.normal(noise_key, x.shape, x.dtype)
    value, score = scores(score_key, y)
    chance = _chance(value - state.value[mine], usable(state.alive[mine] & both, value, score))
    return _taken(test_key, state, mine, chance, (y, value, score))


def _chance(gain: Float[Array, "some"], good: Bool[Array, "some"]) -> Float[Array, "some"]:
    """min(1, exp gain), never for what is not finite."""
    return jnp.where(good & jnp.isfinite(gain), jnp.exp(jnp.minimum(gain, 0.0)), 0.0)


def _taken(key: Array, state: State, mine: slice, chance: Array, new: tuple[Array, Array, Array]) -> State:
    """The state after every proposal (place, value, slope) was taken with its chance."""
    taken = jax.random.uniform(key, chance.shape, chance.dtype) < chance
    old = (state.particles, state.value, state.score)
    particles, value, score = (
        whole.at[mine].set(jnp.where(taken.reshape(-1, *(1,) * (whole.ndim - 1)), to, whole[mine]))
        for whole, to in zip(old, new, strict=True)
    )
    return state._replace(particles=particles, value=value, score=score)


class _Proposal(NamedTuple):
    """N(mean, 2τ A) for every moving particle; A⁻¹ = L Lᵀ."""

    mean: Float[Array, "some dimension"]
    lower: Float[Array, "some dimension dimension"]
    step: Float[Array, ""]

    @staticmethod
    def around(x: Float[Array, "some dimension"], score: Float[Array, "some dimension"], state: State) -> "_Proposal":
        """A⁻¹ = Σ_p w_p C_p / Σ_p w_p over the surveyed places, w = k² and a little of all of them."""
        middle = jnp.mean(state.places, axis=0)
        squared = kernels.squared_distances(x - middle, state.places - middle)
        weight = (kernels.gram("rbf", squared, state.bandwidth).value ** 2 + _FAR) * state.alive
        size = x.shape[1]
        shared = weight @ state.curvature.reshape(-1, size * size) / jnp.sum(weight, axis=1, keepdims=True)
        lower = jnp.linalg.cholesky(shared.reshape(-1, size, size))
        ahead = jax.vmap(lambda low, slope: jax.scipy.linalg.cho_solve((low, True), slope))(lower, score)
        return _Proposal(x + state.step * ahead, lower, state.step)

    def draw(self, noise: Float[Array, "some dimension"]) -> Float[Array, "some dimension"]:
        back = jax.vmap(lambda low, row: jax.scipy.linalg.solve_triangular(low, row, trans=1, lower=True))
        return self.mean + jnp.sqrt(2 * self.step) * back(self.lower, noise)

    def log_density(self, y: Float[Array, "some dimension"]) -> Float[Array, "some"]:
        white = jnp.einsum("sji,sj->si", self.lower, y - self.mean)
        volume = jnp.sum(jnp.log(jnp.diagonal(self.lower, axis1=1, axis2=2)), axis=1)
        return volume - jnp.sum(white**2, axis=1) / (4 * self.step)
