"""Incompressible simple shear: F = I + γ e1⊗E2, the face of normal e3 free (method §1).

P12 = σ12 = 2 γ (Ψ₁ + Ψ₂), whatever the pressure; the normal stresses follow from the free face.
"""

from typing import Literal

import numpy as np
from jaxtyping import Float
from pydantic import Field, field_validator

from steinmetz.experiments import base
from steinmetz.experiments.incompressible import STATE, Incompressible, Range


class Config(base.Settings):
    """Range of the amount of shear."""

    name: Literal["simple_shear"] = "simple_shear"
    shear: Range = Field((0.0, 1.0), description="smallest and largest amount of shear γ")

    @field_validator("shear")
    @classmethod
    def _rises(cls, ends: Range) -> Range:
        if not ends[0] < ends[1]:
            raise ValueError(f"shear = {list(ends)} must rise")
        return ends


class SimpleShear(Incompressible):
    """One amount of shear."""

    def deformation(self, row: base.Row) -> Float[np.ndarray, "3 3"]:
        return np.array([[1.0, row[0], 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


def build(config: Config) -> base.Experiment:
    """The shear force over the undeformed section is observed."""
    return SimpleShear("simple_shear", ("shear",), STATE, ("P12",), "33", (config.shear,), 0.0)
