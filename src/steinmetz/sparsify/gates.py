"""Hard-concrete gates: smoothed L0 (Louizos et al. 2017; method §4), all restarts in one compiled batch.

θ = θ̄ ⊙ z, z = clip(s (ζ − γ) + γ, 0, 1), s = sigmoid((log u − log(1 − u) + log α)/β). Restarts run under different
penalties, so that one batch sees both rich and bare networks.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat

from steinmetz.data.quadratic import Quadratic, misfit
from steinmetz.nouns import Reference, Report, silent
from steinmetz.potentials.base import Network, slopes

GAMMA, ZETA, BETA = -0.1, 1.1, 2 / 3
_SHIFT = BETA * float(np.log(-GAMMA / ZETA))
# z > 0 at test time, where z = clip(sigmoid(log α)(ζ − γ) + γ, 0, 1).
OPEN = float(np.log(-GAMMA / ZETA))


class Config(BaseModel):
    """How gates are trained and what becomes of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    method: Literal["gates"] = "gates"
    restarts: int = Field(8, ge=1, le=256, description="networks trained side by side")
    steps: int = Field(3000, ge=1, description="Adam steps")
    rate: float = Field(0.08, gt=0, le=1, description="learning rate (the paper's, for L0)")
    penalty: tuple[PositiveFloat, PositiveFloat] = Field(
        (5.0, 30.0),
        description="smallest and largest price of an open gate over the restarts, in units of log(n)/n: the price of "
        "one parameter in the Bayesian information criterion for n observed cells",
    )
    warm_up: float = Field(0.5, ge=0, le=1, description="share of the steps over which the penalty grows from zero")
    offset: float = Field(0.0, description="mean of log α at the start")
    draws: int = Field(1, ge=1, le=64, description="Monte-Carlo gate draws per step")
    precision: Literal["float32", "float64"] = Field("float32", description="of gate training; refits are float64")
    candidates: int = Field(6, ge=1, le=64, description="parameters tried for removal in every round of trimming")
    beam: int = Field(8, ge=1, le=64, description="shapes of each size kept while trimming")
    largest: int = Field(48, ge=1, le=400, description="parameters above which a restart is cut before trimming")
    evidence: float = Field(
        10.0,
        ge=0,
        description="a smaller law is preferred while its BIC is at most this much above the lowest",
    )


class Trained(NamedTuple):
    """Every restart's network at test time, and how many gates were open after each chunk."""

    theta: Float[Array, "restarts parameters"]
    active: Int[np.ndarray, "chunks restarts"]
    steps: Int[np.ndarray, "chunks"]
    finite: Bool[np.ndarray, "restarts"]


class _State(NamedTuple):
    weights: Float[Array, "parameters"]
    log_alpha: Float[Array, "parameters"]


def gate(noise: Float[Array, "parameters"], log_alpha: Float[Array, "parameters"]) -> Float[Array, "parameters"]:
    """z for uniform draws u = `noise`."""
    s = jax.nn.sigmoid((jnp.log(noise) - jnp.log1p(-noise) + log_alpha) / BETA)
    return jnp.clip(s * (ZETA - GAMMA) + GAMMA, 0, 1)


def settled_gate(log_alpha: Float[Array, "*batch parameters"]) -> Float[Array, "*batch parameters"]:
    """ẑ = clip(sigmoid(log α)(ζ − γ) + γ, 0, 1)."""
    return jnp.clip(jax.nn.sigmoid(log_alpha) * (ZETA - GAMMA) + GAMMA, 0, 1)


def expected_open(log_alpha: Float[Array, "parameters"]) -> Float[Array, ""]:
    """Σ P(z ≠ 0) = Σ sigmoid(log α − β log(−γ/ζ))."""
    return jnp.sum(jax.nn.sigmoid(log_alpha - _SHIFT))


