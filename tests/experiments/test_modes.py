"""Incompressible tests against stresses derived by hand (Rivlin), with Ψ₁ = c1 and Ψ₂ = c2."""

from collections.abc import Callable

import jax
import numpy as np
import pytest

from cases import Numbers, present
from steinmetz import InputError, registry
from steinmetz.experiments import base as experiments
from steinmetz.experiments import observe
from steinmetz.experiments.base import Experiment
from steinmetz.laws import base as laws
from steinmetz.materials import isotropic
from steinmetz.materials.base import Material
from steinmetz.records import Truth

C1, C2 = 0.5, 0.2


@pytest.fixture(scope="module")
def rubber() -> Material:
    return isotropic.build(isotropic.Config(incompressible=True))


@pytest.fixture(scope="module")
def truth(rubber: Material) -> Truth:
    return laws.truth(rubber, "mooney_rivlin", {"c1": C1, "c2": C2})


def build(name: str) -> Experiment:
    return experiments.build(experiments.load(name).Config(name=name))


def stress(
    rubber: Material,
    truth: Truth,
    experiment: Experiment,
    rows: Numbers,
    components: tuple[str, ...],
) -> Numbers:
    at = experiment.map(rubber, experiment.states(np.asarray(rows, float)), components)
    return np.asarray(truth.stress(rubber.reference, at))


STRETCHES = np.array([0.6, 0.9, 1.0, 1.4, 3.0])


@pytest.mark.parametrize(
    ("name", "component", "by_hand"),
    [
        ("uniaxial", "P11", lambda a: 2 * (a - a**-2) * (C1 + C2 / a)),
        ("uniaxial", "sigma11", lambda a: 2 * (a**2 - 1 / a) * (C1 + C2 / a)),
        ("uniaxial", "S11", lambda a: 2 * (1 - a**-3) * (C1 + C2 / a)),
        ("equibiaxial", "P11", lambda a: 2 * (a - a**-5) * (C1 + C2 * a**2)),
        ("equibiaxial", "P22", lambda a: 2 * (a - a**-5) * (C1 + C2 * a**2)),
        ("pure_shear", "P11", lambda a: 2 * (a - a**-3) * (C1 + C2)),
        ("pure_shear", "P22", lambda a: 2 * (1 - a**-2) * (C1 + C2 * a**2)),
        ("pure_shear", "sigma11", lambda a: 2 * (a**2 - a**-2) * (C1 + C2)),
    ],
)
def test_one_stretch(
    rubber: Material, truth: Truth, name: str, component: str, by_hand: Callable[[Numbers], Numbers]
) -> None:
    found = stress(rubber, truth, build(name), STRETCHES[:, None], (component,))
    np.testing.assert_allclose(found[:, 0], by_hand(STRETCHES), atol=1e-12)


def test_two_stretches(rubber: Material, truth: Truth) -> None:
    a, b = np.array([[0.7, 1.3], [1.5, 1.1], [2.0, 2.0], [1.0, 1.0]]).T
    found = stress(rubber, truth, build("biaxial"), np.stack([a, b], axis=1), ("P11", "P22"))
    first = 2 * (a - a**-3 * b**-2) * (C1 + C2 * b**2)
    second = 2 * (b - b**-3 * a**-2) * (C1 + C2 * a**2)
    np.testing.assert_allclose(found, np.stack([first, second], axis=1), atol=1e-12)


def test_simple_shear(rubber: Material, truth: Truth) -> None:
    """σ33 = 0: σ = 2 c1 (b − I) − 2 c2.

    B⁻¹ − I with b = F Fᵀ, so σ11 = 2 c1 γ² and σ22 = −2 c2 γ².
    """
    shear = np.array([-0.5, 0.0, 0.3, 1.2])
    names = ("P12", "sigma12", "sigma11", "sigma22", "sigma33")
    found = stress(rubber, truth, build("simple_shear"), shear[:, None], names)
    slope = 2 * (C1 + C2) * shear
    expected = [slope, slope, 2 * C1 * shear**2, -2 * C2 * shear**2, 0 * shear]
    np.testing.assert_allclose(found, np.stack(expected, axis=1), atol=1e-12)


