"""Plain network with softplus units and no biases, free signs (the paper's for mechanochemistry; method §2)."""

from typing import Literal

from pydantic import Field, PositiveInt

from steinmetz.errors import InputError
from steinmetz.potentials import layered
from steinmetz.potentials.base import Settings
from steinmetz.records import Conditions

# With three layers, gates that close early cut off what is not learned yet: they start open and close slowly.
TRAINING = {
    "l0": {
        "offset": 2.0,
        "warm_up": 1.0,
        "rate": 0.02,
        "steps": 6000,
        "stride": 1500,
        "penalty": (5.0, 300.0),
        "penalties": 6,
    }
}


class Config(Settings):
    """Shape of the network."""

    name: Literal["mlp"] = "mlp"
    widths: tuple[PositiveInt, ...] = Field(
        (4, 16, 4), min_length=1, max_length=6, description="units per hidden layer"
    )
    direct: bool = Field(False, description="whether every layer also sees the inputs")


def build(config: Config, inputs: tuple[str, ...], conditions: Conditions) -> layered.Layered:
    """h_k = softplus(W_k h_{k−1}), Ψ = W h."""
    refuse_convex("mlp", conditions)
    return layered.build(inputs, config.widths, direct=config.direct)


def refuse_convex(name: str, conditions: Conditions) -> None:
    """A network with free signs cannot keep convexity or growth."""
    if conditions.convex or conditions.increasing:
        raise InputError(
            f"potential '{name}' cannot keep Ψ convex, which this physics demands; use 'icnn'"
        )
