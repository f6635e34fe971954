"""Stochastic Stein–Newton: noisy Stein steps in the metric of curvatures (Leviyev et al. 2022; method §5).

As published, the noise is only right where the curvature is the same everywhere: on a skewed target the mean is off by
0.2 standard deviations, whatever the step. So the published steps only move the particles together, in the first half
of the warm-up. Their places and curvatures then become a metric field, the kernel's average of the curvatures around a
point, and every particle makes Langevin steps in it with a Metropolis test, and jumps along the difference of two
others (ter Braak 2006), which know long tails. That is exact for any step, and needs no curvature after the warm-up.
`adjusted = false` keeps to the published steps throughout.
"""

from typing import ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int
from pydantic import Field, model_validator

from steinmetz.infer import kernels, newton
from steinmetz.infer.base import (
    Capabilities,
    Info,
    LogDensity,
    Sampler,
    Target,
    admitted,
    as_target,
    mean_length,
    usable,
)
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


# Share of accepted moves that the warm-up should have led to: too few hardly move, too many are too short.
_BAND = (0.3, 0.95)


class Config(Noisy):
    """Curvatures and steps."""

    capabilities: ClassVar[Capabilities] = Capabilities(snapshots=True, acceptance=_BAND)
    method: Literal["ssvn"] = "ssvn"
    warm_up: int = Field(400, ge=0, description="steps before the first snapshot")
    steps: int = Field(4000, ge=1, description="steps after the warm-up")
    thin: int = Field(
        100, ge=1, description="steps between two snapshots of the particles, all of which are kept"
    )
    refresh: int = Field(
        10, ge=1, description="steps between two looks at the kernel's width during the warm-up"
    )
    rate: float = Field(
        0.1, gt=0, le=1, description="size of a step that moves all particles together"
    )
    hessian: Literal["block", "full"] = Field(
        "block",
        description="curvature of every particle alone, or of all of them coupled (particles × parameters ≤ 2000)",
    )
    adjusted: bool = Field(
        True, description="test every move after the warm-up, so that no step is too large"
    )

    @model_validator(mode="after")
    def _needs_warm_up(self) -> "Config":
        if self.adjusted and self.warm_up < 20:
            raise ValueError(
                "infer.warm_up: ssvn needs at least 20 steps to find the size of its moves"
            )
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
    tried: Float[Array, "particles"]
    number: Int[Array, ""]


def build(log_density: LogDensity | Target, config: Config) -> Sampler:
    """Every step proposes places for all particles, evaluates them, and takes those that pass.

    Density and curvature stand in one place each, because they are most of the compiled program.
    """
    target = as_target(log_density)
    curvatures = jax.vmap(curvature_of(target))
    together = (
        round(_TOGETHER * config.warm_up) if config.adjusted else config.warm_up + config.steps
    )
    surveyed = round(_SURVEYED * config.warm_up)

    def init(key: Array, position: Float[Array, "particles dimension"]) -> State:
        particles, alive = admitted(position)
        count, size = particles.shape
        one, none = jnp.ones((), particles.dtype), jnp.zeros(count, particles.dtype)
        round_ = jnp.broadcast_to(jnp.eye(size, dtype=particles.dtype), (count, size, size))
        number, flat = jnp.zeros((), int), jnp.zeros_like(particles)
        return State(
            particles, alive, none, flat, particles, round_, one, _FIRST * one, none, none, number
        )

    def survey(state: State) -> State:
        """The metric of the present places; a particle without a finite curvature is no longer used."""
        found = curvatures(state.particles)
        alive = state.alive & jnp.all(jnp.isfinite(found), axis=(1, 2))
        unit = jnp.eye(found.shape[1], dtype=found.dtype)
        return state._replace(
            alive=alive,
            places=state.particles,
            curvature=jnp.where(alive[:, None, None], found, unit),
        )

    def proposed(key: Array, state: State) -> tuple[Array, Array, Array]:
        """Places, the logarithm of how likely they were proposed, and which particles are meant to move."""
        stay = (state.particles, jnp.zeros_like(state.value), state.alive)

        def collective() -> tuple[Array, Array, Array]:
            return state.particles + newton.together(
                key, state, config.hessian, config.rate
            ), *stay[1:]

        def langevin() -> tuple[Array, Array, Array]:
            here = _Proposal.around(state.particles, state.score, state)
            y = here.draw(jax.random.normal(key, state.particles.shape, state.particles.dtype))
            return y, here.log_density(y), state.alive

        ways = (lambda: stay, collective, langevin, lambda: _jump(key, state))
        return jax.lax.switch(_kind(state.number, together, len(state.particles)), ways)

    def step(key: Array, state: State) -> tuple[State, Info]:
        h = held_width(
            state.particles, state.alive, state.bandwidth, state.number, config.refresh, surveyed
        )
        due = (state.number < together) | (
            (state.number < surveyed) & (state.number % config.refresh == 0)
        )
        state = jax.lax.cond(
            due & (state.number > 0), survey, lambda same: same, state._replace(bandwidth=h)
        )
        propose_key, score_key, test_key = jax.random.split(key, 3)
        y, ahead, moving = proposed(propose_key, state)
        new = (y, *target.values_and_slopes(score_key, y))
        kind = _kind(state.number, together, len(state.particles))
        state, chance = _tested(test_key, state, new, ahead, moving, kind)
        state = _learnt(state, chance, kind, together, config.warm_up)
        direction = kernels.direction("rbf", state.particles, state.score, state.alive, h)
        facts = {"accepted": state.accepted, "tried": state.tried}
        info = Info(mean_length(direction, state.alive), jnp.sum(~state.alive), facts)
        return state._replace(number=state.number + 1), info

    return Sampler(init, step)


