"""Lp: the price λ Σ |θ|ᵖ for any p > 0; what is small at the end is clamped to zero (method §4)."""

from typing import Literal

from steinmetz.sparsify import norm

TITLE = "Lp"
RANGE = (0.03, 3000.0)
PRESETS = norm.PRESETS
build = norm.build


class Config(norm.NormSettings):
    """Any power of the weights."""

    method: Literal["lp"] = "lp"
