"""Network whose units choose among activations, so that a polynomial can be found exactly.

Every unit offers softplus(z) and z² (and z itself, if asked) of one weighted sum z; gates on what
follows decide which of them is used. Every layer sees the inputs and all layers before it, so a
linear term needs no unit.
"""

from typing import Literal

from pydantic import Field, PositiveInt, field_validator

from steinmetz.potentials import base
from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.layered import Layered, Wiring
from steinmetz.records import Conditions

CONVEX = False
# A weighted sum of inputs may have either sign, so a unit must take every number.
_OFFERED = tuple(name for name, kind in ACTIVATIONS.items() if kind.everywhere)
# Squares of squares cannot bear the noise of half-open gates.
TRAINING = {"l0": base.SLOW}


class Config(base.Settings):
    """Shape of the network and what its units may be."""

    name: Literal["mixed"] = "mixed"
    widths: tuple[PositiveInt, ...] = Field(
        (8, 8), min_length=1, max_length=4, description="units per hidden layer"
    )
    activations: tuple[str, ...] = Field(
        ("square", "softplus"),
        min_length=1,
        description=f"what a unit may be, of {', '.join(_OFFERED)}",
    )

    @field_validator("activations")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not set(names) <= set(_OFFERED) or len(set(names)) < len(names):
            possible = ", ".join(_OFFERED)
            raise ValueError(f"potential.activations must be different ones of {possible}")
        return names


def build(config: Config, inputs: tuple[str, ...], conditions: Conditions) -> Layered:
    """h_k = [a(W_k [x, h₁, …, h_{k−1}]) for every activation a], Ψ = W [x, h₁, …]."""
    base.refuse_convex("mixed", conditions)
    return Layered(inputs, config.widths, config.activations, Wiring(direct=True, skip=True))
