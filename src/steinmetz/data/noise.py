"""Observation noise.

Y = ŷ (1 + σ_r ξ) + σ_a ξ', ξ ~ N(0, 1), with the diagonal covariance of method §3.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from pydantic import BaseModel, ConfigDict, Field

from steinmetz.records import Observations


class Config(BaseModel):
    """Noise of the data. All three are standard deviations."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    relative: float = Field(
        0.1, ge=0, le=10, description="share of the stress itself (multiplicative noise)"
    )
    absolute: float = Field(0.0, ge=0, description="in the unit of the stress (additive noise)")
    floor: float = Field(
        0.02,
        ge=0,
        le=1,
        description="model discrepancy allowed for, as a share of the root-mean-square stress; "
        "keeps data at zero stress from getting infinite weight under multiplicative noise",
    )
    unknown: bool = Field(
        False,
        description="sample a common factor of these deviations with the weights (prior: "
        "log-normal, median 1, sd of the logarithm 1)",
        json_schema_extra={"stage": "infer"},
    )


@jax.jit
def draw(
    key: Array,
    clean: Float[Array, "*shape"],
    relative: Float[Array, "..."],
    absolute: Float[Array, "..."],
) -> Float[Array, "*shape"]:
    """One noisy copy of `clean` (method §3.

    The paper's N(0, σ²) factor must have mean 1, method §9.1).
    """
    first, second = jax.random.split(key)
    factor = 1 + relative * jax.random.normal(first, clean.shape)
    return clean * factor + absolute * jax.random.normal(second, clean.shape)


def deviation(
    observations: Observations, prediction: Float[Array, "data components"], floor: float
) -> Float[Array, "data components"]:
    """sd = √(σ_a² + (σ_r |ŷ|)² +.

    Floor · rms²), with ŷ held at `prediction` and rms the size of the data.
    """
    return stated(observations, prediction, floor * observations.scale)


def stated(
    observations: Observations, prediction: Float[Array, "data components"], discrepancy: float
) -> Float[Array, "data components"]:
    """The same with the discrepancy in the unit of the stress."""
    found: Array = _deviation(observations.absolute, observations.relative, prediction, discrepancy)
    return found


@jax.jit
def _deviation(
    absolute: Array, relative: Array, prediction: Array, smallest: Array | float
) -> Array:
    return jnp.sqrt(absolute**2 + (relative * prediction) ** 2 + smallest**2)
