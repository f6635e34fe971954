"""Mechanochemistry in plane strain: Ψ(e1, e2, e6, c), observed as S and the chemical potential μ (method §1)."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from steinmetz.physics.base import Physics
from steinmetz.records import Conditions, Plane, Reference, ValidationPath

_PATH_END = 0.4
_STRAINS, _SHARES = (-0.25, 0.25), (-0.1, 1.1)
POTENTIAL = "mixed"
_ROWS = {
    "S11": (1 / np.sqrt(3), 1 / np.sqrt(2), 0.0, 0.0),
    "S22": (1 / np.sqrt(3), -1 / np.sqrt(2), 0.0, 0.0),
    "S12": (0.0, 0.0, 1 / np.sqrt(2), 0.0),
    "mu": (0.0, 0.0, 0.0, 1.0),
}


class Mechanochemistry(Physics):
    """E = ½(FᵀF − I), e1 = tr E/√3, e2 = (E11 − E22)/√2, e6 = √2 E12; S = ∂Ψ/∂E, μ = ∂Ψ/∂c; Ψ̂ = Ψ − Ψ(0).

    A state is the in-plane deformation gradient, row by row, and the concentration c. Ψ has several wells, so nothing
    is demanded of its curvature.
    """

    name: str = eqx.field(static=True, default="mechanochemistry")
    inputs: tuple[str, ...] = eqx.field(static=True, default=("e1", "e2", "e6", "c"))
    # strains of a tenth, concentrations of one
    sizes: tuple[float, ...] = eqx.field(static=True, default=(0.1, 0.1, 0.1, 1.0))
    state: tuple[str, ...] = eqx.field(static=True, default=("F11", "F12", "F21", "F22", "c"))
    components: tuple[str, ...] = eqx.field(static=True, default=("S11", "S22", "S12", "S21", "mu"))
    default_components: tuple[str, ...] = eqx.field(
        static=True, default=("S11", "S22", "S12", "mu")
    )
    aliases: dict[str, str] = eqx.field(static=True, default_factory=lambda: {"S21": "S12"})
    reference: Reference = eqx.field(static=True, default=Reference((0.0,) * 4, ((0.0,) * 4,), ((0.0,) * 4,)))
    conditions: Conditions = eqx.field(
        static=True, default=Conditions(convex=False, increasing=(), stress_free=False)
    )
    planes: tuple[Plane, ...] = eqx.field(
        static=True,
        default=(
            Plane("e2", "c", _STRAINS, _SHARES),
            Plane("e1", "c", _STRAINS, _SHARES),
            Plane("e1", "e2", _STRAINS, _STRAINS),
        ),
    )

    def features(self, state: Float[Array, "columns"]) -> Float[Array, "inputs"]:
        F, c = state[:4].reshape(2, 2), state[4]
        E = 0.5 * (F.T @ F - jnp.eye(2))
        return jnp.stack(
            [
                (E[0, 0] + E[1, 1]) / np.sqrt(3),
                (E[0, 0] - E[1, 1]) / np.sqrt(2),
                np.sqrt(2) * E[0, 1],
                c,
            ]
        )

    def operator(
        self, state: Float[Array, "columns"], components: tuple[str, ...]
    ) -> Float[Array, "components inputs"]:
        """Constant: S = ∂Ψ/∂E is the symmetric gradient, so S12 = Ψ_e6/√2."""
        return jnp.asarray(
            [_ROWS[self.aliases.get(name, name)] for name in components], state.dtype
        )

    def sample(self, key: Array, count: int, spread: float) -> Float[np.ndarray, "count columns"]:
        """F = I + U[−ε, ε]²ˣ² with ε = `spread` and det F > 0; c ~ U[0, 1]."""
        state = np.zeros((0, 5))
        while len(state) < count:
            key, strain_key, mix_key = jax.random.split(key, 3)
            noise = jax.random.uniform(strain_key, (count, 4), minval=-spread, maxval=spread)
            mix = jax.random.uniform(mix_key, (count, 1))
            drawn = np.concatenate([np.eye(2).ravel() + np.asarray(noise), np.asarray(mix)], axis=1)
            state = np.concatenate([state, drawn[self.possible(drawn)]])
        return state[:count]

    def path(self, count: int, spread: float) -> ValidationPath:
        """F = I + γ e1⊗E1, γ ∈ [−0.4, 0.4], c = 1.25 (γ + 0.4)."""
        gamma = np.linspace(-_PATH_END, _PATH_END, count)
        state = np.tile(np.append(np.eye(2).ravel(), 0.0), (count, 1))
        state[:, 0] += gamma
        state[:, 4] = (gamma + _PATH_END) / (2 * _PATH_END)
        return ValidationPath(state, 1 + gamma, "F11", np.abs(gamma) <= spread + 1e-12)

    def reach(self, state: Float[np.ndarray, "states columns"]) -> float:
        return float(np.max(np.abs(state[:, :4] - np.eye(2).ravel())))

    def possible(self, state: Float[np.ndarray, "states columns"]) -> Bool[np.ndarray, "states"]:
        """det F > 0; a concentration is a share."""
        inside = (state[:, 4] >= 0) & (state[:, 4] <= 1)
        return (np.linalg.det(state[:, :4].reshape(-1, 2, 2)) > 0) & inside

    def fault(self, state: Float[np.ndarray, "columns"]) -> str:
        if not 0 <= state[4] <= 1:
            return f"c = {state[4]:.4g} must lie between 0 and 1"
        return f"det F = {np.linalg.det(state[:4].reshape(2, 2)):.4g} must be positive"


def build() -> Physics:
    return Mechanochemistry()
