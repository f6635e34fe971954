"""Observation noise.

Y = ŷ (1 + σ_r ξ) + σ_a ξ', ξ ~ N(0, 1), with the diagonal covariance of method §3.
"""

from typing import Annotated, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from pydantic import BaseModel, ConfigDict, Field, model_validator

from steinmetz import host
from steinmetz.data import counted
from steinmetz.data.student import DEGREES
from steinmetz.records import Observations

# Discrepancy before any is estimated; the part of the noise that is allowed for in any case; and
# the shares of the root-mean-square stress that are tried.
USUAL = 0.02
PART = 0.2
_SHARES = np.geomspace(1e-5, 1, 201)


Share = Annotated[float, Field(ge=0, le=10)]
Size = Annotated[float, Field(ge=0)]
Estimated = Literal["estimated"]


class Config(BaseModel):
    """Noise of the data: standard deviations, stated or to be estimated with the law."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    relative: Share | Estimated = Field(
        0.1,
        description="share of the stress itself (multiplicative noise), or 'estimated' with the "
        "law, where that is composed of terms",
    )
    absolute: Size | Estimated = Field(
        0.0,
        description="in the unit of the stress (additive noise), or 'estimated' with the law, "
        "where that is composed of terms; then it has what the law misses in it too",
    )
    floor: Annotated[float, Field(ge=0, le=1)] | Estimated = Field(
        "estimated",
        description="discrepancy between law and truth, as a share of the root-mean-square stress; "
        "it keeps data at zero stress from getting infinite weight under multiplicative noise. "
        "'estimated' takes the likeliest where laws are composed of terms, and 0.02 for networks; "
        "with an estimated noise.absolute, from which it cannot be told apart, it is none",
    )
    unknown: bool = Field(
        False,
        description="sample a common factor of these deviations with the weights (prior: "
        "log-normal, median 1, sd of the logarithm 1)",
        json_schema_extra={"stage": "infer"},
    )
    tails: Literal["normal", "student"] = Field(
        "normal",
        description=f"'student' for data with outliers: errors have Student's t distribution with "
        f"{DEGREES:g} degrees of freedom, and the deviations are its scale (laws composed of "
        "terms)",
    )
    drawn_relative: Share | None = Field(
        None,
        description="relative noise that synthetic data are drawn with, where they are fitted "
        "under another; as noise.relative says unless given, 0.1 where that is estimated",
    )
    drawn_absolute: Size | None = Field(
        None, description="the same of the absolute noise; none where that is estimated"
    )

    @model_validator(mode="after")
    def _meaningful(self) -> "Config":
        if self.unknown and (self.estimated or self.tails == "student"):
            raise ValueError(
                "noise.unknown = true samples a common factor of stated normal noise; leave it "
                "out where noise.relative or noise.absolute is 'estimated', or noise.tails "
                "'student'"
            )
        return self

    @property
    def allowed(self) -> float:
        """The discrepancy before any is estimated."""
        return USUAL if self.floor == "estimated" else self.floor

    @property
    def estimated(self) -> bool:
        """Whether a part of the noise is estimated with the law."""
        return "estimated" in (self.relative, self.absolute)

    @property
    def numbers(self) -> tuple[float, float]:
        """The relative and the absolute part; not a number where it is to be estimated."""
        unknown = float("nan")
        return (
            unknown if self.relative == "estimated" else self.relative,
            unknown if self.absolute == "estimated" else self.absolute,
        )

    @property
    def drawn(self) -> tuple[float, float]:
        """The relative and the absolute part of what synthetic data are drawn with."""
        usual = 0.1 if self.relative == "estimated" else self.relative
        none = 0.0 if self.absolute == "estimated" else self.absolute
        return (
            usual if self.drawn_relative is None else self.drawn_relative,
            none if self.drawn_absolute is None else self.drawn_absolute,
        )


class Level(NamedTuple):
    """How large the noise is: its discrepancy, as a share of the root-mean-square stress.

    And the relative and the absolute part of cells for which they are not stated.
    """

    floor: float
    relative: float = 0.0
    absolute: float = 0.0


class Draws(NamedTuple):
    """The noise of every predictive draw: what it multiplies stated deviations with.

    Where a part was estimated, a value of it per draw, the last two in the unit of the stress. With
    `tails`, errors have those of Student's t.
    """

    factor: Float[np.ndarray, "draws"]
    relative: Float[np.ndarray, "draws"] | None = None
    absolute: Float[np.ndarray, "draws"] | None = None
    discrepancy: Float[np.ndarray, "draws"] | None = None
    tails: bool = False

    def only(self, draw: int) -> "Draws":
        """The noise of one draw."""
        return self.some(slice(draw, draw + 1))

    def some(self, own: slice) -> "Draws":
        """The noise of some draws."""
        parts = (self.relative, self.absolute, self.discrepancy)
        relative, absolute, missed = (None if part is None else part[own] for part in parts)
        return Draws(self.factor[own], relative, absolute, missed, self.tails)


def filled(observations: Observations, level: Level) -> Observations:
    """The same data with numbers where the noise was to be estimated; else as they are."""
    relative, absolute = observations.relative, observations.absolute
    if not (np.isnan(relative).any() or np.isnan(absolute).any()):
        return observations
    return observations._replace(
        relative=host.held(np.where(np.isnan(relative), level.relative, relative)),
        absolute=host.held(np.where(np.isnan(absolute), level.absolute, absolute)),
    )


@jax.jit
def draw(
    key: Array,
    clean: Float[Array, "*shape"],
    relative: Float[Array, "..."],
    absolute: Float[Array, "..."],
    first: int | Array = 0,
) -> Float[Array, "*shape"]:
    """One noisy copy of `clean` (method §3.

    The paper's N(0, σ²) factor must have mean 1, method §9.1). Where `clean` is a part of a larger
    array, `first` is the number of its first entry there: its noise is that of the whole.
    """
    own, added = jax.random.split(key)
    factor = 1 + relative * counted.normal(own, first, clean.shape)
    return clean * factor + absolute * counted.normal(added, first, clean.shape)


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
    found = PART * float(np.sqrt(np.mean(stated_noise**2))) / observations.scale
    return max(found, float(_SHARES[0]))


@jax.jit
def _deviation(
    absolute: Array, relative: Array, prediction: Array, smallest: Array | float
) -> Array:
    return jnp.sqrt(absolute**2 + (relative * prediction) ** 2 + smallest**2)
