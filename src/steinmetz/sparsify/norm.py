"""The price λ Σ |θ|ᵖ, shared by Lp and its named cases L1 and L2 (method §4).

Adam does not set weights to zero by itself: what is smaller than `clamp` at the end is.
"""

import jax.numpy as jnp
from jaxtyping import Array
from pydantic import Field

from steinmetz.potentials.base import Network
from steinmetz.shapes import Count, Scalar, Theta
from steinmetz.sparsify.base import PAPER, Ends, Mask, Penalty, Seed, Settings

# Keeps the slope of |θ|ᵖ finite at zero for p < 1.
_SMOOTH = 1e-4

PRESETS = {"paper": {**PAPER, "rate": 0.01}}


class NormSettings(Settings):
    """A norm of the weights: its power, and what counts as zero."""

    p: float = Field(0.5, gt=0, le=4, description="power of the weights in the price")
    rate: float = Field(0.01, gt=0, le=1, description="learning rate")
    penalty: Ends = Field((0.1, 3.0), description="first and last λ of the path, in log(n)/n")
    clamp: float = Field(1e-2, ge=0, description="weights below this are zero after training")

    @property
    def gaussian_prior(self) -> bool:
        """Σ θ² is."""
        return self.p == 2


class Norm(Penalty[Theta]):
    """Signs are kept by clamping at zero after every step, as in the paper.

    Weights below `clamp` are zero at the end and count as removed. Raw variables are θ itself.
    """

    p: float
    clamp: float
    draws: int

    def start(self, weights: Theta, closed: Mask, key: Array) -> Theta:
        return jnp.where(closed, 0.0, weights).astype(weights.dtype)

    def draw(self, network: Network, raw: Theta, seed: Seed, step: Count) -> Theta:
        return raw

    def price(self, raw: Theta) -> Scalar:
        """Σ |θ|ᵖ; for p < 1 with |θ| smoothed at zero."""
        if self.p >= 1:
            return jnp.sum(jnp.abs(raw) ** self.p)
        return jnp.sum((raw**2 + _SMOOTH**2) ** (self.p / 2))

    def settled(self, network: Network, raw: Theta) -> Theta:
        return jnp.where(jnp.abs(raw) < self.clamp, 0.0, raw)

    def alive(self, raw: Theta) -> Mask:
        """All: a weight that is small now may grow again."""
        return jnp.ones(raw.shape, bool)

    def project(self, network: Network, raw: Theta) -> Theta:
        return jnp.where(jnp.asarray(network.nonnegative), jnp.maximum(raw, 0.0), raw)


def build(config: NormSettings) -> Norm:
    """The norm of a configuration; it is not random, so one draw is all."""
    return Norm(p=float(config.p), clamp=config.clamp, draws=1)
