"""Sequential Monte Carlo: from the prior to the posterior by degrees (method §5).

Particles begin as draws of the prior, and the likelihood is turned on little by little: π_β ∝ prior
· likelihood^β (Del Moral et al. 2006), each β as large as the weights allow (Jasra et al. 2011).
Particles that fit badly are replaced by copies of others, and all move by Hamiltonian trajectories
that leave π_β as it is. So every mode is met from outside and weighed, whatever lies between them:
the reference where chains do not get through, as with whole networks. The weights also give the
evidence. At β = 1 particles are chains of Hamiltonian Monte Carlo.

Particles fall into islands that share β and the size of the moves, and no particle: where islands
disagree, there were too few moves on the way. Draws weigh all islands alike, which is right in the
limit of many particles.
"""

from collections.abc import Callable
from typing import ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from pydantic import Field

from steinmetz.infer import weights
from steinmetz.infer.base import Capabilities, Info, Sampler, Target, admitted, usable
from steinmetz.infer.diagnostics import group_of
from steinmetz.infer.particles import Sampled, Steps, WarmUp
from steinmetz.shapes import Alive, Count, Particles, PerParticle, Scalar, Vector

# Islands: R-hat compares them.
_ISLANDS = 4
# Deviation of the first draws where there is no prior, in units of Laplace's.
_WIDE = 3.0
# Share of accepted trajectories that their step is learnt for, and the gain of that in one step.
_WANTED, _GAIN = 0.75, 0.5
# Band of that share outside which the warm-up has failed.
_BAND = (0.4, 0.99)
# The first step, the longest one, in deviations of the particles, and how much steps differ.
_FIRST, _LONGEST, _JITTER = 0.1, 1.0, 0.3


class Config(Sampled):
    """Particles, and how the likelihood is turned on."""

    capabilities: ClassVar[Capabilities] = Capabilities(
        snapshots=True, groups=_ISLANDS, acceptance=_BAND, bridges=True, whitens=False
    )
    method: Literal["smc"] = "smc"
    whiten: bool = Field(False, description="must be false: the prior is round in u itself")
    particles: int = Field(200, ge=1, le=100_000, description="laws that move side by side")
    warm_up: WarmUp = 1000
    steps: Steps = 1000
    leapfrogs: int = Field(10, ge=1, le=10_000, description="leapfrog steps of a trajectory")
    moves: int = Field(4, ge=1, le=10_000, description="trajectories between two β")
    effective: float = Field(
        0.7, gt=0, lt=1, description="share of the particles that are effective after a change of β"
    )


class Known(NamedTuple):
    """Log density of the target and of the base at some places, with their slopes."""

    value: PerParticle
    slope: Particles
    base: PerParticle
    base_slope: Particles

    @property
    def gain(self) -> PerParticle:
        """Log likelihood: what the target has beyond the base; hardly any where it is no number."""
        return jnp.where(jnp.isfinite(self.value), self.value - self.base, weights.NOTHING)

    def bridged(self, beta: Scalar) -> tuple[PerParticle, Particles]:
        """log π_β = (1 − β) log base + β log target, and its slope."""
        value = (1 - beta) * self.base + beta * self.value
        return value, (1 - beta) * self.base_slope + beta * self.slope


# (key, places) → what is known of them.
Look = Callable[[Array, Particles], Known]


class State(NamedTuple):
    """Particles and what is known of their places; β, the step and the scales of the moves.

    `evidence` is that of a particle's island, log ∫ π: the mean of π/base over draws of the base.
    """

    particles: Particles
    alive: Alive
    known: Known
    beta: Scalar
    step: Scalar
    scale: Vector
    evidence: PerParticle
    accepted: PerParticle
    tried: PerParticle
    number: Count


class Flight(NamedTuple):
    """Places on trajectories, momenta there, what is known, and the slope of log π_β."""

    x: Particles
    momentum: Particles
    known: Known
    slope: Particles


class Base(NamedTuple):
    """Where particles begin: the prior, or a Gaussian three times as wide as Laplace's."""

    draws: Callable[[Array, Particles], Particles]
    log_density: Callable[[Vector], Scalar]

    @classmethod
    def of(cls, target: Target) -> "Base":
        """The prior, if the target knows its draws and its density."""
        if target.draw_prior is not None and target.log_prior is not None:
            draw = target.draw_prior
            return cls(
                lambda key, like: jax.vmap(draw)(jax.random.split(key, len(like))), target.log_prior
            )
        middle = 0.0 if target.centre is None else target.centre
        root = target.root
        volume = 0.0 if root is None else jnp.linalg.slogdet(root)[1]

        def draws(key: Array, like: Particles) -> Particles:
            normal = _WIDE * jax.random.normal(key, like.shape, like.dtype)
            return middle + (normal if root is None else normal @ root.T)

        def log_density(x: Vector) -> Scalar:
            away = x - middle if root is None else jnp.linalg.solve(root, x - middle)
            return jnp.sum(jax.scipy.stats.norm.logpdf(away, scale=_WIDE)) - volume

        return cls(draws, log_density)


