"""Observation noise.

Y = ŷ (1 + σ_r ξ) + σ_a ξ', ξ ~ N(0, 1), with the diagonal covariance of method §3.
"""

from typing import Annotated, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from pydantic import BaseModel, ConfigDict, Field

from steinmetz.records import Observations

# Discrepancy before any is estimated; the part of the noise that is allowed for in any case; and
# the shares of the root-mean-square stress that are tried.
USUAL = 0.02
_PART = 0.2
_SHARES = np.geomspace(1e-5, 1, 201)


class Config(BaseModel):
    """Noise of the data. All three are standard deviations."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    relative: float = Field(
        0.1, ge=0, le=10, description="share of the stress itself (multiplicative noise)"
    )
    absolute: float = Field(0.0, ge=0, description="in the unit of the stress (additive noise)")
    floor: Annotated[float, Field(ge=0, le=1)] | Literal["estimated"] = Field(
        "estimated",
        description="discrepancy between law and truth, as a share of the root-mean-square stress; "
        "it keeps data at zero stress from getting infinite weight under multiplicative noise. "
        "'estimated' takes the likeliest where laws are composed of terms, and 0.02 for networks",
    )
    unknown: bool = Field(
        False,
        description="sample a common factor of these deviations with the weights (prior: "
        "log-normal, median 1, sd of the logarithm 1)",
        json_schema_extra={"stage": "infer"},
    )

    @property
    def allowed(self) -> float:
        """The discrepancy before any is estimated."""
        return USUAL if self.floor == "estimated" else self.floor


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


def discrepancy(
    observations: Observations, prediction: Float[Array, "data components"], given: float | None
) -> tuple[float, float]:
    """The share of the root-mean-square stress that a prediction misses beyond the stated noise.

    The likeliest, if it is so by more than the logarithm of the number of data: one more parameter
    of the noise must pay for itself. Else a fifth of the noise, which keeps data near zero stress
    from deciding everything; or the `given` one. And −2 log likelihood with it.
    """
    seen = np.asarray(observations.observed)
    left = (np.asarray(observations.values) - np.asarray(prediction))[seen] ** 2
    own = np.asarray(stated(observations, prediction, 0.0))[seen] ** 2
    first = least(observations) if given is None else given
    shares = np.append(first, _SHARES[first < _SHARES] if given is None else ())
    variance = own + ((shares * observations.scale) ** 2)[:, None]
    unlikely = np.sum(left / variance + np.log(variance), axis=1)
    unlikely[1:] += np.log(left.size)
    best = int(np.argmin(unlikely))
    return float(shares[best]), float(unlikely[best])


def least(observations: Observations) -> float:
    """The discrepancy of data that do not ask for any, as a share of the root-mean-square stress.

    A fifth of the stated noise.
    """
    seen = np.asarray(observations.observed)
    stated_noise = np.asarray(stated(observations, observations.values, 0.0))[seen]
    found = _PART * float(np.sqrt(np.mean(stated_noise**2))) / observations.scale
    return max(found, float(_SHARES[0]))


@jax.jit
def _deviation(
    absolute: Array, relative: Array, prediction: Array, smallest: Array | float
) -> Array:
    return jnp.sqrt(absolute**2 + (relative * prediction) ** 2 + smallest**2)
