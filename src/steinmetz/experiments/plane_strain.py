"""In-plane deformation gradients and concentrations; S and μ are observed (method §1)."""

from typing import Literal

import jax
import numpy as np
from jaxtyping import Array
from pydantic import Field

from steinmetz.experiments import base
from steinmetz.experiments.box import PATH_END, Box


class Config(base.Settings):
    """How far F is from the identity; a concentration is anything from 0 to 1."""

    name: Literal["plane_strain"] = "plane_strain"
    spread: float = Field(0.2, gt=0, lt=1, description="ε of F = I + U[−ε, ε]")


class PlaneStrain(Box):
    """F = I + U[−ε, ε]²ˣ² and c ~ U[0, 1]."""

    def draw(self, key: Array, count: int) -> tuple[Array, base.Rows]:
        key, strain_key, mix_key = jax.random.split(key, 3)
        mix = np.asarray(jax.random.uniform(mix_key, (count, 1)))
        return key, np.concatenate([self.deformed(strain_key, count), mix], axis=1)

    def course(self, count: int) -> base.Course:
        """F = I + γ e1⊗E1, γ ∈ [−0.4, 0.4], c = 1.25 (γ + 0.4)."""
        course = super().course(count)
        course.rows[:, 4] = (np.linspace(-PATH_END, PATH_END, count) + PATH_END) / (2 * PATH_END)
        return course


def build(config: Config) -> PlaneStrain:
    """Four entries of F and c are columns; S and μ are observed."""
    columns, observed = ("F11", "F12", "F21", "F22", "c"), ("S11", "S22", "S12", "mu")
    return PlaneStrain("plane_strain", columns, columns, observed, None, config.spread)
