"""What HMC and NUTS share: chains side by side, window adaptation, totals, all through blackjax.

Chains are the particles of this method: each starts from a draw of its own, finds its own step size
and metric, and counts its own divergences.
"""

import warnings
from typing import Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int
from pydantic import Field

from steinmetz.infer import base
from steinmetz.infer.base import Capabilities, Info, Sampler, Settings, Target
from steinmetz.infer.schedule import Schedule
from steinmetz.shapes import Vector

Places = Float[Array, "chains dimension"]
PerChain = Float[Array, "chains"]
Counts = Int[Array, "chains"]
Metrics = Float[Array, "chains ..."]


class Chained(Settings):
    """Chains and their warm-up."""

    capabilities: ClassVar[Capabilities] = Capabilities(snapshots=True, divergences=True)
    shares: ClassVar[bool] = False
    chains: int = Field(4, ge=1, le=10_000, description="chains side by side")
    steps: int = Field(1000, ge=1, description="steps of every chain after the warm-up")
    thin: int = Field(1, ge=1, description="steps between two draws that are kept")
    warm_up: int = Field(500, ge=0, description="steps that find step size and metric; 0: none")
    step: float = Field(0.1, gt=0, le=100, description="step size, where there is no warm-up")
    acceptance: float = Field(0.8, gt=0, lt=1, description="acceptance the warm-up aims at")
    metric: Literal["diagonal", "dense"] = Field("diagonal", description="metric of the warm-up")

    @property
    def width(self) -> int:
        return self.chains

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.steps, thin=min(self.thin, self.steps))


class State(NamedTuple):
    """`particles` are the places of the chains, with log density and slope; totals are per chain.

    `step` and `metric` are what the warm-up found for each chain.
    """

    particles: Places
    alive: Bool[Array, "chains"]
    value: PerChain
    slope: Places
    step: PerChain
    metric: Metrics
    divergent: Counts
    accepted: PerChain
    leapfrogs: Counts


def sampler(
    target: Target, config: Chained, algorithm: Any, parameters: dict[str, int]
) -> Sampler[State]:
    """Chains of a blackjax algorithm; `parameters` are those of its kernel that are not adapted.

    The warm-up is part of `init`, so that its draws are never taken for draws of the target. A
    chain whose start, or whose place after the warm-up, has no finite density is frozen.
    """
    density, kernel = target.log_density, algorithm.build_kernel()
    evaluate = jax.vmap(jax.value_and_grad(density))

    def adapted(key: Array, position: Vector) -> tuple[Vector, tuple[Array, Array]]:
        """One chain after its warm-up: where it is, its step size and its inverse metric."""
        import blackjax

        warm = blackjax.window_adaptation(
            algorithm,
            density,
            config.metric == "diagonal",
            target_acceptance_rate=config.acceptance,
            **parameters,
        )
        (state, tuned), _ = warm.run(key, position, config.warm_up)
        return state.position, (tuned["step_size"], tuned["inverse_mass_matrix"])

    def init(key: Array, position: Places) -> State:
        position, alive = base.admitted(position)
        count, size = position.shape
        alive = base.usable(alive, *evaluate(position))
        unit = jnp.ones(size) if config.metric == "diagonal" else jnp.eye(size)
        metric = jnp.broadcast_to(unit, (count, *unit.shape)).astype(position.dtype)
        step = jnp.full(count, config.step, position.dtype)
        if config.warm_up:
            with warnings.catch_warnings():  # of blackjax, about dtypes
                warnings.simplefilter("ignore")
                moved, (step, metric) = jax.vmap(adapted)(jax.random.split(key, count), position)
            position = jnp.where(alive[:, None], moved, position)
        value, slope = evaluate(position)
        alive, none = base.usable(alive, value, slope), jnp.zeros(count, int)
        accepted = jnp.zeros(count, position.dtype)
        return State(position, alive, value, slope, step, metric, none, accepted, none)

    def one(key: Array, *chain: Array) -> tuple[tuple[Array, ...], tuple[Array | int, ...]]:
        """A step of one chain: place, density and slope, then what happened on the way."""
        from blackjax.mcmc.hmc import HMCState

        position, value, slope, step, metric = chain
        before = HMCState(position, value, slope)
        state, info = kernel(key, before, density, step, metric, **parameters)
        return tuple(state), (info.is_divergent, info.acceptance_rate, info.num_integration_steps)

    def step(key: Array, state: State) -> tuple[State, Info]:
        keys = jax.random.split(key, len(state.particles))
        chains = state.particles, state.value, state.slope, state.step, state.metric
        (position, value, slope), (divergent, accepted, leapfrogs) = jax.vmap(one)(keys, *chains)
        # a proposal that is not finite is never taken, so these are the living
        good = base.usable(state.alive, value, slope)
        moved = state._replace(
            particles=jnp.where(good[:, None], position, state.particles),
            value=jnp.where(good, value, state.value),
            slope=jnp.where(good[:, None], slope, state.slope),
            divergent=state.divergent + (state.alive & divergent),
            accepted=state.accepted + jnp.where(good, accepted, 0.0),
            leapfrogs=state.leapfrogs + leapfrogs,
        )
        totals = ("divergent", "accepted", "leapfrogs")
        facts: dict[str, Array] = {name: getattr(moved, name) for name in totals}
        return moved, Info.of(position - state.particles, good, facts)

    return Sampler(init, step)
