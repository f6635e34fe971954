"""Stochastic Stein–Newton: noisy steps in a metric of curvatures (Leviyev et al. 2022; method §5).

As published, the noise is only right where the curvature is the same everywhere: on a skewed target
the mean is off by 0.2 standard deviations, whatever the step. So the published steps only move the
particles together, in the first half of the warm-up. Their places and curvatures then become a
metric field, the kernel's average of the curvatures around a point, and every particle makes
Langevin steps in it with a Metropolis test, and jumps along the difference of two others (ter Braak
2006), which know long tails. That is exact for any step, and needs no curvature after the warm-up.
`adjusted = false` keeps to the published steps throughout.
"""

from collections.abc import Callable
from functools import partial
from typing import ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array
from pydantic import Field, model_validator

from steinmetz.infer import kernels, newton
from steinmetz.infer.base import Capabilities, Info, Sampler, Target, admitted, usable
from steinmetz.infer.diagnostics import group_of
from steinmetz.infer.langevin import Metric, Proposal
from steinmetz.infer.modes import Modes, plausible_fall
from steinmetz.infer.particles import Moving, Steps, Thin, WarmUp, held_width
from steinmetz.shapes import Alive, Count, Particles, PerParticle, Scalar

# Share of the warm-up after which particles no longer move together.
_TOGETHER = 0.5
# Share of the warm-up after which the metric is held; the rest finds the length of the moves.
_SURVEYED = 0.75
# Fewest steps of warm-up in which that length can be found.
_SHORTEST = 20
# Best share of accepted Langevin proposals (Roberts & Rosenthal 1998).
_WANTED = 0.574
# Band of that share outside which the warm-up has failed: moves hardly pass, or are far too short.
_BAND = (0.3, 0.95)
# The first length of the moves, in posterior variances: short enough to pass at first.
_FIRST = 0.3
# How fast the length is learnt: the gain of one step is twice this over the number of steps so far.
_LEARNING = 2.0
# Steps that count as done when the learning begins, so that the first moves do not throw it off.
_PATIENCE = 20
# Share of jumps that have γ = 1, which may reach another mode.
_LONG = 0.1
# Noise added to jumps, in posterior deviations: with it they can reach every point.
_NOISE = 1e-4
# Fewest particles that can make jumps: two different ones are needed of each half.
_FEWEST = 6
# Groups of particles that jump by differences of their own group: R-hat can compare them.
_GROUPS = 2
# Width of the region, in posterior deviations, that a common move may not leave downwards.
_REGION = 2.0
# Of so many steps after the common ones, one carries particles to other modes, if there are.
_SWITCHES = 8

# Kinds of steps: look at the density of the start …
_LOOK = 0
# … move all particles together …
_ALL = 1
# … a Langevin move of each …
_LANGEVIN = 2
# … a jump of every second one …
_JUMP = 3
# … or an exchange of modes.
_SWITCH = 4


class Config(Moving):
    """Curvatures and steps."""

    capabilities: ClassVar[Capabilities] = Capabilities(
        snapshots=True, groups=_GROUPS, acceptance=_BAND
    )
    method: Literal["ssvn"] = "ssvn"
    particles: int = Field(50, ge=1, le=100_000, description="laws that move together")
    warm_up: WarmUp = 400
    steps: Steps = 4000
    thin: Thin = 100
    rate: float = Field(0.1, gt=0, le=1, description="size of a step of all particles together")
    hessian: newton.Hessian = Field(
        "block", description="curvatures, each alone or coupled (particles × parameters ≤ 2000)"
    )
    adjusted: bool = Field(True, description="test the moves, so that they are exact for any step")
    extend: int = Field(
        3,
        ge=0,
        le=10,
        description="how often the steps may be doubled until R-hat and effective draws suffice",
    )

    @property
    def extensions(self) -> int:
        return self.extend

    @model_validator(mode="after")
    def _needs_warm_up(self) -> "Config":
        """Moves that are tested need a length."""
        if self.adjusted and self.warm_up < _SHORTEST:
            what = f"ssvn needs at least {_SHORTEST} steps to find the size of its moves"
            raise ValueError(f"infer.warm_up: {what}")
        return self


