"""L2: the price λ Σ θ², clamped at the end (method §4).

It makes weights small, not few, so nothing is trimmed by default. It is a Gaussian prior on θ.
"""

from typing import Literal

from pydantic import Field

from steinmetz.sparsify import norm
from steinmetz.sparsify.base import PAPER

TITLE = "L2"
# Squares of small weights cost little: the roll-off lies ten times further than for L1.
RANGE = (0.03, 30_000.0)
PRESETS = {"paper": {**PAPER, "rate": 0.005}}
build = norm.build


class Config(norm.NormSettings):
    """Lp with p = 2."""

    method: Literal["l2"] = "l2"
    p: Literal[2] = Field(2, description="power of the weights in the price")
    rate: float = Field(0.005, gt=0, le=1, description="learning rate")
    search: bool = Field(False, description="whether pruned laws are trimmed further, with refits")
