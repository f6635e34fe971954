"""Stress measures against finite differences of the energy and against each other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.physics import kinematics, observe

LAWS = ("gent", "neo_hooke", "mooney_rivlin")


def energy_of(physics, name):
    truth = observe.law(physics, name)

    def energy(F):
        at = StressMap(kinematics.invariants(jnp.asarray(F))[None], jnp.zeros((1, 1, 3)))
        return float(observe.clean_energy(truth, physics.reference, at)[0])

    return energy


def test_invariants_are_those_of_the_eigenvalues(random_tensors):
    for F in random_tensors:
        squares = np.linalg.eigvalsh(F.T @ F)
        I1, I2, J = kinematics.invariants(jnp.asarray(F))
        assert pytest.approx(squares.sum(), rel=1e-12) == I1
        assert pytest.approx((squares.sum() ** 2 - (squares**2).sum()) / 2, rel=1e-12) == I2
        assert pytest.approx(np.linalg.det(F), rel=1e-12) == J


@pytest.mark.parametrize("name", LAWS)
def test_first_piola_is_the_derivative_of_the_energy(physics, random_tensors, name):
    """P = ∂Ψ/∂F by central differences, which also fixes S and σ through P = F S and σ = P Fᵀ/J."""
    energy, step = energy_of(physics, name), 1e-6
    components = tuple(f"P{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))
    states = random_tensors[:4].reshape(4, 9)
    at = observe.rig(physics, states, components)
    stress = np.asarray(observe.clean_values(observe.law(physics, name), physics.reference, at))
    for F, P in zip(states, stress, strict=True):
        for k in range(9):
            shift = step * np.eye(9)[k]
            slope = (energy((F + shift).reshape(3, 3)) - energy((F - shift).reshape(3, 3))) / (
                2 * step
            )
            assert P[k] == pytest.approx(slope, abs=2e-8)


def test_measures_are_consistent(physics, random_tensors):
    truth = observe.law(physics, "gent")

    def tensor(measure, F):
        names = tuple(f"{measure}{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))
        return np.asarray(
            observe.clean_values(
                truth, physics.reference, observe.rig(physics, F.reshape(1, 9), names)
            )
        )

    for F in random_tensors[:5]:
        S, P, sigma = (tensor(measure, F).reshape(3, 3) for measure in ("S", "P", "sigma"))
        np.testing.assert_allclose(P, F @ S, atol=1e-13)
        np.testing.assert_allclose(sigma, F @ S @ F.T / np.linalg.det(F), atol=1e-13)
        np.testing.assert_allclose(S, S.T, atol=1e-13)


@pytest.mark.parametrize("name", LAWS)
def test_reference_is_free_of_stress_and_energy(physics, name):
    at = observe.rig(physics, np.eye(3).reshape(1, 9), physics.default_components)
    truth = observe.law(physics, name)
    assert np.abs(observe.clean_values(truth, physics.reference, at)).max() < 1e-14
    assert abs(observe.clean_energy(truth, physics.reference, at)[0]) < 1e-14


def test_energy_is_objective(physics, random_tensors):
    energy = energy_of(physics, "gent")
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    rotation *= np.sign(np.linalg.det(rotation))
    for F in random_tensors[:5]:
        assert energy(rotation @ F) == pytest.approx(energy(F), rel=1e-10)
        assert energy(F @ rotation) == pytest.approx(energy(F), rel=1e-10)


def test_gent_normalisation_constant(physics):
    """As printed the law has stress n·I with n = 2.6695 at F = I."""
    slope = jax.grad(observe.law(physics, "gent").energy)(jnp.array([3.0, 3.0, 1.0]))
    assert float(jnp.array([2.0, 4.0, 1.0]) @ slope) == pytest.approx(2.6695, abs=1e-4)
