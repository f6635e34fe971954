"""Plain network with softplus units, free signs and no biases (method §2).

The paper's choice for mechanochemistry, where Ψ has several wells and may not be convex.
"""

from typing import Literal

from pydantic import Field, PositiveInt

from steinmetz.potentials import base
from steinmetz.potentials.layered import Layered, Wiring
from steinmetz.records import Conditions

CONVEX = False
# With three layers, gates that close early cut off what is not learned yet; it takes more steps and
# a longer path of penalties.
_LONG = {"steps": 6000, "stride": 1500, "penalty": (5.0, 300.0), "penalties": 6}
TRAINING = {"l0": {**base.SLOW, **_LONG}}


class Config(base.Settings):
    """Shape of the network; the default is the paper's 4–4–16–4–1."""

    name: Literal["mlp"] = "mlp"
    widths: tuple[PositiveInt, ...] = Field(
        (4, 16, 4), min_length=1, max_length=6, description="units per hidden layer"
    )
    direct: bool = Field(False, description="whether every layer also sees the inputs")


def build(config: Config, inputs: tuple[str, ...], conditions: Conditions) -> Layered:
    """h_k = softplus(W_k h_{k−1}), Ψ = W h."""
    base.refuse_convex("mlp", conditions)
    return Layered(inputs, config.widths, wiring=Wiring(direct=config.direct))