class State(NamedTuple):
    """Particles with log density and slope, the metric of surveyed places, and the length of moves.

    `step` is that length τ; `accepted` and `tried` count Langevin moves after the warm-up.
    """

    particles: Particles
    alive: Alive
    value: PerParticle
    slope: Particles
    metric: Metric
    step: Scalar
    accepted: PerParticle
    tried: PerParticle
    number: Count

    def around(self, x: Particles, slope: Particles) -> Proposal:
        """Langevin proposals from x in the metric field."""
        return Proposal.around(x, slope, self.metric.factors(x, self.alive), self.step)


class Move(NamedTuple):
    """Proposed places, the log density with which they were proposed, and who is to move."""

    places: Particles
    ahead: PerParticle
    moving: Alive


# What steps of each kind propose.
Kinds = tuple[Callable[[], Move], ...]


def build(target: Target, config: Config) -> Sampler[State]:
    """Every step proposes places for all particles, evaluates them, and takes those that pass.

    Density and curvature stand in one place each, because they are most of the compiled program.
    """
    surveyed = round(_SURVEYED * config.warm_up)
    together = round(_TOGETHER * config.warm_up)
    if not config.adjusted:
        together = config.warm_up + config.steps

    def init(key: Array, position: Particles) -> State:
        particles, alive = admitted(position)
        count, size = particles.shape
        one, none = jnp.ones((), particles.dtype), jnp.zeros(count, particles.dtype)
        round_ = jnp.broadcast_to(jnp.eye(size, dtype=particles.dtype), (count, size, size))
        metric, flat = Metric(particles, round_, one), jnp.zeros_like(particles)
        number = jnp.zeros((), int)
        return State(particles, alive, none, flat, metric, _FIRST * one, none, none, number)

    def survey(state: State) -> State:
        """The metric of the present places; a particle without a finite curvature is lost."""
        bent = target.curvatures(state.particles)
        alive = state.alive & jnp.all(jnp.isfinite(bent), axis=(1, 2))
        unit = jnp.eye(bent.shape[1], dtype=bent.dtype)
        bent = jnp.where(alive[:, None, None], bent, unit)
        return state._replace(
            alive=alive, metric=Metric(state.particles, bent, state.metric.bandwidth)
        )

    def proposed(key: Array, state: State, kind: Count) -> Move:
        """What the step of this kind proposes."""
        stay = Move(state.particles, jnp.zeros_like(state.value), state.alive)

        def collective() -> Move:
            how = config.hessian, config.rate  # the metric is that of the present places
            change = newton.together(key, state.metric, state.slope, state.alive, *how)
            return stay._replace(places=state.particles + change)

        def langevin() -> Move:
            here = state.around(state.particles, state.slope)
            y = here.draw(jax.random.normal(key, state.particles.shape, state.particles.dtype))
            return Move(y, here.log_density(y), state.alive)

        kinds: Kinds = (lambda: stay, collective, langevin, partial(_jump, key, state))
        if target.modes is not None:
            kinds = (*kinds, partial(_switch, key, state, target.modes))
        move: Move = jax.lax.switch(kind, kinds)
        return move

    def step(key: Array, state: State) -> tuple[State, Info]:
        number, old = state.number, state.metric.bandwidth
        h = held_width(state.particles, state.alive, old, number, config.refresh, surveyed)
        due = (number < together) | ((number < surveyed) & (number % config.refresh == 0))
        state = state._replace(metric=state.metric._replace(bandwidth=h))
        state = jax.lax.cond(due & (number > 0), survey, lambda same: same, state)
        propose_key, slope_key, test_key = jax.random.split(key, 3)
        kind = _kind(number, together, len(state.particles), target.modes is not None)
        move = proposed(propose_key, state, kind)
        value, slope = target.values_and_slopes(slope_key, move.places)
        fall = plausible_fall(state.particles.shape[1], _REGION) if config.adjusted else jnp.inf
        state, chance = _tested(test_key, state, move, (value, slope), kind, fall)
        state = _learnt(state, chance, kind, together, config.warm_up)
        direction = kernels.direction("rbf", state.particles, state.slope, state.alive, h)
        facts = {"accepted": state.accepted, "tried": state.tried}
        return state._replace(number=number + 1), Info.of(direction, state.alive, facts)

    return Sampler(init, step)


def _kind(number: Count, together: int, count: int, several: bool) -> Count:
    """First a look, then all together, then moves and jumps by turns, and exchanges of modes."""
    later = jnp.where((number % 2 == 1) & (count >= _FEWEST), _JUMP, _LANGEVIN)
    later = jnp.where((number % _SWITCHES == 1) & several, _SWITCH, later)
    return jnp.where(number == 0, _LOOK, jnp.where(number < together, _ALL, later))


