"""Incompressible pure (planar) shear: F = diag(λ, 1, 1/λ), the thickness free (method §1).

P11 = 2 (λ − λ⁻³)(Ψ₁ + Ψ₂), P22 = 2 (1 − λ⁻²)(Ψ₁ + λ² Ψ₂), after Rivlin.
"""

from typing import Literal

import numpy as np
from jaxtyping import Float

from steinmetz.experiments import base
from steinmetz.experiments.incompressible import Curve, Incompressible, curve
from steinmetz.experiments.lateral import lateral


class Config(Curve):
    """Range of the stretch along the pull; the width is held."""

    name: Literal["pure_shear"] = "pure_shear"


class PureShear(Incompressible):
    """One stretch, and a width that is held."""

    def deformation(self, row: base.Row) -> Float[np.ndarray, "3 3"]:
        return np.diag([row[0], 1.0, 1 / row[0]])


def build(config: Config) -> base.Experiment:
    """The force over the undeformed section is observed; a table may also have P22."""
    test = curve(PureShear, config, ("P11",), free="33")
    return lateral(test) if config.lateral else test
