"""L2: the price λ Σ θ², clamped at the end (method §4)."""

from typing import Literal

from pydantic import Field

from steinmetz.sparsify import lp

build, RANGE = lp.build, (0.03, 30_000.0)
PRESETS = {"paper": {**lp.PRESETS["paper"], "rate": 0.005}}


class Config(lp.Config):
    """Lp with p = 2."""

    method: Literal["l2"] = "l2"
    p: Literal[2] = Field(2, description="power of the weights in the price")
    rate: float = Field(0.005, gt=0, le=1, description="learning rate")
    search: bool = Field(
        False, description="whether pruned laws are trimmed further by a search with refits"
    )


__all__ = ["PRESETS", "RANGE", "Config", "build"]
