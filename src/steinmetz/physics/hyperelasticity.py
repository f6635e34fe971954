"""Isotropic compressible hyperelasticity: Ψ(I1, I2, J), observed as S, P or σ (method §1)."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from steinmetz.physics import kinematics
from steinmetz.physics.base import Physics
from steinmetz.records import Conditions, Plane, Reference, ValidationPath

_INDICES = [f"{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)]
_BASES = {
    "S": kinematics.second_piola_basis,
    "P": kinematics.first_piola_basis,
    "sigma": kinematics.cauchy_basis,
}
_LOWER = ("21", "31", "32")
_PATH_END = 0.4
POTENTIAL = "icnn"


class Hyperelasticity(Physics):
    """S = 2Ψ₁ I + 2Ψ₂ (I1 I − C) + Ψ_J J C⁻¹; Ψ̂ = Ψ − Ψ(3,3,1) − n (J−1), n = 2(Ψ₁ + 2Ψ₂) + Ψ_J at (3,3,1).

    A state is the deformation gradient, row by row. Polyconvex: convex in (I1, I2, J), non-decreasing in I1 and I2.
    """

    name: str = eqx.field(static=True, default="hyperelasticity")
    inputs: tuple[str, ...] = eqx.field(static=True, default=("I1", "I2", "J"))
    sizes: tuple[float, ...] = eqx.field(static=True, default=(1.0, 1.0, 1.0))
    state: tuple[str, ...] = eqx.field(static=True, default=tuple(f"F{ij}" for ij in _INDICES))
    components: tuple[str, ...] = eqx.field(
        static=True, default=tuple(measure + ij for measure in _BASES for ij in _INDICES)
    )
    default_components: tuple[str, ...] = eqx.field(
        static=True, default=("S11", "S22", "S33", "S12", "S13", "S23")
    )
    aliases: dict[str, str] = eqx.field(
        static=True,
        default_factory=lambda: {m + ij: m + ij[::-1] for m in ("S", "sigma") for ij in _LOWER},
    )
    reference: Reference = eqx.field(
        static=True, default=Reference((3.0, 3.0, 1.0), ((2.0, 4.0, 1.0),), ((0.0, 0.0, 1.0),))
    )
    conditions: Conditions = eqx.field(
        static=True, default=Conditions(convex=True, increasing=("I1", "I2"), stress_free=True)
    )
    planes: tuple[Plane, ...] = eqx.field(static=True, default=())

    def features(self, state: Float[Array, "columns"]) -> Float[Array, "inputs"]:
        return kinematics.invariants(state.reshape(3, 3))

    def operator(
        self, state: Float[Array, "columns"], components: tuple[str, ...]
    ) -> Float[Array, "components inputs"]:
        F = state.reshape(3, 3)
        bases = {
            measure: _BASES[measure](F) for measure in {_split(name)[0] for name in components}
        }
        return jnp.stack([bases[m][i, j] for m, i, j in map(_split, components)])

    def sample(self, key: Array, count: int, spread: float) -> Float[np.ndarray, "count columns"]:
        """F = I + U[−ε, ε]³ˣ³ with ε = `spread`; above ε = 1/3, where det F ≤ 0 can occur, those are left out."""
        state = np.zeros((0, 9))
        while len(state) < count:
            key, draw_key = jax.random.split(key)
            noise = jax.random.uniform(draw_key, (count, 9), minval=-spread, maxval=spread)
            drawn = np.eye(3).ravel() + np.asarray(noise)
            state = np.concatenate([state, drawn[self.possible(drawn)]])
        return state[:count]

    def path(self, count: int, spread: float) -> ValidationPath:
        """F = I + γ e1⊗E1, γ ∈ [−0.4, 0.4]."""
        gamma = np.linspace(-_PATH_END, _PATH_END, count)
        state = np.tile(np.eye(3).ravel(), (count, 1))
        state[:, 0] += gamma
        return ValidationPath(state, 1 + gamma, "F11", np.abs(gamma) <= spread + 1e-12)

    def reach(self, state: Float[np.ndarray, "states columns"]) -> float:
        return float(np.max(np.abs(state - np.eye(3).ravel())))

    def possible(self, state: Float[np.ndarray, "states columns"]) -> Bool[np.ndarray, "states"]:
        return np.linalg.det(state.reshape(-1, 3, 3)) > 0

    def fault(self, state: Float[np.ndarray, "columns"]) -> str:
        return f"det F = {np.linalg.det(state.reshape(3, 3)):.4g} must be positive"


def _split(component: str) -> tuple[str, int, int]:
    """'sigma12' → ('sigma', 0, 1)."""
    return component[:-2], int(component[-2]) - 1, int(component[-1]) - 1


def build() -> Physics:
    return Hyperelasticity()
