"""Stress measures against finite differences of the energy and against each other."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cases import Numbers
from steinmetz.experiments.base import Experiment
from steinmetz.laws import base as laws
from steinmetz.materials import kinematics
from steinmetz.materials.base import Material

LAWS = ("gent", "neo_hooke", "mooney_rivlin")
NINE = [f"{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)]


def energy_of(material: Material, name: str) -> Callable[[Numbers], float]:
    truth = laws.truth(material, name)

    def energy(F: Numbers) -> float:
        x = kinematics.invariants(jnp.asarray(F))[None]
        return float(truth.energies(material.reference, x)[0])

    return energy


def stress_of(
    material: Material, full_tensor: Experiment, name: str, F: Numbers, measure: str
) -> Numbers:
    components = tuple(measure + ij for ij in NINE)
    at = full_tensor.map(material, F.reshape(-1, 9), components)
    return np.asarray(laws.truth(material, name).stress(material.reference, at))


def test_invariants_are_those_of_the_eigenvalues(random_tensors: Numbers) -> None:
    for F in random_tensors:
        squares = np.linalg.eigvalsh(F.T @ F)
        I1, I2, J = kinematics.invariants(jnp.asarray(F))
        assert pytest.approx(squares.sum(), rel=1e-12) == I1
        assert pytest.approx((squares.sum() ** 2 - (squares**2).sum()) / 2, rel=1e-12) == I2
        assert pytest.approx(np.linalg.det(F), rel=1e-12) == J


@pytest.mark.parametrize("name", LAWS)
def test_first_piola_is_the_derivative_of_the_energy(
    material: Material, full_tensor: Experiment, random_tensors: Numbers, name: str
) -> None:
    """P = ∂Ψ/∂F by central differences, which also fixes S and σ through P = F S and σ = P Fᵀ/J."""
    energy, step = energy_of(material, name), 1e-6
    states = random_tensors[:4].reshape(4, 9)
    stress = stress_of(material, full_tensor, name, states, "P")
    for F, P in zip(states, stress, strict=True):
        for k in range(9):
            shift = step * np.eye(9)[k]
            ends = [energy((F + sign * shift).reshape(3, 3)) for sign in (1, -1)]
            assert P[k] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=2e-8)


def test_measures_are_consistent(
    material: Material, full_tensor: Experiment, random_tensors: Numbers
) -> None:
    for F in random_tensors[:5]:
        S, P, sigma = (
            stress_of(material, full_tensor, "gent", F, measure).reshape(3, 3)
            for measure in ("S", "P", "sigma")
        )
        np.testing.assert_allclose(P, F @ S, atol=1e-13)
        np.testing.assert_allclose(sigma, F @ S @ F.T / np.linalg.det(F), atol=1e-13)
        np.testing.assert_allclose(S, S.T, atol=1e-13)


@pytest.mark.parametrize("name", LAWS)
def test_reference_is_free_of_stress_and_energy(
    material: Material, full_tensor: Experiment, name: str
) -> None:
    undeformed = np.array(material.undeformed)
    assert np.abs(stress_of(material, full_tensor, name, undeformed, "S")).max() < 1e-14
    assert abs(energy_of(material, name)(undeformed.reshape(3, 3))) < 1e-14


def test_energy_is_objective_and_isotropic(material: Material, random_tensors: Numbers) -> None:
    energy = energy_of(material, "gent")
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    rotation *= np.sign(np.linalg.det(rotation))
    for F in random_tensors[:5]:
        assert energy(rotation @ F) == pytest.approx(energy(F), rel=1e-10)
        assert energy(F @ rotation) == pytest.approx(energy(F), rel=1e-10)


def test_gent_normalisation_constant(material: Material) -> None:
    """As printed the law has stress n·I with n = 2.6695 at F = I."""
    slope = jax.grad(laws.truth(material, "gent").energy)(jnp.array([3.0, 3.0, 1.0]))
    assert float(jnp.array([2.0, 4.0, 1.0]) @ slope) == pytest.approx(2.6695, abs=1e-4)
