"""A law composed of classical terms instead of carved from a network (method §2).

Nothing is trained: the best subsets of a vocabulary are found exactly, and their constants fitted.
Every term is polyconvex, so every law is. `mechanics.py` has the terms, `vocabulary.py` which of
them are tried.
"""

from typing import Literal, NamedTuple

from pydantic import Field

from steinmetz.errors import InputError
from steinmetz.potentials import base
from steinmetz.potentials.mechanics import INVARIANTS
from steinmetz.records import Conditions

CONVEX = True
# There is nothing to train.
TRAINING: base.Advice = {}
# The settings of sparsify that matter here; all others are of training and search.
MATTERS = ("parameters",)
# The network for the same materials, where one is asked for.
NETWORK = "icnn"


class Config(base.Settings):
    """How rich a law may be."""

    name: Literal["terms"] = "terms"
    most: int = Field(5, ge=1, le=8, description="terms of the richest law that is looked for")


class Vocabulary(NamedTuple):
    """The invariants whose terms are tried, and how many a law may have."""

    inputs: tuple[str, ...]
    most: int


def build(config: Config, inputs: tuple[str, ...], conditions: Conditions) -> Vocabulary:
    """Terms of the invariants of an isotropic material."""
    if inputs not in (INVARIANTS, INVARIANTS[:2]):
        raise InputError(
            f"potential 'terms' is written in {', '.join(INVARIANTS)}, this material has "
            f"{', '.join(inputs)}; use potential.name = 'mixed'"
        )
    return Vocabulary(inputs, config.most)
