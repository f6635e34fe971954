"""Full deformation gradients and any components of the stress at them (method §1)."""

from typing import Literal

from jaxtyping import Array
from pydantic import Field

from steinmetz import host
from steinmetz.experiments import base
from steinmetz.experiments.box import Box


class Config(base.Settings):
    """How far F is from the identity."""

    name: Literal["full_tensor"] = "full_tensor"
    spread: float = Field(0.2, gt=0, lt=1, description="ε of F = I + U[−ε, ε]")


class FullTensor(Box):
    """F = I + U[−ε, ε]³ˣ³."""

    def draw(self, key: Array, count: int) -> tuple[Array, base.Rows]:
        key, draw_key = host.split(key)
        return key, self.deformed(draw_key, count)


def build(config: Config) -> FullTensor:
    """All nine entries of F are columns; S is observed unless a table names P or σ."""
    columns = tuple(f"F{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))
    observed = ("S11", "S22", "S33", "S12", "S13", "S23")
    return FullTensor("full_tensor", columns, columns, observed, None, config.spread)