def _tested(
    key: Array,
    state: State,
    move: Move,
    at: tuple[PerParticle, Particles],
    kind: Count,
    fall: float,
) -> tuple[State, PerParticle]:
    """Moves taken with their chance, min(1, π(y) q(x|y) / (π(x) q(y|x))), and that chance.

    `at` are density and slope at the proposed places. Looks and common moves are taken as they are,
    unless density or slope are not finite there: then a particle stays, and one that has nowhere
    been finite is lost. Nor may a common move lead down to more than `fall` below the highest
    particle: where curvatures change much, such steps lead out of the posterior for ever.
    """
    y, (value, slope) = move.places, at
    good = usable(move.moving, value, slope)
    from_y = jnp.where(good[:, None], y, state.particles), jnp.where(good[:, None], slope, 0.0)
    back = state.around(*from_y).log_density(state.particles)
    back = jnp.where(kind == _LANGEVIN, back, 0.0)
    gain = value - state.value + back - move.ahead
    chance = jnp.where(good & jnp.isfinite(gain), jnp.exp(jnp.minimum(gain, 0.0)), 0.0)
    free, first = kind <= _ALL, kind == _LOOK
    highest = jnp.max(jnp.where(state.alive, state.value, -jnp.inf))
    inside = first | (value >= jnp.minimum(state.value, highest - fall))
    tossed = jax.random.uniform(key, chance.shape, chance.dtype)
    taken = jnp.where(free, good & inside, tossed < chance)
    moved = state._replace(
        particles=jnp.where(taken[:, None], y, state.particles),
        value=jnp.where(taken, value, state.value),
        slope=jnp.where(taken[:, None], slope, state.slope),
        alive=jnp.where(first, good, state.alive),
    )
    return moved, chance


def _learnt(state: State, chance: PerParticle, kind: Count, together: int, warm_up: int) -> State:
    """The length of Langevin moves, learnt from their chances in the warm-up, only counted later.

    log τ moves by gain × (mean chance − wanted), with a gain that falls as 1/number of steps.
    """
    mean = jnp.sum(chance * state.alive) / jnp.maximum(jnp.sum(state.alive), 1)
    mine, warm = kind == _LANGEVIN, state.number < warm_up
    gain = jnp.where(mine & warm, 2 * _LEARNING / (_PATIENCE + state.number - together), 0.0)
    step = state.step * jnp.exp(gain * (mean - _WANTED))
    counts = mine & ~warm
    accepted, tried = state.accepted + jnp.where(counts, chance, 0.0), state.tried + counts
    return state._replace(step=step.astype(state.step.dtype), accepted=accepted, tried=tried)


def _jump(key: Array, state: State) -> Move:
    """Every second particle proposes x' = x + γ (a − b), a and b of the other half, which stays.

    That is as likely as the way back. γ = 2.38/√(2D) suits a Gaussian; one in ten jumps has γ = 1.
    a and b are of the particle's own group: pairs of neighbours belong to the groups by turns.
    """
    first_key, second_key, length_key, noise_key = jax.random.split(key, 4)
    x, alive = state.particles, state.alive
    count, size = x.shape
    half = (state.number // 2) % 2
    group = group_of(count, _GROUPS)
    groups = int(group.max()) + 1
    others = count // (2 * groups)
    first = jax.random.randint(first_key, (count,), 0, others)
    second = (first + jax.random.randint(second_key, (count,), 1, others)) % others
    first, second = (2 * (groups * one + group) + 1 - half for one in (first, second))
    long = jax.random.uniform(length_key, (count, 1), x.dtype) < _LONG
    change = jnp.where(long, 1.0, 2.38 / (2 * size) ** 0.5) * (x[first] - x[second])
    y = x + change + _NOISE * jax.random.normal(noise_key, x.shape, x.dtype)
    moving = alive & alive[first] & alive[second] & (jnp.arange(count) % 2 == half)
    return Move(jnp.where(moving[:, None], y, x), jnp.zeros_like(state.value), moving)


def _switch(key: Array, state: State, modes: Modes) -> Move:
    """Every particle proposes to go over to another mode; the volume is part of the test."""
    places, volume = modes.exchanged(key, state.particles)
    return Move(places, -volume, state.alive)
