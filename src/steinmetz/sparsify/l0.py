"""L0: hard-concrete gates on every weight (Louizos et al. 2017; method §4).

θ = θ̄ ⊙ z, z = clip(s (ζ − γ) + γ, 0, 1), s = sigmoid((log u − log(1 − u) + log α)/β) with uniform
u in (0, 1), and a price λ Σ P(z ≠ 0). Weights θ̄ and gates log α are trained together.
"""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from pydantic import Field

from steinmetz.potentials.base import Network
from steinmetz.shapes import Count, Scalar, Theta
from steinmetz.sparsify import base
from steinmetz.sparsify.base import Mask, Seed

# The interval (γ, ζ) to which s is stretched before it is clipped, and the temperature β: Louizos'.
GAMMA = -0.1
ZETA = 1.1
BETA = 2 / 3
# log α above which the gate is open at test time: sigmoid(log α)(ζ − γ) + γ > 0.
OPEN = float(np.log(-GAMMA / ZETA))
# What log α is compared with in the probability of an open gate.
_SHIFT = BETA * OPEN
# log α of a gate that starts closed.
_CLOSED = -8.0
# log α of a gate that opens in fewer than 4 % of the draws.
_DEAD = -4.8
# Standard deviation of log α at the start (the paper's).
_SPREAD = 0.01

TITLE = "L0"
RANGE = (1.0, 300_000.0)
PRESETS = {"paper": {**base.PAPER, "rate": 0.08, "offset": 0.0}}


class Config(base.Settings):
    """Gates; the defaults are ours, `preset = "paper"` has the paper's rate and nothing of ours."""

    method: Literal["l0"] = "l0"
    offset: float = Field(0.0, description="mean of log α at the start")
    draws: int = Field(1, ge=1, le=64, description="Monte-Carlo gate draws per step")


class Raw(NamedTuple):
    """What is trained: weights θ̄ without gates, and the gates' log α."""

    weights: Float[Array, "*batch parameters"]
    log_alpha: Float[Array, "*batch parameters"]


class Gates(base.Penalty[Raw]):
    """Random gates while training, settled gates afterwards; signs are kept by absolute values.

    A gate is exactly zero or exactly one with a probability of its own, so that weights go away and
    the loss still has a slope in log α (the reparametrisation of Louizos et al.).
    """

    offset: float
    draws: int

    def start(self, weights: Theta, closed: Mask, key: Array) -> Raw:
        log_alpha = self.offset + _SPREAD * jax.random.normal(key, weights.shape)
        return Raw(weights, jnp.where(closed, _CLOSED, log_alpha).astype(weights.dtype))

    def draw(self, network: Network, raw: Raw, seed: Seed, step: Count) -> Theta:
        """θ = θ̄ ⊙ z for one draw of all gates."""
        noise = base.uniform(seed, step, raw.weights.size).astype(raw.weights.dtype)
        return _signed(network, raw.weights) * gate(noise, raw.log_alpha)

    def price(self, raw: Raw) -> Scalar:
        """The expected number of open gates."""
        return expected_open(raw.log_alpha)

    def settled(self, network: Network, raw: Raw) -> Theta:
        return _signed(network, raw.weights) * settled_gate(raw.log_alpha)

    def alive(self, raw: Raw) -> Mask:
        """Gates that still open now and then."""
        return raw.log_alpha > _DEAD


def build(config: Config) -> Gates:
    """The gates of a configuration."""
    return Gates(offset=config.offset, draws=config.draws)


def _signed(network: Network, weights: Theta) -> Theta:
    """|θ̄| where the sign is fixed."""
    return jnp.where(jnp.asarray(network.nonnegative), jnp.abs(weights), weights)


def gate(noise: Theta, log_alpha: Theta) -> Theta:
    """z for uniform draws u = `noise`; with β = 2/3 the power 1/β is a product with a root."""
    odds = (1 - noise) / noise
    s = 1 / (1 + odds * jnp.sqrt(odds) * jnp.exp(-log_alpha / BETA))
    return jnp.clip(s * (ZETA - GAMMA) + GAMMA, 0, 1)


def settled_gate(log_alpha: Theta) -> Theta:
    """ẑ = clip(sigmoid(log α)(ζ − γ) + γ, 0, 1): the gate at test time."""
    return jnp.clip(jax.nn.sigmoid(log_alpha) * (ZETA - GAMMA) + GAMMA, 0, 1)


def expected_open(log_alpha: Theta) -> Scalar:
    """Σ P(z ≠ 0) = Σ sigmoid(log α − β log(−γ/ζ))."""
    return jnp.sum(jax.nn.sigmoid(log_alpha - _SHIFT))