def train(
    key: Array,
    potential: Network,
    reference: Reference,
    quadratic: Quadratic,
    count: int,
    config: Config,
    report: Report = silent,
) -> Trained:
    """Loss = χ²/n + λ Σ P(z ≠ 0), minimised by Adam; `count` is n, the number of observed cells."""
    precision = jnp.dtype(config.precision)
    data = jax.tree.map(lambda a: a.astype(precision), quadratic)
    unit = np.log(count) / count
    penalties = jnp.asarray(np.geomspace(*config.penalty, config.restarts) * unit, precision)
    optimiser = optax.adam(config.rate)

    loss = _loss(potential, reference, data, count, config)

    def start(key: Array) -> tuple[_State, optax.OptState]:
        first, second = jax.random.split(key)
        log_alpha = config.offset + 0.01 * jax.random.normal(second, (potential.size,))
        state = _State(potential.initial(first).astype(precision), log_alpha.astype(precision))
        return state, optimiser.init(state)

    @eqx.filter_jit
    def chunk(carry: tuple, keys: Array, steps: Int[Array, "steps"]) -> tuple:
        def one(carry: tuple, key: Array, penalty: Float[Array, ""]) -> tuple:
            def step(carry: tuple, index: Int[Array, ""]) -> tuple[tuple, None]:
                state, moments = carry
                ramp = jnp.minimum(1.0, (index + 1) / max(1.0, config.warm_up * config.steps))
                slope = jax.grad(loss)(state, jax.random.fold_in(key, index), (penalty * ramp).astype(precision))
                change, moments = optimiser.update(slope, moments)
                return (optax.apply_updates(state, change), moments), None

            return jax.lax.scan(step, carry, steps)[0]

        return jax.vmap(one)(carry, keys, penalties)

    restart_keys = jax.random.split(key, (config.restarts, 2))
    carry = jax.vmap(start)(restart_keys[:, 0])
    active, marks = [], []
    for steps in _chunks(config.steps):
        carry = chunk(carry, restart_keys[:, 1], steps)
        active.append(np.asarray(jnp.sum(carry[0].log_alpha > OPEN, axis=1)))
        marks.append(int(steps[-1]) + 1)
        report("gates", marks[-1], config.steps, open=f"{active[-1].min()}–{active[-1].max()}")
    state = carry[0]
    theta = (_constrain(potential, state.weights) * settled_gate(state.log_alpha)).astype(float)
    finite = np.asarray(jnp.all(jnp.isfinite(theta), axis=1))
    return Trained(theta, np.stack(active), np.array(marks), finite)


def _constrain(potential: Network, weights: Float[Array, "*batch parameters"]) -> Float[Array, "*batch parameters"]:
    """Absolute values where the sign is fixed."""
    return jnp.where(jnp.asarray(potential.nonnegative), jnp.abs(weights), weights)


def _loss(
    potential: Network, reference: Reference, data: Quadratic, count: int, config: Config
) -> Callable[[_State, Array, Float[Array, ""]], Float[Array, ""]]:
    """The penalised loss of one network under random gates."""

    def loss(state: _State, key: Array, penalty: Float[Array, ""]) -> Float[Array, ""]:
        shape, precision = (config.draws, potential.size), state.weights.dtype
        noise = jax.random.uniform(key, shape, precision, minval=1e-6, maxval=1 - 1e-6)

        def one(draw: Float[Array, "parameters"]) -> Float[Array, ""]:
            theta = _constrain(potential, state.weights) * gate(draw, state.log_alpha)
            return misfit(data, slopes(potential, reference, theta, data.inputs)) / count

        return jnp.mean(jax.vmap(one)(noise)) + penalty * expected_open(state.log_alpha)

    return loss


def _chunks(steps: int, pieces: int = 20) -> list[Int[Array, "steps"]]:
    """Step numbers in pieces of equal length (one compilation) plus what remains."""
    length = max(1, steps // pieces)
    return [jnp.arange(first, min(first + length, steps)) for first in range(0, steps, length)]
