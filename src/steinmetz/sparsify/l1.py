"""L1: the price λ Σ |θ|, clamped at the end (method §4)."""

from typing import Literal

from pydantic import Field

from steinmetz.sparsify import norm

TITLE = "L1"
RANGE = (0.03, 3000.0)
PRESETS = norm.PRESETS
build = norm.build


class Config(norm.NormSettings):
    """Lp with p = 1."""

    method: Literal["l1"] = "l1"
    p: Literal[1] = Field(1, description="power of the weights in the price")
