"""Input-convex neural network with softplus units and no biases (method §2).

Convex in all inputs, non-decreasing in I1 and I2: every weight on a hidden unit and every weight on those inputs is
non-negative; weights on the remaining inputs (J) have either sign.
"""

from typing import Literal

from pydantic import Field, PositiveInt

from steinmetz.errors import InputError
from steinmetz.potentials import layered
from steinmetz.potentials.base import Settings
from steinmetz.records import Conditions

# The defaults of every method suit it.
TRAINING: dict[str, dict] = {}


class Config(Settings):
    """Shape of the network."""

    name: Literal["icnn"] = "icnn"
    form: Literal["passthrough", "tied"] = Field(
        "passthrough",
        description="separate input weights per layer (Amos et al. 2017), or the paper's W(x + h)",
    )
    widths: tuple[PositiveInt, ...] = Field(
        (30, 30), min_length=1, max_length=6, description="units per hidden layer"
    )


def build(config: Config, inputs: tuple[str, ...], conditions: Conditions) -> layered.Layered:
    """h₁ = softplus(W₁x); passthrough: h_k = softplus(W_k [x, h_{k−1}]); tied: h_k = softplus(W_k (x + h_{k−1}))."""
    tied = config.form == "tied"
    if tied and min(config.widths) < len(inputs):
        raise InputError(
            f"the tied form needs potential.widths of at least {len(inputs)}, got {config.widths}"
        )
    return layered.build(
        inputs,
        config.widths,
        increasing=conditions.increasing,
        convex=True,
        direct=not tied,
        tied=tied,
    )
