"""Mechanochemistry: kinematics, stresses and chemical potential are derivatives of one energy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cases import Numbers
from steinmetz.experiments import plane_strain
from steinmetz.experiments.base import Experiment
from steinmetz.laws import base as laws
from steinmetz.materials import mechanochemistry
from steinmetz.materials.base import Material
from steinmetz.records import Truth


@pytest.fixture(scope="module")
def mechanics() -> Material:
    return mechanochemistry.build(mechanochemistry.Config())


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    return plane_strain.build(plane_strain.Config())


@pytest.fixture(scope="module")
def truth(mechanics: Material) -> Truth:
    return laws.truth(mechanics, "rudraraju")


def test_law_is_the_printed_polynomial(truth: Truth) -> None:
    e1, e2, e6, c = x = jnp.array([0.1, -0.2, 0.05, 0.3])
    chemical, quartic = 32 * (c**4 - 2 * c**3 + c**2), 1000 * e2**4
    printed = chemical + 20 * (e1**2 + e6**2) + quartic + 20 * (2 * c - 1) * e2**2
    assert float(truth.energy(x)) == pytest.approx(float(printed), rel=1e-12)


def test_stress_and_chemical_potential_are_derivatives_of_the_energy(
    mechanics: Material, experiment: Experiment, truth: Truth
) -> None:
    """S from ∂Ψ/∂F = F S by finite differences in F; μ from a difference in c."""
    state = np.array([1.1, 0.07, -0.12, 0.93, 0.4])
    at = experiment.map(mechanics, state[None], experiment.observed)
    S11, S22, S12, mu = np.asarray(truth.stress(mechanics.reference, at))[0]

    def energy(state: Numbers) -> float:
        return float(truth.energy(mechanics.features(jnp.asarray(state))))

    step = 1e-6
    slope = [(energy(state + step * e) - energy(state - step * e)) / (2 * step) for e in np.eye(5)]
    P = np.reshape(slope[:4], (2, 2))
    S = np.linalg.inv(state[:4].reshape(2, 2)) @ P
    np.testing.assert_allclose(S, [[S11, S12], [S12, S22]], atol=1e-7)
    assert mu == pytest.approx(slope[4], abs=1e-7)


def test_states_fill_the_sampled_box_and_the_path_crosses_it(experiment: Experiment) -> None:
    rows = experiment.sample(jax.random.key(0), 2000)
    away = np.abs(rows[:, :4] - np.eye(2).ravel())
    assert away.max() <= 0.2
    assert away.max(axis=0).min() > 0.19
    assert 0 <= rows[:, 4].min() < 0.01
    assert 0.99 < rows[:, 4].max() <= 1
    course = experiment.course(9)
    np.testing.assert_allclose(course.rows[:, 4], 1.25 * (course.coordinate - 1 + 0.4), atol=1e-12)
    assert course.sampled.sum() == 5


@pytest.mark.parametrize(
    ("state", "message"), [((1, 0, 0, 1, 1.2), "c = 1.2"), ((1, 0, 0, -1, 0.2), "det F = -1")]
)
def test_impossible_states_are_named(
    mechanics: Material, state: tuple[float, ...], message: str
) -> None:
    row = np.array(state, float)
    assert not mechanics.possible(row[None])[0]
    assert message in mechanics.fault(row)
