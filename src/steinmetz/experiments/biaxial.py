"""Incompressible biaxial tension: F = diag(λ1, λ2, 1/(λ1 λ2)), the thickness free (method §1).

P11 = 2 (λ1 − λ1⁻³ λ2⁻²)(Ψ₁ + λ2² Ψ₂), and P22 with 1 and 2 exchanged, after Rivlin.
"""

from typing import Literal

import numpy as np
from jaxtyping import Float

from steinmetz.experiments import base
from steinmetz.experiments.incompressible import STATE, Curve, Incompressible
from steinmetz.experiments.lateral import lateral


class Config(Curve):
    """Range of both stretches."""

    name: Literal["biaxial"] = "biaxial"


class Biaxial(Incompressible):
    """Two stretches, independent of each other."""

    def deformation(self, row: base.Row) -> Float[np.ndarray, "3 3"]:
        return np.diag([row[0], row[1], 1 / (row[0] * row[1])])

    def beside(self, first: Float[np.ndarray, "rows"]) -> Float[np.ndarray, "rows"]:
        """λ2 = √λ1: between a width that is held and an equal stretch."""
        return np.asarray(np.sqrt(first))


def build(config: Config) -> base.Experiment:
    """Both forces over the undeformed sections are observed."""
    ranges = (config.stretch, config.stretch)
    columns = ("stretch1", "stretch2")
    test = Biaxial("biaxial", columns, STATE, ("P11", "P22"), "33", ranges, 1.0)
    return lateral(test) if config.lateral else test
