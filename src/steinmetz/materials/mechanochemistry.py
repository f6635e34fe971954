"""Mechanochemistry in plane strain: Ψ(e1, e2, e6, c), with stress S and potential μ (method §1).

E = ½(FᵀF − I), e1 = tr E/√3, e2 = (E11 − E22)/√2, e6 = √2 E12; S = ∂Ψ/∂E, μ = ∂Ψ/∂c; Ψ̂ = Ψ − Ψ(0).
Ψ has several wells, so nothing is demanded of its curvature; it must not fall without bound.
"""

from collections.abc import Iterator
from itertools import product
from typing import Literal

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from steinmetz.materials import base
from steinmetz.materials.demands import Demands, Limit
from steinmetz.records import Conditions, Plane, Reference
from steinmetz.shapes import Inputs

_STRAINS = (-0.25, 0.25)
# A little beyond what a concentration can be, so that wells at its ends are seen.
_SHARES = (-0.1, 1.1)
# Far states: exponents of the two stretches, steps per factor of ten, and factors of ten.
_WAYS = ((1.0, 0.0), (1.0, 1.0), (1.0, -1.0), (1.0, 0.5))
_DECADE, _DECADES = 4, 3
# S = ∂Ψ/∂E is the symmetric gradient, so S12 = Ψ_e6/√2.
_ROWS = {
    "S11": (1 / np.sqrt(3), 1 / np.sqrt(2), 0.0, 0.0),
    "S22": (1 / np.sqrt(3), -1 / np.sqrt(2), 0.0, 0.0),
    "S12": (0.0, 0.0, 1 / np.sqrt(2), 0.0),
    "mu": (0.0, 0.0, 0.0, 1.0),
}


class Config(base.Settings):
    """It has no settings."""

    name: Literal["mechanochemistry"] = "mechanochemistry"


class Mechanochemistry(base.Material):
    """A state is the in-plane deformation gradient, row by row, and the concentration c."""

    def features(self, state: base.State) -> Inputs:
        F, c = state[:4].reshape(2, 2), state[4]
        E = 0.5 * (F.T @ F - jnp.eye(2))
        e1, e2 = (E[0, 0] + E[1, 1]) / np.sqrt(3), (E[0, 0] - E[1, 1]) / np.sqrt(2)
        return jnp.stack([e1, e2, np.sqrt(2) * E[0, 1], c])

    def operator(
        self, state: base.State, components: tuple[str, ...]
    ) -> Float[Array, "components inputs"]:
        return jnp.asarray(
            [_ROWS[self.aliases.get(name, name)] for name in components], state.dtype
        )

    def demands(self, states: base.States) -> Demands:
        """No strain, however large, may release energy without bound, at any concentration."""
        labels, paths = zip(*_far(), strict=True)
        name = "bounded below"
        return Demands(limits=(Limit(name, False, True, labels, np.stack(paths), _DECADE),))

    def possible(self, states: base.States) -> Bool[np.ndarray, "states"]:
        """det F > 0; a concentration is a share."""
        inside = (states[:, 4] >= 0) & (states[:, 4] <= 1)
        return np.asarray((np.linalg.det(states[:, :4].reshape(-1, 2, 2)) > 0) & inside)

    def fault(self, state: Float[np.ndarray, "columns"]) -> str:
        if not 0 <= state[4] <= 1:
            return f"c = {state[4]:.4g} must lie between 0 and 1"
        return f"det F = {np.linalg.det(state[:4].reshape(2, 2)):.4g} must be positive"


def _far() -> Iterator[tuple[str, Float[np.ndarray, "steps 5"]]]:
    """F = R diag(s^a, s^b) Rᵀ up to s = 1000, with several axes of stretch and concentrations."""
    s = np.logspace(0, _DECADES, _DECADE * _DECADES + 1)
    for powers, degrees, c in product(_WAYS, range(0, 180, 15), (0.0, 0.25, 0.5, 0.75, 1.0)):
        cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        axes, stretch = np.array([[cos, -sin], [sin, cos]]), s[:, None] ** np.array(powers)
        tensors = np.einsum("ik,sk,jk->sij", axes, stretch, axes).reshape(-1, 4)
        way = f"stretches s^{powers[0]:g}, s^{powers[1]:g} at {degrees}°, c = {c}"
        yield way, np.column_stack([tensors, np.full(len(s), c)])


def build(config: Config) -> Mechanochemistry:
    """Strains of a tenth and concentrations of one are its natural sizes."""
    none = (0.0,) * 4
    return Mechanochemistry(
        name="mechanochemistry",
        potential="mixed",
        experiment="plane_strain",
        state=("F11", "F12", "F21", "F22", "c"),
        undeformed=(1.0, 0.0, 0.0, 1.0, 0.0),
        inputs=("e1", "e2", "e6", "c"),
        sizes=(0.1, 0.1, 0.1, 1.0),
        components=("S11", "S22", "S12", "S21", "mu"),
        reference=Reference(none, (none,), (none,)),  # energy alone is shifted
        conditions=Conditions(convex=False, increasing=(), stress_free=False),
        aliases={"S21": "S12"},
        objective=True,
        planes=(
            Plane("e2", "c", _STRAINS, _SHARES),
            Plane("e1", "c", _STRAINS, _SHARES),
            Plane("e1", "e2", _STRAINS, _STRAINS),
        ),
    )