def build(target: Target, config: Config) -> Sampler[State]:
    """A change of β now and then in the warm-up, and a trajectory of every particle in every step.

    Particles whose starts have no finite density are lost; the others begin as draws of the base.
    """
    base = Base.of(target)
    base_many = jax.vmap(jax.value_and_grad(base.log_density))

    def look(key: Array, x: Particles) -> Known:
        return Known(*target.values_and_slopes(key, x), *base_many(x))

    def init(key: Array, position: Particles) -> State:
        position, alive = admitted(position)
        draw_key, look_key = jax.random.split(key)
        drawn = base.draws(draw_key, position)
        both = look(look_key, jnp.concatenate([position, drawn]))
        at_start, known = (
            jax.tree.map(lambda leaf, part=part: leaf[part], both)
            for part in (slice(None, len(position)), slice(len(position), None))
        )
        alive = usable(alive, at_start.value, at_start.slope)
        none = jnp.zeros(len(position), position.dtype)
        one = jnp.ones((), position.dtype)
        particles = jnp.where(alive[:, None], drawn, position)
        scale = jnp.ones(position.shape[1], position.dtype)
        return State(
            particles, alive, known, 0 * one, _FIRST * one, scale, none, none, none,
            jnp.zeros((), int),
        )  # fmt: skip

    def step(key: Array, state: State) -> tuple[State, Info]:
        turn_key, move_key, test_key = jax.random.split(key, 3)
        warm = state.number < config.warm_up
        due = warm & (state.number % config.moves == 0)
        state = jax.lax.cond(
            due, lambda one: _turned(turn_key, one, config.effective), lambda one: one, state
        )
        x, known, chance = _flown(move_key, state, look, config.leapfrogs)
        taken = jax.random.uniform(test_key, chance.shape, chance.dtype) < chance
        change = jnp.where(taken[:, None], x - state.particles, 0.0) / state.scale
        mean = jnp.sum(chance) / jnp.maximum(jnp.sum(state.alive), 1)
        length = state.step * jnp.exp(jnp.where(warm, _GAIN * (mean - _WANTED), 0.0))
        state = state._replace(
            particles=jnp.where(taken[:, None], x, state.particles),
            known=_taken(taken, known, state.known),
            step=jnp.minimum(length, _LONGEST).astype(state.step.dtype),
            accepted=state.accepted + jnp.where(warm, 0.0, chance),
            tried=state.tried + ~warm,
            number=state.number + 1,
        )
        return state, Info.of(change, state.alive, _facts(state))

    return Sampler(init, step)


def _facts(state: State) -> dict[str, Array]:
    """What is told of a step; of what is missing and of the evidence, sums over the living."""
    share = state.alive / jnp.maximum(jnp.sum(state.alive), 1)
    evidence = jax.scipy.special.logsumexp(state.evidence, b=share)
    return {
        "accepted": state.accepted,
        "tried": state.tried,
        "missing": (1 - state.beta) * share,
        "evidence": evidence * share,
    }


def _flown(
    key: Array, state: State, look: Look, leapfrogs: int
) -> tuple[Particles, Known, PerParticle]:
    """The ends of trajectories under π_β, and the chances with which they are taken."""
    momentum_key, length_key, slope_key = jax.random.split(key, 3)
    x, known, beta = state.particles, state.known, state.beta
    jitter = jnp.exp(_JITTER * jax.random.normal(length_key, (len(x), 1), x.dtype))
    step = state.step * jitter * state.scale
    momentum = jax.random.normal(momentum_key, x.shape, x.dtype)
    value, slope = known.bridged(beta)
    before = value - 0.5 * jnp.sum(momentum**2, axis=1)
    first = Flight(x, momentum, known, jnp.where(jnp.isfinite(slope), slope, 0.0))

    def leap(number: Count, now: Flight) -> Flight:
        momentum = now.momentum + 0.5 * step * now.slope
        x = now.x + step * momentum
        there = look(jax.random.fold_in(slope_key, number), x)
        slope = there.bridged(beta)[1]
        return Flight(x, momentum + 0.5 * step * slope, there, slope)

    x, momentum, known, _ = jax.lax.fori_loop(0, leapfrogs, leap, first)
    gain = known.bridged(beta)[0] - 0.5 * jnp.sum(momentum**2, axis=1) - before
    good = usable(state.alive, known.value, known.slope) & jnp.isfinite(gain)
    return x, known, jnp.where(good, jnp.exp(jnp.minimum(gain, 0.0)), 0.0)


def _taken(taken: Alive, there: Known, here: Known) -> Known:
    """Of every particle what is known where it went, or where it stayed."""
    rows = taken[:, None]
    return Known(
        jnp.where(taken, there.value, here.value),
        jnp.where(rows, there.slope, here.slope),
        jnp.where(taken, there.base, here.base),
        jnp.where(rows, there.base_slope, here.base_slope),
    )


def _turned(key: Array, state: State, effective: float) -> State:
    """The next β: particles are chosen anew by their weights, each island among its own.

    Scales of the moves are the deviations of all particles after that.
    """
    gain = jnp.where(state.alive, state.known.gain, -jnp.inf)
    change = weights.change(gain, 1 - state.beta, effective * jnp.sum(state.alive))
    log_weight = jnp.where(state.alive, change * gain, -jnp.inf)
    island = group_of(len(gain), _ISLANDS)
    chosen, evidence = jnp.arange(len(gain)), state.evidence
    for one, its_key in enumerate(jax.random.split(key, int(island.max()) + 1)):
        members = np.flatnonzero(island == one)
        drawn, mean = weights.drawn(its_key, log_weight[members])
        living = jnp.maximum(jnp.sum(state.alive[members]), 1) / len(members)
        chosen = chosen.at[members].set(jnp.asarray(members)[drawn])
        evidence = evidence.at[members].add(mean - jnp.log(living))
    chosen = jnp.where(state.alive, chosen, jnp.arange(len(gain)))
    particles, known = jax.tree.map(lambda leaf: leaf[chosen], (state.particles, state.known))
    weight = state.alive / jnp.maximum(jnp.sum(state.alive), 1)
    middle = weight @ particles
    scale = jnp.sqrt(weight @ (particles - middle) ** 2)
    return state._replace(
        particles=particles,
        known=known,
        beta=jnp.minimum(state.beta + change, 1.0),
        scale=jnp.where(scale > 0, scale, 1.0),
        evidence=evidence,
    )
