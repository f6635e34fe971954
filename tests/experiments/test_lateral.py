"""Tests with a measured lateral stretch: F in full, free sides as data, the law of the volume."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from cases import Numbers, defaults
from steinmetz import InputError
from steinmetz.data import noise
from steinmetz.engine.carved import carve_law, stage_keys
from steinmetz.engine.problem import prepare
from steinmetz.experiments import base as experiments
from steinmetz.experiments import door, modes
from steinmetz.experiments.lateral import Lateral
from steinmetz.experiments.measured import observations
from steinmetz.laws import base as laws
from steinmetz.materials import isotropic
from steinmetz.materials.base import Material
from steinmetz.studies import measured

# Ψ = μ/2 (I1 − 3) − μ log J + κ/2 (J − 1)², of which sides are free where λ_t² − 1 + κ/μ J (J − 1)
# is zero.
MU, KAPPA = 1.0, 2.0


def lateral(name: str) -> Lateral:
    test = experiments.build(defaults(experiments.load(name).Config, name=name, lateral=True))
    assert isinstance(test, Lateral)
    return test


def aside(loaded: Numbers, sides: int) -> Numbers:
    """The lateral stretch at which sides are free, by bisection."""
    low, high = np.full(loaded.shape, 0.1), np.full(loaded.shape, 3.0)
    for _ in range(60):
        t = (low + high) / 2
        J = loaded * t**sides
        pulled = MU * (t**2 - 1) + KAPPA * J * (J - 1) > 0
        low, high = np.where(pulled, low, t), np.where(pulled, t, high)
    return np.asarray((low + high) / 2)


def stress(stretch: Numbers, J: Numbers) -> Numbers:
    """P11 at a principal stretch."""
    return np.asarray(MU * (stretch - 1 / stretch) + KAPPA * (J - 1) * J / stretch)


def table(path: Path, name: str, rows: int = 12, sd: float = 0.0) -> Path:
    """A test of that foam."""
    a = np.linspace(0.8, 1.6, rows)
    loaded, sides = (a**2, 1) if name == "equibiaxial" else (a, 2 if name == "uniaxial" else 1)
    t, random = aside(loaded, sides), np.random.default_rng(rows)
    P = stress(a, loaded * t**sides) * (1 + sd * random.standard_normal(rows))
    cells = np.stack([a, 100 * (t - 1), P], axis=1).tolist()
    lines = [",".join(map(repr, row)) for row in cells]
    path.write_text(f"# mode: {name}\nstretch,lateral strain (%),P11 (kPa)\n" + "\n".join(lines))
    return path


@pytest.mark.parametrize(
    ("name", "row", "diagonal", "face"),
    [
        ("uniaxial", [1.5, 0.9], [1.5, 0.9, 0.9], "P22"),
        ("equibiaxial", [1.5, 0.7], [1.5, 1.5, 0.7], "P33"),
        ("pure_shear", [1.5, 0.8], [1.5, 1.0, 0.8], "P33"),
        ("biaxial", [1.5, 1.2, 0.7], [1.5, 1.2, 0.7], "P33"),
    ],
)
def test_the_deformation_is_known_in_full(
    name: str, row: list[float], diagonal: list[float], face: str
) -> None:
    test = lateral(name)
    np.testing.assert_array_equal(test.states(np.array([row]))[0], np.diag(diagonal).ravel())
    assert (test.face, test.isochoric) == (face, False)


@pytest.mark.parametrize("name", ["uniaxial", "equibiaxial", "pure_shear"])
def test_loaded_faces_lose_the_slope_in_the_volume_and_free_ones_have_it(
    name: str, material: Material
) -> None:
    """At states with free sides both are the stress of the law."""
    test, a = lateral(name), np.array([0.8, 1.3, 1.6])
    loaded = a**2 if name == "equibiaxial" else a
    t = aside(loaded, len(test.sides))
    at = test.map(material, test.states(np.stack([a, t], axis=1)), ("P11", test.face))
    B = np.asarray(at.operator)
    assert np.abs(B[:, 0, 2]).max() < 1e-12 < np.abs(B[:, 1, 2]).min()
    truth = laws.truth(material, "neo_hooke", {"mu": MU, "kappa": KAPPA})
    found = np.asarray(truth.stress(material.reference, at))
    np.testing.assert_allclose(found[:, 0], stress(a, loaded * t ** len(test.sides)), atol=1e-9)
    np.testing.assert_allclose(found[:, 1], 0.0, atol=1e-9)


def test_the_path_follows_the_contraction_of_the_rows() -> None:
    a = np.linspace(1.1, 1.6, 5)
    test = lateral("uniaxial").covering(np.stack([a, a**-0.3], axis=1))
    course = test.course(7)
    np.testing.assert_allclose(course.rows[:, 1], course.rows[:, 0] ** -0.3)
    assert test.ranges[0] == (1.1, 1.6)
    assert course.label == "stretch"


def test_free_sides_are_data_with_noise_of_their_own(tmp_path: Path, material: Material) -> None:
    file, test = table(tmp_path / "a.csv", "uniaxial"), lateral("uniaxial")
    (clean,) = door.read(material, [door.Wanted(file, test)])
    assert "the sides are free: P22 = 0 is fitted beside the measured stress" in clean.notes
    read = observations(material, test, clean.table, noise.Config(relative=0.1))
    data, rms = read.observations, float(np.sqrt(np.mean(clean.table.column("P11") ** 2)))
    assert data.components == ("P11", "P22")
    np.testing.assert_array_equal(np.asarray(data.values)[:, 1], 0.0)
    np.testing.assert_allclose(np.asarray(data.absolute), [[0.0, 0.1 * rms]] * 12)
    np.testing.assert_allclose(np.asarray(data.relative), [[0.1, 0.0]] * 12)


def test_a_volume_that_hardly_changes_is_noted(tmp_path: Path, material: Material) -> None:
    file = tmp_path / "a.csv"
    file.write_text("stretch,lateral_stretch,P11\n1.2,0.9129,0.5\n1.4,0.8455,0.9\n")
    (clean,) = door.read(material, [door.Wanted(file, lateral("uniaxial"))])
    assert any("give the bulk modulus (--bulk)" in note for note in clean.notes)


def test_a_true_stress_is_converted_with_the_measured_volume(
    tmp_path: Path, material: Material
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("stretch,lateral_stretch,true_stress (MPa)\n1.5,0.9,2\n1.2,0.95,1\n")
    (clean,) = door.read(material, [door.Wanted(file, lateral("uniaxial"))])
    np.testing.assert_allclose(clean.table.column("P11"), [2 * 0.9**2, 0.95**2])


def test_a_lateral_stretch_makes_the_material_compressible(tmp_path: Path) -> None:
    """And the law of the foam is found, the volume's part too."""
    files = [
        table(tmp_path / f"{name}.csv", name, sd=0.01)
        for name in ("uniaxial", "equibiaxial", "pure_shear")
    ]
    study = measured.jointly(files, [None] * 3, (0.01, 0.0), {"potential.most": 3})
    assert not getattr(study.material, "incompressible", True)
    problem = prepare(stage_keys(0)["data"], study)
    law = carve_law(study, problem).law
    slopes = np.asarray(law.slopes(jnp.array([[3.0, 3.0, 1.1], [3.5, 3.4, 0.9]])))
    wanted = [[MU / 2, 0, -MU / J + KAPPA * (J - 1)] for J in (1.1, 0.9)]
    np.testing.assert_allclose(slopes, wanted, atol=0.03)


def test_a_lateral_stretch_is_measured_in_all_tests_or_in_none(tmp_path: Path) -> None:
    foam, other = table(tmp_path / "a.csv", "uniaxial"), tmp_path / "b.csv"
    other.write_text("# mode: pure_shear\nstretch,P11 (kPa)\n1.2,0.4\n1.4,0.7\n")
    with pytest.raises(InputError, match="no lateral stretch of the test 'pure_shear'"):
        measured.jointly([foam, other], [None, None], (0.05, 0.0))
    said = {"material.incompressible": True}
    study = measured.jointly([foam, other], [None, None], (0.05, 0.0), said)
    assert [getattr(s.experiment, "lateral", None) for s in study.sources] == [False, False]


def test_a_material_is_put_to_the_test_it_can_be(material: Material) -> None:
    rubber = isotropic.build(isotropic.Config(incompressible=True))
    assert modes.suited("uniaxial", rubber).columns == ("stretch",)
    assert modes.suited("uniaxial", material).columns == ("stretch", "lateral_stretch")
    with pytest.raises(InputError, match="measures the lateral stretch"):
        lateral("uniaxial").check(rubber)
    with pytest.raises(InputError, match="or measure the lateral stretch too"):
        modes.suited("simple_shear", material)
