"""Ogden's law: smooth in the invariants, also where stretches coincide."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from cases import Numbers
from steinmetz.laws import ogden
from steinmetz.materials import kinematics


def in_stretches(F: Numbers) -> float:
    """The law written with eigenvalues."""
    values, J = ogden.PARAMETERS, np.linalg.det(F)
    stretch = np.sqrt(np.linalg.eigvalsh(F.T @ F))
    total = 0.5 * values["kappa"] * (J - 1) ** 2
    for term in "123":
        mu, alpha = values[f"mu{term}"], values[f"alpha{term}"]
        total += mu / alpha * (np.sum(stretch**alpha) - 3) - mu * np.log(J)
    return float(total)


@pytest.mark.parametrize("F", [np.eye(3), np.diag([1.3, 1.0, 1.0]), np.diag([0.6, 1.2, 1.2]), None])
def test_energy_and_slope_are_those_in_stretches(F: Numbers | None) -> None:
    F = np.eye(3) + np.random.default_rng(0).uniform(-0.3, 0.3, (3, 3)) if F is None else F

    def energy(F: Array) -> Array:
        return ogden.energy(kinematics.invariants(F), ogden.PARAMETERS)

    assert float(energy(jnp.asarray(F))) == pytest.approx(in_stretches(F), abs=1e-7)
    step = 1e-5
    shifts = [step * e.reshape(3, 3) for e in np.eye(9)]
    expected = [(in_stretches(F + s) - in_stretches(F - s)) / (2 * step) for s in shifts]
    np.testing.assert_allclose(np.ravel(jax.grad(energy)(jnp.asarray(F))), expected, atol=1e-8)
