"""Lp: the price λ Σ |θ|ᵖ for any p > 0; what is small at the end is clamped to zero (method §4)."""

from typing import Literal

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt32
from pydantic import Field, PositiveFloat

from steinmetz.potentials.base import Network
from steinmetz.sparsify import base

# Keeps the slope of |θ|ᵖ finite at zero for p < 1.
_SMOOTH = 1e-4


class Config(base.Settings):
    """A norm of the weights."""

    method: Literal["lp", "l1", "l2"] = "lp"
    p: float = Field(0.5, gt=0, le=4, description="power of the weights in the price")
    rate: float = Field(0.01, gt=0, le=1, description="learning rate")
    penalty: tuple[PositiveFloat, PositiveFloat] = Field(
        (0.1, 3.0), description="smallest and largest λ, log(n)/n"
    )
    clamp: float = Field(
        1e-2, ge=0, description="weights smaller than this are zero after training"
    )


# From hardly any price to more than any weight is worth: the whole L-curve.
RANGE = (0.03, 3000.0)
PRESETS: dict[str, dict] = {
    "paper": {
        "rate": 0.01,
        "warm_up": 0.0,
        "precision": "float64",
        "min_relative_noise": 0.0,
        "search": False,
    }
}


class Norm(base.Penalty):
    """Signs are kept by clamping at zero after every step, as in the paper; clamped weights count as removed."""

    p: float
    clamp: float
    draws: int

    def start(
        self, weights: Float[Array, "parameters"], closed: Bool[Array, "parameters"], key: Array
    ) -> Array:
        return jnp.where(closed, 0.0, weights).astype(weights.dtype)

    def draw(
        self,
        network: Network,
        raw: Float[Array, "parameters"],
        seed: UInt32[Array, ""],
        step: Int[Array, ""],
    ) -> Float[Array, "parameters"]:
        return raw

    def price(self, raw: Float[Array, "parameters"]) -> Float[Array, ""]:
        if self.p >= 1:
            return jnp.sum(jnp.abs(raw) ** self.p)
        return jnp.sum((raw**2 + _SMOOTH**2) ** (self.p / 2))

    def settled(
        self, network: Network, raw: Float[Array, "parameters"]
    ) -> Float[Array, "parameters"]:
        return jnp.where(jnp.abs(raw) < self.clamp, 0.0, raw)

    def alive(self, raw: Float[Array, "parameters"]) -> Bool[Array, "parameters"]:
        return jnp.ones(raw.shape, bool)

    def project(
        self, network: Network, raw: Float[Array, "parameters"]
    ) -> Float[Array, "parameters"]:
        return jnp.where(jnp.asarray(network.nonnegative), jnp.maximum(raw, 0.0), raw)


def build(config: Config) -> Norm:
    return Norm(p=float(config.p), clamp=config.clamp, draws=1)