FREE = [name for name in registry.names("experiments") if build(name).free is not None]


@pytest.mark.parametrize("name", registry.names("experiments"))
def test_contract(name: str) -> None:
    """Rows have the columns, states those of a material, ranges hold what is sampled."""
    experiment = build(name)
    rows = experiment.sample(jax.random.key(0), 30)
    assert rows.shape == (30, len(experiment.columns))
    assert experiment.states(rows).shape == (30, len(experiment.state))
    assert not any(experiment.fault(row) for row in rows)
    covering = experiment.covering(rows)
    fresh = covering.fresh(jax.random.key(1), 200)
    if experiment.free is not None:  # of a box only the corners are bounded
        assert (fresh.min(axis=0) >= rows.min(axis=0) - 1e-12).all()
        assert (fresh.max(axis=0) <= rows.max(axis=0) + 1e-12).all()
    wide = covering.widened(1.5).fresh(jax.random.key(1), 200)
    assert np.ptp(wide[:, 0]) > np.ptp(fresh[:, 0])
    course = experiment.course(101)
    assert len(course.coordinate) == 101
    assert 0 < course.sampled.sum() < 101
    assert np.all(np.diff(course.coordinate) > 0)


@pytest.mark.parametrize("name", FREE)
def test_free_face_has_no_traction_and_volume_is_kept(
    rubber: Material, truth: Truth, name: str
) -> None:
    experiment = build(name)
    rows = experiment.fresh(jax.random.key(0), 20)
    states = experiment.states(rows)
    np.testing.assert_allclose(np.linalg.det(states.reshape(-1, 3, 3)), 1, rtol=1e-12)
    faces = tuple(measure + present(experiment.free) for measure in ("P", "S", "sigma"))
    assert np.abs(stress(rubber, truth, experiment, rows, faces)).max() < 1e-12


def test_energy_does_the_work_of_the_stress(rubber: Material, truth: Truth) -> None:
    """dΨ/dλ = P11 in uniaxial tension, whatever the law."""
    experiment, step = build("uniaxial"), 1e-6
    for name in ("gent", "carroll", "yeoh", "arruda_boyce"):
        law = laws.truth(rubber, name)
        rows = np.array([[1.7], [1.7 + step], [1.7 - step]])
        at = experiment.map(rubber, experiment.states(rows), ("P11",))
        energy = np.asarray(law.energies(rubber.reference, at.inputs))
        found = float(law.stress(rubber.reference, at)[0, 0])
        assert found == pytest.approx((energy[1] - energy[2]) / (2 * step), abs=1e-8)


def test_materials_and_experiments_that_do_not_fit_are_refused(
    rubber: Material, material: Material
) -> None:
    with pytest.raises(InputError, match=r"set material\.incompressible = true"):
        build("uniaxial").check(material)
    with pytest.raises(InputError, match=r"set material\.incompressible = false"):
        build("full_tensor").check(rubber)
    with pytest.raises(InputError, match="name another experiment"):
        build("plane_strain").check(material)
    with pytest.raises(InputError, match=r"no stress component 'P44'.*possible"):
        build("uniaxial").map(rubber, np.eye(3).reshape(1, 9), ("P44",))


def test_blocks_stand_below_each_other_with_a_mask(rubber: Material, truth: Truth) -> None:
    pull, plane = build("uniaxial"), build("biaxial")
    parts = [
        observe.clean(rubber, pull, truth, np.array([[1.2], [1.5]])),
        observe.clean(rubber, plane, truth, np.array([[1.2, 1.1]])),
    ]
    both = observe.joined(parts)
    assert both.components == ("P11", "P22")
    np.testing.assert_array_equal(both.observed, [[True, False], [True, False], [True, True]])
    np.testing.assert_allclose(both.values[:2, 0], parts[0].values[:, 0])
    np.testing.assert_allclose(both.values[2], parts[1].values[0])
    np.testing.assert_allclose(both.operator[2], parts[1].operator[0])
    assert both.cells == 4
