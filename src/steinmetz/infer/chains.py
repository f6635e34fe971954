"""What HMC and NUTS share: chains side by side, window adaptation, totals, all through blackjax."""

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int
from pydantic import Field

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
)


class Chained(Settings):
    """Chains and their warm-up."""

    capabilities: ClassVar[Capabilities] = Capabilities(snapshots=True, divergences=True)
    chains: int = Field(4, ge=1, le=10_000, description="chains side by side")
    steps: int = Field(1000, ge=1, description="steps of every chain after the warm-up")
    thin: int = Field(1, ge=1, description="steps between two draws that are kept")
    warm_up: int = Field(
        500, ge=0, description="steps in which step size and metric are found; 0 uses infer.step"
    )
    step: float = Field(0.1, gt=0, le=100, description="step size, where there is no warm-up")
    acceptance: float = Field(
        0.8, gt=0, lt=1, description="share of accepted proposals the warm-up aims at"
    )
    metric: Literal["diagonal", "dense"] = Field(
        "diagonal", description="metric found in the warm-up"
    )

    @property
    def width(self) -> int:
        return self.chains

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.steps, thin=min(self.thin, self.steps))


class State(NamedTuple):
    """`particles` are the positions of the chains; totals are per chain."""

    particles: Float[Array, "chains dimension"]
    alive: Bool[Array, "chains"]
    value: Float[Array, "chains"]
    score: Float[Array, "chains dimension"]
    step: Float[Array, "chains"]
    metric: Float[Array, "chains ..."]
    divergent: Int[Array, "chains"]
    accepted: Float[Array, "chains"]
    leapfrogs: Int[Array, "chains"]


def sampler(
    log_density: LogDensity | Target,
    config: Chained,
    algorithm: Any,
    kernel: Callable[..., Any],
    extra: dict[str, Any],
) -> Sampler:
    """`kernel` is the algorithm's blackjax kernel; `extra` are its parameters that are not adapted."""
    density = as_target(log_density).log_density

    def adapted(
        key: Array, position: Float[Array, "dimension"]
    ) -> tuple[Array, tuple[Array, Array]]:
        import blackjax

        warm = blackjax.window_adaptation(
            algorithm,
            density,
            config.metric == "diagonal",
            target_acceptance_rate=config.acceptance,
            **extra,
        )
        (state, found), _ = warm.run(key, position, config.warm_up)
        return state.position, (found["step_size"], found["inverse_mass_matrix"])

    def init(key: Array, position: Float[Array, "chains dimension"]) -> State:
        position, alive = admitted(position)
        count, size = position.shape
        evaluate = jax.vmap(jax.value_and_grad(density))
        alive &= _finite(*evaluate(position))
        unit = jnp.ones(size) if config.metric == "diagonal" else jnp.eye(size)
        metric = jnp.broadcast_to(unit, (count, *unit.shape)).astype(position.dtype)
        step = jnp.full(count, config.step, position.dtype)
        if config.warm_up:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                moved, (step, metric) = jax.vmap(adapted)(jax.random.split(key, count), position)
            position = jnp.where(alive[:, None], moved, position)
        value, score = evaluate(position)
        alive &= _finite(value, score)
        none = jnp.zeros(count, int)
        return State(
            position,
            alive,
            value,
            score,
            step,
            metric,
            none,
            jnp.zeros(count, position.dtype),
            none,
        )

    def one(
        key: Array, position: Array, value: Array, score: Array, step: Array, metric: Array
    ) -> tuple[Any, Any]:
        from blackjax.mcmc.hmc import HMCState

        state, info = kernel(key, HMCState(position, value, score), density, step, metric, **extra)
        return tuple(state), (info.is_divergent, info.acceptance_rate, info.num_integration_steps)

    def step(key: Array, state: State) -> tuple[State, Info]:
        keys = jax.random.split(key, len(state.particles))
        (position, value, score), (divergent, accepted, leapfrogs) = jax.vmap(one)(
            keys, state.particles, state.value, state.score, state.step, state.metric
        )
        good = state.alive & _finite(
            value, score
        )  # a proposal that is not finite is never taken, so this is `alive`
        length = jnp.linalg.norm(position - state.particles, axis=1)
        state = state._replace(
            particles=jnp.where(good[:, None], position, state.particles),
            value=jnp.where(good, value, state.value),
            score=jnp.where(good[:, None], score, state.score),
            divergent=state.divergent + (state.alive & divergent),
            accepted=state.accepted + jnp.where(good, accepted, 0.0),
            leapfrogs=state.leapfrogs + leapfrogs,
        )
        moved = jnp.sum(jnp.where(good, length, 0.0)) / jnp.maximum(jnp.sum(good), 1)
        facts = {
            "divergent": state.divergent,
            "accepted": state.accepted,
            "leapfrogs": state.leapfrogs,
        }
        return state, Info(moved, jnp.sum(~state.alive), facts)

    return Sampler(init, step)


def _finite(
    value: Float[Array, "chains"], score: Float[Array, "chains dimension"]
) -> Bool[Array, "chains"]:
    return jnp.isfinite(value) & jnp.all(jnp.isfinite(score), axis=1)
