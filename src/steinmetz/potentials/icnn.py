"""Input-convex neural network with softplus units and no biases (method §2).

Convex in all inputs, non-decreasing in those that the material names (I1 and I2): every weight on a
hidden unit and every weight on those inputs is non-negative; weights on the remaining inputs (J)
have either sign.
"""

from typing import Literal

from pydantic import Field, PositiveInt

from steinmetz.errors import InputError
from steinmetz.potentials import base
from steinmetz.potentials.layered import Layered, Wiring
from steinmetz.records import Conditions

CONVEX = True
# The defaults of every penalty suit it.
TRAINING: base.Advice = {}


class Config(base.Settings):
    """Shape of the network; the default is the paper's 3–30–30–1."""

    name: Literal["icnn"] = "icnn"
    form: Literal["passthrough", "tied"] = Field(
        "passthrough",
        description="separate input weights per layer (Amos et al. 2017), or the paper's W(x + h)",
    )
    widths: tuple[PositiveInt, ...] = Field(
        (30, 30), min_length=1, max_length=6, description="units per hidden layer"
    )


def build(config: Config, inputs: tuple[str, ...], conditions: Conditions) -> Layered:
    """h₁ = softplus(W₁x), Ψ = the last W of what stands before it.

    Passthrough: h_k = softplus(W_k [x, h_{k−1}]). Tied: h_k = softplus(W_k (x + h_{k−1})), with x
    filled up by zeros to the width of h.
    """
    tied = config.form == "tied"
    if tied and min(config.widths) < len(inputs):
        raise InputError(
            f"the tied form needs potential.widths of at least {len(inputs)}, got {config.widths}"
        )
    wiring = Wiring(direct=not tied, tied=tied)
    return Layered(inputs, config.widths, ("softplus",), wiring, conditions.increasing)
