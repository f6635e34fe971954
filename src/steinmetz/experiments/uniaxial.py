"""Incompressible uniaxial tension and compression: F = diag(λ, λ^−½, λ^−½), sides free (method §1).

P11 = 2 (λ − λ⁻²)(Ψ₁ + Ψ₂/λ), after Rivlin.
"""

from typing import Literal

import numpy as np
from jaxtyping import Float

from steinmetz.experiments import base
from steinmetz.experiments.incompressible import Curve, Incompressible, curve
from steinmetz.experiments.lateral import lateral


class Config(Curve):
    """Range of the stretch along the pull."""

    name: Literal["uniaxial"] = "uniaxial"


class Uniaxial(Incompressible):
    """One stretch."""

    def deformation(self, row: base.Row) -> Float[np.ndarray, "3 3"]:
        side = row[0] ** -0.5
        return np.diag([row[0], side, side])


def build(config: Config) -> base.Experiment:
    """The force over the undeformed section is observed."""
    test = curve(Uniaxial, config, ("P11",), free="22")
    return lateral(test) if config.lateral else test
