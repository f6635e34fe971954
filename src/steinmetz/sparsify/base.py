"""What every penalty declares: its settings, and how it makes weights go away.

A penalty turns the raw variables that are trained into weights θ of the network, and puts a price
on them; training minimises χ²/n + λ (log n/n) · price. A file of this folder that defines what
`PenaltyFile` lists is a penalty that studies can name.
"""

import abc
from collections.abc import Mapping
from typing import Generic, Literal, Protocol, TypeVar, cast, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pydantic
from jaxtyping import Array, Bool, Float, UInt32
from pydantic import BaseModel, ConfigDict, Field, JsonValue, PositiveFloat

from steinmetz import registry
from steinmetz.potentials.base import Network
from steinmetz.shapes import Count, Scalar, Theta

# First and last λ of a path.
Ends = tuple[PositiveFloat, PositiveFloat]
Mask = Bool[Array, "parameters"]
Seed = UInt32[Array, ""]

# Marks settings that matter only for the choice from the table, after the search.
_CHOICE: dict[str, JsonValue] = {"stage": "carve"}
# Nothing of ours: what the presets of the paper have in common.
PAPER: Mapping[str, object] = {
    "warm_up": 0.0,
    "precision": "float64",
    "min_relative_noise": 0.0,
    "search": False,
}
# Whatever a penalty trains: a tree of arrays.
Raw = TypeVar("Raw")


class Settings(BaseModel):
    """How networks are trained and what becomes of them; a penalty adds fields and defaults.

    λ is measured in units of log(n)/n for n observed cells: the price of one parameter in the
    Bayesian information criterion, where the loss is χ²/n. The path of λ goes from the first to the
    last in equal ratios; λ grows from zero to the first during the warm-up. Training assumes some
    relative noise even for clean data, because their χ² would outweigh any price. Refits are always
    in double precision. A field that matters only after the search, for the choice, says so
    (`stage`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    method: str
    restarts: int = Field(8, ge=1, le=4096, description="networks trained side by side")
    steps: int = Field(3000, ge=1, description="Adam steps to the first penalty of the path")
    stride: int = Field(400, ge=1, description="Adam steps from one penalty to the next")
    penalties: int = Field(4, ge=1, le=64, description="number of penalties on the path")
    rate: float = Field(0.05, gt=0, le=1, description="learning rate")
    penalty: Ends = Field((5.0, 30.0), description="first and last λ of the path, in log(n)/n")
    warm_up: float = Field(0.5, ge=0, le=1, description="share of the first steps in which λ grows")
    precision: Literal["float32", "float64"] = Field(
        "float32",
        description="of the training; float64 where float32 cannot tell the data from rounding",
    )
    min_relative_noise: float = Field(0.1, ge=0, le=1, description="least noise training assumes")
    search: bool = Field(True, description="whether pruned laws are trimmed further, with refits")
    prune: bool = Field(True, description="whether zero weights go away; else the law is the net")
    candidates: int = Field(6, ge=1, le=64, description="removals tried per law in trimming")
    beam: int = Field(8, ge=1, le=64, description="shapes of each size kept while trimming")
    max_parameters: int = Field(64, ge=1, le=400, description="parameters kept for trimming")
    bic_slack: float = Field(
        10.0, ge=0, description="excess of BIC allowed to a smaller law", json_schema_extra=_CHOICE
    )
    parameters: int | None = Field(
        None, ge=1, description="take the law with this many parameters", json_schema_extra=_CHOICE
    )

    @pydantic.model_validator(mode="after")
    def _possible(self) -> "Settings":
        if self.penalty[0] > self.penalty[1]:
            raise ValueError(
                f"sparsify.penalty = {list(self.penalty)} must rise: the path goes from few to "
                "many weights removed"
            )
        if self.search and not self.prune:
            raise ValueError(
                "sparsify.search = true needs sparsify.prune = true: a search takes weights away"
            )
        return self

    @property
    def gaussian_prior(self) -> bool:
        """Whether the price is the negative logarithm of a Gaussian: then it can be the prior."""
        return False

    def prior_deviation(self, penalty: float, cells: int) -> float:
        """Standard deviation of the Gaussian prior that a price of `penalty` = λ stands for.

        In the loss χ²/n + λ (log n/n) Σ θ², n/2 times the last term is ½ Σ (θ/τ)² with
        τ = 1/√(λ log n). Only where `gaussian_prior`.
        """
        return float((penalty * np.log(cells)) ** -0.5)


class Penalty(eqx.Module, Generic[Raw]):
    """How weights go away. `raw` is whatever is trained; θ is what the network gets.

    All methods are for one network and are mapped over many. `draws` is the number of random θ over
    which the loss of one step is averaged; one, where θ is not random.
    """

    draws: eqx.AbstractVar[int]

    @abc.abstractmethod
    def start(self, weights: Theta, closed: Mask, key: Array) -> Raw:
        """Raw variables at the beginning; `closed` marks weights that start switched off."""

    @abc.abstractmethod
    def draw(self, network: Network, raw: Raw, seed: Seed, step: Count) -> Theta:
        """θ of one training step."""

    @abc.abstractmethod
    def price(self, raw: Raw) -> Scalar:
        """What λ multiplies."""

    @abc.abstractmethod
    def settled(self, network: Network, raw: Raw) -> Theta:
        """θ at test time, with exact zeros."""

    @abc.abstractmethod
    def alive(self, raw: Raw) -> Mask:
        """Weights that may still matter; units without any are cut out while training goes on."""

    def project(self, network: Network, raw: Raw) -> Raw:
        """Where a step may have left the allowed region, the nearest point in it."""
        return raw


@runtime_checkable
class PenaltyFile(Protocol):
    """What a file of this folder defines to be a penalty.

    `TITLE` is its name for people, `RANGE` the λ of a whole L-curve, from hardly any price to more
    than any weight is worth, and `PRESETS` has settings by the name of a preset.
    """

    TITLE: str
    RANGE: tuple[float, float]
    PRESETS: Mapping[str, Mapping[str, object]]
    Config: type[Settings]

    def build(self, config: Settings) -> Penalty[object]:
        """The penalty of a configuration."""


def penalty_file(method: str) -> PenaltyFile:
    """The penalty of this name, or an InputError that lists those there are."""
    return cast(PenaltyFile, registry.load("sparsify", method))


def uniform(seed: Seed, step: Count, size: int) -> Float[Array, "size"]:
    """Numbers in (0, 1) by hashing (seed, step, place): a permuted congruential generator.

    One round of it. Gate noise needs speed and no more quality than this; on a processor it is tens
    of times faster than the default generator.
    """
    stride = step.astype(jnp.uint32) * jnp.uint32(0x9E3779B9)
    state = (jnp.arange(size, dtype=jnp.uint32) + stride + seed) * jnp.uint32(747796405)
    state = state + jnp.uint32(2891336453)
    word = ((state >> ((state >> 28) + 4)) ^ state) * jnp.uint32(277803737)
    number: Array = jnp.float32(2.0**-24) * ((((word >> 22) ^ word) >> 8).astype(jnp.float32) + 0.5)
    return number
