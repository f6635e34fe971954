"""Network whose units choose among activations under the same gates, so that a polynomial can be found exactly.

Every unit offers softplus(z) and z² (and z itself, if asked) of one weighted sum z; gates on what follows decide which
of them is used. Every layer sees the inputs and all layers before it, so a linear term needs no unit.
"""

from typing import Literal

from pydantic import Field, PositiveInt, field_validator

from steinmetz.potentials import layered
from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.base import Settings
from steinmetz.potentials.mlp import refuse_convex
from steinmetz.records import Conditions

# Squares of squares cannot bear the noise of half-open gates: they start open and close slowly.
TRAINING = {"l0": {"offset": 2.0, "warm_up": 1.0, "rate": 0.02}}


class Config(Settings):
    """Shape of the network and what its units may be."""

    name: Literal["mixed"] = "mixed"
    widths: tuple[PositiveInt, ...] = Field(
        (8, 8), min_length=1, max_length=4, description="units per hidden layer"
    )
    activations: tuple[str, ...] = Field(
        ("square", "softplus"),
        min_length=1,
        description=f"what a unit may be, of {', '.join(ACTIVATIONS)}",
    )

    @field_validator("activations")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not set(names) <= set(ACTIVATIONS) or len(set(names)) < len(names):
            raise ValueError(
                f"potential.activations must be different ones of {', '.join(ACTIVATIONS)}"
            )
        return names


def build(config: Config, inputs: tuple[str, ...], conditions: Conditions) -> layered.Layered:
    """h_k = [a(W_k [x, h₁, …, h_{k−1}]) for every activation a], Ψ = W [x, h₁, …]."""
    refuse_convex("mixed", conditions)
    return layered.build(inputs, config.widths, config.activations, direct=True, skip=True)
