"""L0: hard-concrete gates on every weight (Louizos et al. 2017; method §4).

θ = θ̄ ⊙ z, z = clip(s (ζ − γ) + γ, 0, 1), s = sigmoid((log u − log(1 − u) + log α)/β), and a price λ Σ P(z ≠ 0).
"""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32
from pydantic import Field

from steinmetz.potentials.base import Network
from steinmetz.sparsify import base

GAMMA, ZETA, BETA = -0.1, 1.1, 2 / 3
_SHIFT = BETA * float(np.log(-GAMMA / ZETA))
# z > 0 at test time, where z = clip(sigmoid(log α)(ζ − γ) + γ, 0, 1).
OPEN = float(np.log(-GAMMA / ZETA))
# A gate that starts closed, and one that opens in fewer than 4 % of the draws.
_CLOSED, _DEAD = -8.0, -4.8


class Config(base.Settings):
    """Gates; the defaults are ours, `preset = "paper"` has the paper's rate and nothing else of ours."""

    method: Literal["l0"] = "l0"
    offset: float = Field(0.0, description="mean of log α at the start")
    draws: int = Field(1, ge=1, le=64, description="Monte-Carlo gate draws per step")


# From hardly any price to more than any weight is worth: the whole L-curve.
RANGE = (1.0, 300_000.0)
PRESETS = {
    "paper": {
        "rate": 0.08,
        "warm_up": 0.0,
        "offset": 0.0,
        "precision": "float64",
        "min_relative_noise": 0.0,
        "search": False,
    }
}


class Raw(NamedTuple):
    """Weights without gates, and the gates' log α."""

    weights: Float[Array, "*batch parameters"]
    log_alpha: Float[Array, "*batch parameters"]


class Gates(base.Penalty):
    """Signs are kept by absolute values."""

    offset: float
    draws: int

    def start(
        self, weights: Float[Array, "parameters"], closed: Bool[Array, "parameters"], key: Array
    ) -> Raw:
        log_alpha = self.offset + 0.01 * jax.random.normal(key, weights.shape)
        return Raw(weights, jnp.where(closed, _CLOSED, log_alpha).astype(weights.dtype))

    def draw(
        self, network: Network, raw: Raw, seed: UInt32[Array, ""], step: Int[Array, ""]
    ) -> Float[Array, "parameters"]:
        noise = base.uniform(seed, step, raw.weights.size).astype(raw.weights.dtype)
        return _signed(network, raw.weights) * gate(noise, raw.log_alpha)

    def price(self, raw: Raw) -> Float[Array, ""]:
        return expected_open(raw.log_alpha)

    def settled(self, network: Network, raw: Raw) -> Float[Array, "parameters"]:
        return _signed(network, raw.weights) * settled_gate(raw.log_alpha)

    def alive(self, raw: Raw) -> Bool[Array, "parameters"]:
        return raw.log_alpha > _DEAD


def build(config: Config) -> Gates:
    return Gates(offset=config.offset, draws=config.draws)


def _signed(network: Network, weights: Float[Array, "parameters"]) -> Float[Array, "parameters"]:
    return jnp.where(jnp.asarray(network.nonnegative), jnp.abs(weights), weights)


def gate(
    noise: Float[Array, "parameters"], log_alpha: Float[Array, "parameters"]
) -> Float[Array, "parameters"]:
    """z for uniform draws u = `noise`; with β = 2/3 the power 1/β is a product with a square root."""
    odds = (1 - noise) / noise
    s = 1 / (1 + odds * jnp.sqrt(odds) * jnp.exp(-log_alpha / BETA))
    return jnp.clip(s * (ZETA - GAMMA) + GAMMA, 0, 1)


def settled_gate(log_alpha: Float[Array, "*batch parameters"]) -> Float[Array, "*batch parameters"]:
    """ẑ = clip(sigmoid(log α)(ζ − γ) + γ, 0, 1)."""
    return jnp.clip(jax.nn.sigmoid(log_alpha) * (ZETA - GAMMA) + GAMMA, 0, 1)


def expected_open(log_alpha: Float[Array, "parameters"]) -> Float[Array, ""]:
    """Σ P(z ≠ 0) = Σ sigmoid(log α − β log(−γ/ζ))."""
    return jnp.sum(jax.nn.sigmoid(log_alpha - _SHIFT))
