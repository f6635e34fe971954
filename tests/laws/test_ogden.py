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


def principal_stresses(stretch: Numbers) -> Numbers:
    """dΨ/dλ_i = Σ μ_p (λ_i^(α_p − 1) − 1/λ_i) + κ (J − 1) J/λ_i."""
    values, J = ogden.PARAMETERS, np.prod(stretch)
    total = values["kappa"] * (J - 1) * J / stretch
    for term in "123":
        mu, alpha = values[f"mu{term}"], values[f"alpha{term}"]
        total = total + mu * (stretch ** (alpha - 1) - 1 / stretch)
    return total


def test_stress_is_exact_up_to_tenfold_stretch(random_tensors: Numbers) -> None:
    """Standard tests, double and nearly double stretches, in axes that are turned."""
    states = []
    for a in (2.0, 4.0, 7.0, 10.0):
        standard = (a, a**-0.5, a**-0.5), (a, a, a**-2), (a, 1, 1 / a), (a, 1, 1), (a, a, a)
        states += [*standard, (a, a * (1 + 1e-9), 1), (a, 1.2 * a, 1.1 * a), (a, 3, 0.5)]
    axes = np.linalg.qr(random_tensors[0])[0]
    tensors = jnp.asarray([axes @ np.diag(stretch) @ axes.T for stretch in states])
    slope = jax.grad(lambda F: ogden.energy(kinematics.invariants(F), ogden.PARAMETERS))
    for stretch, stress in zip(states, np.asarray(jax.jit(jax.vmap(slope))(tensors)), strict=True):
        expected = principal_stresses(np.array(stretch))
        limit = 1e-11 * np.abs(expected).max()
        np.testing.assert_allclose(axes.T @ stress @ axes, np.diag(expected), atol=limit)
