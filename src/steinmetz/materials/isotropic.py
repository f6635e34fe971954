"""Isotropic hyperelasticity: Ψ(I1, I2, J), or Ψ(I1, I2) where J = 1 (method §1).

S = 2Ψ₁ I + 2Ψ₂ (I1 I − C) + Ψ_J J C⁻¹, and Ψ̂ = Ψ − Ψ(3,3,1) − n (J−1) with
n = 2(Ψ₁ + 2Ψ₂) + Ψ_J at (3,3,1): no energy and no stress at F = I, for every Ψ. Polyconvex if Ψ is
convex in (I1, I2, J) and non-decreasing in I1 and I2.
"""

import dataclasses
from typing import Literal

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from pydantic import Field, model_validator

from steinmetz.data import units
from steinmetz.errors import InputError
from steinmetz.materials import base, kinematics, stretches
from steinmetz.materials.demands import Demands
from steinmetz.records import Conditions, Reference
from steinmetz.shapes import Inputs

_INDICES = [f"{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)]
_BASES = {
    "S": kinematics.second_piola_basis,
    "P": kinematics.first_piola_basis,
    "sigma": kinematics.cauchy_basis,
}
# Components below the diagonal of the symmetric measures.
_LOWER = ("21", "31", "32")
# v and d of the normalisation: what a slope adds to the stress at F = I, and the input that removes
# it.
_WEIGHTS = (2.0, 4.0, 1.0)
_DIRECTION = (0.0, 0.0, 1.0)


class Config(base.Settings):
    """Whether the volume can change, and what is demanded far from the reference."""

    name: Literal["isotropic"] = "isotropic"
    incompressible: bool = Field(
        False, description="J = 1 always: the potential depends on I1 and I2, pressure is free"
    )
    growth: bool = Field(
        True, description="demand an energy that is infinite at zero volume and infinite stretch"
    )
    bulk: float | str | None = Field(
        None,
        description="bulk modulus of a nearly incompressible material, such as '2 GPa', or a "
        "number in the unit of the stress: tests are analysed with J = 1, and the law gets "
        "−n log J + κ/2 (J − 1)² with this κ",
        json_schema_extra={"silent": True},
    )

    @model_validator(mode="after")
    def _given(self) -> "Config":
        if self.bulk is None:
            return self
        if not self.incompressible:
            raise ValueError(
                "material.bulk is for tests in which the volume is taken as constant; here the "
                "volume is measured and the bulk modulus follows from the data: leave it out"
            )
        if self.bulk == "estimated":
            raise ValueError(
                "the bulk modulus cannot be estimated from tests in which the volume is taken as "
                "constant; measure the lateral stretch too (a column 'lateral_stretch'), or give "
                "the bulk modulus, such as '2 GPa'"
            )
        if isinstance(self.bulk, str):
            units.pressure(self.bulk)
        elif not 0 < self.bulk < float("inf"):
            raise ValueError(f"material.bulk = {self.bulk:g} must be positive")
        return self


@dataclasses.dataclass(frozen=True)
class Isotropic(base.Material):
    """A state is the deformation gradient, row by row.

    `bulk` is the bulk modulus as it was given, None where none was; `in_unit` puts it into the
    reference.
    """

    bulk: float | str | None = None

    def in_unit(self, unit: str) -> "Isotropic":
        if self.bulk is None:
            return self
        size = _converted(self.bulk, unit) if isinstance(self.bulk, str) else self.bulk
        return dataclasses.replace(self, reference=dataclasses.replace(self.reference, bulk=size))

    @property
    def completed(self) -> "Isotropic":
        growth = self.conditions.growth
        return build(Config(growth=growth)) if self.reference.bulk else self

    def features(self, state: base.State) -> Inputs:
        return kinematics.invariants(state.reshape(3, 3))[: len(self.inputs)]

    def operator(
        self, state: base.State, components: tuple[str, ...]
    ) -> Float[Array, "components inputs"]:
        F = state.reshape(3, 3)
        bases = {
            measure: _BASES[measure](F) for measure in {_split(name)[0] for name in components}
        }
        rows = jnp.stack([bases[m][i, j] for m, i, j in map(_split, components)])
        return rows[:, : len(self.inputs)]

    def pressure(
        self, state: base.State, components: tuple[str, ...]
    ) -> Float[Array, "components"]:
        """σ loses p I, so P loses p J F⁻ᵀ and S loses p J C⁻¹: the term that Ψ_J multiplies."""
        F = state.reshape(3, 3)
        return jnp.stack([_BASES[m](F)[i, j, 2] for m, i, j in map(_split, components)])

    def demands(self, states: base.States) -> Demands:
        """Moduli, energy, growth and ellipticity, over stretches around the data and beyond."""
        measured = np.linalg.svd(states.reshape(-1, 3, 3), compute_uv=False)
        return stretches.demands(measured, self.incompressible, self.conditions.growth)

    def possible(self, states: base.States) -> Bool[np.ndarray, "states"]:
        return np.asarray(np.linalg.det(states.reshape(-1, 3, 3)) > 0)

    def fault(self, state: Float[np.ndarray, "columns"]) -> str:
        return f"det F = {np.linalg.det(state.reshape(3, 3)):.4g} must be positive"


def _converted(given: str, unit: str) -> float:
    """A bulk modulus with its unit in that of the data."""
    value, own = units.pressure(given)
    if not unit:
        raise InputError(
            f"material.bulk = '{given}' has a unit, but the stress has none: declare it, such as "
            "--unit MPa, or give a plain number in the unit of the stress"
        )
    return value * own.size / units.of_stress(unit).size


def _split(component: str) -> tuple[str, int, int]:
    """'sigma12' → ('sigma', 0, 1)."""
    return component[:-2], int(component[-2]) - 1, int(component[-1]) - 1


def build(config: Config) -> Isotropic:
    """Three invariants, or two and a free pressure."""
    free = config.incompressible
    wanted = Conditions(True, ("I1", "I2"), stress_free=True, growth=config.growth)
    reference = (
        Reference((3.0, 3.0)) if free else Reference((3.0, 3.0, 1.0), (_WEIGHTS,), (_DIRECTION,))
    )
    return Isotropic(
        name="isotropic",
        potential="terms",
        experiment="uniaxial" if free else "full_tensor",
        state=tuple(f"F{ij}" for ij in _INDICES),
        undeformed=tuple(np.eye(3).ravel().tolist()),
        inputs=("I1", "I2") if free else ("I1", "I2", "J"),
        sizes=(1.0, 1.0) if free else (1.0, 1.0, 1.0),
        components=tuple(measure + ij for measure in _BASES for ij in _INDICES),
        reference=reference,
        conditions=wanted,
        aliases={m + ij: m + ij[::-1] for m in ("S", "sigma") for ij in _LOWER},
        constants={"J": 1.0} if free else {},
        incompressible=free,
        objective=True,
        bulk=config.bulk,
    )
