"""Incompressible equibiaxial tension: F = diag(λ, λ, λ⁻²), the thickness free (method §1).

P11 = P22 = 2 (λ − λ⁻⁵)(Ψ₁ + λ² Ψ₂), after Rivlin.
"""

from typing import Literal

import numpy as np
from jaxtyping import Float

from steinmetz.experiments import base
from steinmetz.experiments.incompressible import Curve, Incompressible, curve
from steinmetz.experiments.lateral import lateral


class Config(Curve):
    """Range of the stretch in the plane."""

    name: Literal["equibiaxial"] = "equibiaxial"


class Equibiaxial(Incompressible):
    """One stretch, in two directions."""

    def deformation(self, row: base.Row) -> Float[np.ndarray, "3 3"]:
        return np.diag([row[0], row[0], row[0] ** -2])


def build(config: Config) -> base.Experiment:
    """The force over the undeformed section is observed."""
    test = curve(Equibiaxial, config, ("P11",), free="33")
    return lateral(test) if config.lateral else test
