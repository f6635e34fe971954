"""L1: the price λ Σ |θ|, clamped at the end (method §4)."""

from typing import Literal

from pydantic import Field

from steinmetz.sparsify import lp

PRESETS, RANGE, build = lp.PRESETS, lp.RANGE, lp.build


class Config(lp.Config):
    """Lp with p = 1."""

    method: Literal["l1"] = "l1"
    p: Literal[1] = Field(1, description="power of the weights in the price")


__all__ = ["PRESETS", "RANGE", "Config", "build"]
