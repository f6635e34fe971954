"""What every way to sparsify declares: its settings, and a penalty that turns raw weights into θ and a price."""

import abc
from typing import Any, Literal

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt32
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, field_validator, model_validator

from steinmetz.potentials.base import Network


class Settings(BaseModel):
    """How networks are trained and what becomes of them; a method adds its own fields and defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    method: str
    restarts: int = Field(8, ge=1, le=4096, description="networks trained side by side")
    steps: int = Field(3000, ge=1, description="Adam steps to the first penalty of the path")
    stride: int = Field(
        400, ge=1, description="Adam steps from one penalty of the path to the next"
    )
    penalties: int = Field(4, ge=1, le=64, description="number of penalties on the path")
    rate: float = Field(0.05, gt=0, le=1, description="learning rate")
    penalty: tuple[PositiveFloat, PositiveFloat] = Field(
        (5.0, 30.0),
        description="first and last λ of the path, in units of log(n)/n: the price of one parameter in the Bayesian "
        "information criterion for n observed cells",
    )
    warm_up: float = Field(
        0.5,
        ge=0,
        le=1,
        description="share of the first steps over which the penalty grows from zero",
    )
    precision: Literal["float32", "float64"] = Field(
        "float32", description="of the training; refits are float64"
    )
    min_relative_noise: float = Field(
        0.1,
        ge=0,
        le=1,
        description="least relative noise assumed while training, so that clean data can be carved too",
    )
    search: bool = Field(
        True, description="whether pruned laws are trimmed further by a search with refits"
    )
    prune: bool = Field(
        True,
        description="whether weights that are zero go away; if not, the law is the whole network",
    )
    candidates: int = Field(
        6, ge=1, le=64, description="parameters tried for removal in every round of trimming"
    )
    beam: int = Field(8, ge=1, le=64, description="shapes of each size kept while trimming")
    max_parameters: int = Field(
        64, ge=1, le=400, description="parameters above which a restart is cut before trimming"
    )
    bic_slack: float = Field(
        10.0,
        ge=0,
        description="a smaller law is preferred while its BIC is at most this much above the lowest",
    )
    parameters: int | None = Field(
        None, ge=1, description="take the law with this many parameters instead"
    )

    @field_validator("penalty")
    @classmethod
    def _rising(cls, penalty: tuple[float, float]) -> tuple[float, float]:
        if penalty[0] > penalty[1]:
            raise ValueError(
                f"sparsify.penalty = {list(penalty)} must rise: the path goes from few to many weights removed"
            )
        return penalty

    @model_validator(mode="after")
    def _whole(self) -> "Settings":
        if self.search and not self.prune:
            raise ValueError(
                "sparsify.search = true needs sparsify.prune = true: a search takes weights away"
            )
        return self


class Penalty(eqx.Module):
    """One way to make weights go away. `raw` is whatever is trained; θ is what the network gets.

    `draws` is the number of random θ over which the loss of one step is averaged.
    """

    draws: eqx.AbstractVar[int]

    @abc.abstractmethod
    def start(
        self, weights: Float[Array, "parameters"], closed: Bool[Array, "parameters"], key: Array
    ) -> Any:
        """Raw variables at the beginning; `closed` marks weights that start switched off."""

    @abc.abstractmethod
    def draw(
        self, network: Network, raw: Any, seed: UInt32[Array, ""], step: Int[Array, ""]
    ) -> Float[Array, "parameters"]:
        """θ of one training step."""

    @abc.abstractmethod
    def price(self, raw: Any) -> Float[Array, ""]:
        """What λ multiplies."""

    @abc.abstractmethod
    def settled(self, network: Network, raw: Any) -> Float[Array, "parameters"]:
        """θ at test time, with exact zeros."""

    @abc.abstractmethod
    def alive(self, raw: Any) -> Bool[Array, "parameters"]:
        """Weights that may still matter; what is dead in a whole unit is cut out while training goes on."""

    def project(self, network: Network, raw: Any) -> Any:
        """Where a step may have left the allowed region, the nearest point in it."""
        return raw


def uniform(seed: UInt32[Array, ""], step: Int[Array, ""], size: int) -> Float[Array, "size"]:
    """Numbers in (0, 1) by hashing (seed, step, place): a permuted congruential generator, one round.

    Gate noise needs speed and no more quality than this; on a processor it is tens of times faster than the default
    generator.
    """
    place = (
        jnp.arange(size, dtype=jnp.uint32) + step.astype(jnp.uint32) * jnp.uint32(0x9E3779B9) + seed
    )
    state = place * jnp.uint32(747796405) + jnp.uint32(2891336453)
    word = ((state >> ((state >> 28) + 4)) ^ state) * jnp.uint32(277803737)
    return ((((word >> 22) ^ word) >> 8).astype(jnp.float32) + 0.5) * jnp.float32(2.0**-24)
