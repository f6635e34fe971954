"""Stability at principal stretches, against closed forms and the second derivative of Ψ̂ in F."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cases import Numbers
from steinmetz.assess import stability
from steinmetz.materials.kinematics import invariants
from steinmetz.materials.stretches import directions

STATES = np.array([[1.5, 0.8, 1.2], [2.0, 2.0, 0.5], [1.0, 1.0, 1.0], [0.6, 1.1, 1.3]])


def constant(*slopes: float) -> stability.Slopes:
    """A potential that is linear in its inputs."""
    return lambda x: np.broadcast_to(np.array(slopes), (1, len(x), len(slopes)))


def volumetric(x: Numbers) -> Numbers:
    """Slopes of I1 + 0.2 I2 + (J − 2)² / 2, which softens in compression."""
    return np.stack([np.ones(len(x)), 0.2 + 0 * x[:, 1], x[:, 2] - 2], axis=1)[None]


def energy(F: jax.Array) -> jax.Array:
    """The same as an energy of F."""
    I1, I2, J = invariants(F)
    return jnp.asarray(I1 + 0.2 * I2 + (J - 2) ** 2 / 2)


def test_stress_and_stiffness_of_neo_hooke_at_constant_volume() -> None:
    stretches = np.array([[2.0, 1 / np.sqrt(2), 1 / np.sqrt(2)]])
    found = stability.stiffness(constant(0.5, 0.0), stretches, 2)
    assert found.stress[0, 0, 0] - found.stress[0, 0, 2] == pytest.approx(4 - 0.5)
    uniaxial = np.array([1, -0.5, -0.5])
    assert uniaxial @ found.bend[0, 0] @ uniaxial == pytest.approx(2 * 4 + 0.5, rel=1e-6)
    assert stability.drucker(found)[0, 0] > 0
    assert stability.elliptic(found)[0, 0] > 0


def test_a_negative_slope_in_i2_loses_stability_in_equibiaxial_tension() -> None:
    """C10 = 1, C01 = −0.2: σ = 2 (λ² − λ⁻⁴)(C10 + λ² C01) has its top at a stretch below √5."""
    stretch = np.linspace(1.01, 3, 200)
    states = np.stack([stretch, stretch, stretch**-2.0], axis=1)
    found = stability.stiffness(constant(1.0, -0.2), states, 2)
    falls = np.gradient((stretch**2 - stretch**-4.0) * (1 - 0.2 * stretch**2), stretch) < 0
    margin = stability.drucker(found)[0]
    assert falls.any()
    assert (margin[1:-1] < 0)[falls[1:-1]].all()
    assert (margin[:20] > 0).all()
    assert (stability.elliptic(found)[0][-20:] < 0).all()


def test_ellipticity_is_that_of_the_second_derivative_in_f() -> None:
    """Margins, over their scale, by ∂²Ψ̂/∂F∂F as JAX has it."""
    found = stability.stiffness(volumetric, STATES, 3)
    margins = stability.elliptic(found)[0]
    hessian = jax.hessian(energy)
    for state, margin in zip(STATES, margins, strict=True):
        C = np.asarray(hessian(jnp.diag(jnp.asarray(state))))
        least = []
        for normal in directions(4):
            A = np.einsum("iJkL,J,L->ik", C, normal, normal)
            least.append(np.linalg.eigvalsh(A)[0] / np.abs(A).max())
        assert margin == pytest.approx(min(least), abs=1e-5)


def test_where_a_law_has_no_stress_it_is_not_stable() -> None:
    found = stability.stiffness(lambda x: np.full((1, *x.shape), np.inf), STATES, 3)
    assert (stability.drucker(found) == -np.inf).all()
    assert (stability.elliptic(found) == -np.inf).all()