# What a step does: look at the start, move all together, a Langevin move, a jump.
_LOOK, _ALL, _LANGEVIN, _JUMP = range(4)


def _kind(number: Int[Array, ""], together: int, count: int) -> Int[Array, ""]:
    """First a look, then all together, then moves and jumps by turns."""
    later = jnp.where((number % 2 == 1) & (count >= _FEWEST), _JUMP, _LANGEVIN)
    return jnp.where(number == 0, _LOOK, jnp.where(number < together, _ALL, later))


def _tested(
    key: Array,
    state: State,
    new: tuple[Array, Array, Array],
    ahead: Array,
    moving: Array,
    kind: Int[Array, ""],
) -> tuple[State, Float[Array, "particles"]]:
    """Proposals (place, value, slope) taken with their chance; looks and common moves are taken as they are.

    Then a particle whose density or slope is not finite is lost, and stays.
    """
    y, value, score = new
    good = usable(moving, value, score)
    there = _Proposal.around(
        jnp.where(good[:, None], y, state.particles), jnp.where(good[:, None], score, 0.0), state
    )
    back = jnp.where(kind == _LANGEVIN, there.log_density(state.particles), 0.0)
    gain = value - state.value + back - ahead
    chance = jnp.where(good & jnp.isfinite(gain), jnp.exp(jnp.minimum(gain, 0.0)), 0.0)
    free = kind <= _ALL
    taken = jnp.where(free, good, jax.random.uniform(key, chance.shape, chance.dtype) < chance)
    moved = state._replace(
        particles=jnp.where(taken[:, None], y, state.particles),
        value=jnp.where(taken, value, state.value),
        score=jnp.where(taken[:, None], score, state.score),
        alive=jnp.where(free, good, state.alive),
    )
    return moved, chance


def _learnt(
    state: State, chance: Array, kind: Int[Array, ""], together: int, warm_up: int
) -> State:
    """The length of Langevin moves, learnt from their chances in the warm-up and only counted later."""
    mean = jnp.sum(chance * state.alive) / jnp.maximum(jnp.sum(state.alive), 1)
    mine, warm = kind == _LANGEVIN, state.number < warm_up
    gain = jnp.where(mine & warm, 2 * _LEARNING / (20 + state.number - together), 0.0)
    step = state.step * jnp.exp(gain * (mean - _WANTED))
    counts = mine & ~warm
    accepted, tried = state.accepted + jnp.where(counts, chance, 0.0), state.tried + counts
    return state._replace(step=step.astype(state.step.dtype), accepted=accepted, tried=tried)


def _jump(key: Array, state: State) -> tuple[Array, Array, Array]:
    """Every second particle proposes x' = x + γ (a − b), a and b of the other half, which stays: as likely as back.

    γ = 2.38/√(2D) suits a Gaussian; one in ten jumps has γ = 1, which may reach another mode.
    """
    first_key, second_key, length_key, noise_key = jax.random.split(key, 4)
    x = state.particles
    count, size = x.shape
    half = (state.number // 2) % 2
    others = (count + half) // 2  # half 0 moves the even ones, of the others there are count // 2
    first = jax.random.randint(first_key, (count,), 0, others)
    second = (first + jax.random.randint(second_key, (count,), 1, others)) % others
    first, second = 2 * first + 1 - half, 2 * second + 1 - half
    long = jax.random.uniform(length_key, (count, 1), x.dtype) < _LONG
    change = jnp.where(long, 1.0, 2.38 / (2 * size) ** 0.5) * (x[first] - x[second])
    y = x + change + _BLUR * jax.random.normal(noise_key, x.shape, x.dtype)
    moving = (
        state.alive & state.alive[first] & state.alive[second] & (jnp.arange(count) % 2 == half)
    )
    return jnp.where(moving[:, None], y, x), jnp.zeros_like(state.value), moving


class _Proposal(NamedTuple):
    """N(mean, 2τ A) for every moving particle; A⁻¹ = L Lᵀ."""

    mean: Float[Array, "some dimension"]
    lower: Float[Array, "some dimension dimension"]
    step: Float[Array, ""]

    @staticmethod
    def around(
        x: Float[Array, "some dimension"], score: Float[Array, "some dimension"], state: State
    ) -> "_Proposal":
        """A⁻¹ = Σ_p w_p C_p / Σ_p w_p over the surveyed places, w = k² and a little of all of them."""
        middle = jnp.mean(state.places, axis=0)
        squared = kernels.squared_distances(x - middle, state.places - middle)
        weight = (kernels.gram("rbf", squared, state.bandwidth).value ** 2 + _FAR) * state.alive
        size = x.shape[1]
        shared = (
            weight
            @ state.curvature.reshape(-1, size * size)
            / jnp.sum(weight, axis=1, keepdims=True)
        )
        lower = jnp.linalg.cholesky(shared.reshape(-1, size, size))
        ahead = jax.vmap(lambda low, slope: jax.scipy.linalg.cho_solve((low, True), slope))(
            lower, score
        )
        return _Proposal(x + state.step * ahead, lower, state.step)

    def draw(self, noise: Float[Array, "some dimension"]) -> Float[Array, "some dimension"]:
        back = jax.vmap(
            lambda low, row: jax.scipy.linalg.solve_triangular(low, row, trans=1, lower=True)
        )
        return self.mean + jnp.sqrt(2 * self.step) * back(self.lower, noise)

    def log_density(self, y: Float[Array, "some dimension"]) -> Float[Array, "some"]:
        white = jnp.einsum("sji,sj->si", self.lower, y - self.mean)
        volume = jnp.sum(jnp.log(jnp.diagonal(self.lower, axis1=1, axis2=2)), axis=1)
        return volume - jnp.sum(white**2, axis=1) / (4 * self.step)
