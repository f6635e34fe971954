"""The door for tables: what people have, as columns of an experiment in one unit."""

from pathlib import Path

import numpy as np
import pytest

from cases import Numbers
from steinmetz import InputError
from steinmetz.data.complaints import Complaints
from steinmetz.experiments import base, door, modes, nominal
from steinmetz.experiments.base import Experiment
from steinmetz.materials import isotropic
from steinmetz.materials.base import Material

NOTHING = door.Declared()
RUBBER = isotropic.build(isotropic.Config(incompressible=True))


def test_of(name: str) -> Experiment:
    return base.build(base.load(name).Config(name=name))


test_of.__test__ = False  # type: ignore[attr-defined]


def read(
    folder: Path, text: str, name: str = "uniaxial", declared: door.Declared = NOTHING
) -> door.Clean:
    """One table of a test of rubber."""
    (folder / "a.csv").write_text(text, encoding="utf-8")
    (found,) = door.read(RUBBER, [door.Wanted(folder / "a.csv", test_of(name), declared)])
    return found


@pytest.mark.parametrize(
    ("header", "cells", "name"),
    [
        ("stretch", (1.0, 1.25, 2.0), "uniaxial"),
        ("λ [-]", (1.0, 1.25, 2.0), "uniaxial"),
        ("stretch (%)", (100, 125, 200), "uniaxial"),
        ("strain", (0.0, 0.25, 1.0), "equibiaxial"),
        ("strain (%)", (0, 25, 100), "pure_shear"),
        ("true_strain", (0.0, np.log(1.25), np.log(2.0)), "uniaxial"),
    ],
)
def test_every_way_to_say_a_stretch(
    tmp_path: Path, header: str, cells: tuple[float, ...], name: str
) -> None:
    rows = "".join(f"{float(cell)!r},{i}.5\n" for i, cell in enumerate(cells))
    found = read(tmp_path, f"{header},nominal_stress_MPa\n{rows}", name)
    np.testing.assert_allclose(found.table.column("stretch"), [1, 1.25, 2], rtol=1e-15)
    np.testing.assert_array_equal(found.table.column("P11"), [0.5, 1.5, 2.5])
    assert (found.unit, found.written["P11"]) == ("MPa", "nominal_stress_MPa")


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("uniaxial", "stretch"),
        ("equibiaxial", "stretch"),
        ("pure_shear", "stretch"),
        ("biaxial", "stretch1,stretch2"),
    ],
)
@pytest.mark.parametrize("measure", ["cauchy_stress", "second_piola"])
def test_other_measures_become_nominal_by_the_closed_forms(
    tmp_path: Path, name: str, columns: str, measure: str
) -> None:
    """Neo-Hooke with μ = 1: σ1 = λ1² − λ3², S1 = 1 − λ3²/λ1², P1 = λ1 − λ3²/λ1."""
    first = np.array([0.7, 1.0, 1.3, 2.2])
    second = {"uniaxial": first**-0.5, "equibiaxial": first, "pure_shear": first**0}
    second["biaxial"] = np.array([1.1, 0.9, 1.5, 1.2])
    other = second[name]
    third = 1 / (first * other)
    sigma = np.stack([first**2 - third**2, other**2 - third**2], axis=1)
    piola = np.stack([1 - (third / first) ** 2, 1 - (third / other) ** 2], axis=1)
    given = sigma if measure == "cauchy_stress" else piola
    count = 2 if name == "biaxial" else 1
    state = np.stack([first, other], axis=1)[:, :count]
    names = ",".join(f"{measure}_{i}{i} (kPa)" for i in (1, 2)[:count])
    rows = np.concatenate([state, given[:, :count]], axis=1)
    lines = "\n".join(",".join(repr(float(cell)) for cell in row) for row in rows)
    found = read(tmp_path, f"{columns},{names}\n{lines}\n", name)
    np.testing.assert_allclose(found.table.column("P11"), first - third**2 / first, atol=1e-15)
    if count == 2:
        np.testing.assert_allclose(found.table.column("P22"), other - third**2 / other, atol=1e-15)
    assert "converted to nominal stress P11" in "\n".join(found.notes)


def test_simple_shear_is_converted_where_one_component_is_enough(tmp_path: Path) -> None:
    found = read(tmp_path, "γ,true_stress,S12\n0.5,0.5,0.4\n1,1,0.9\n", "simple_shear")
    np.testing.assert_array_equal(found.table.column("P12"), [0.5, 1.0])
    np.testing.assert_array_equal(found.table.column("S12"), [0.4, 0.9])


def test_factors_are_those_of_the_tensors(random_tensors: Numbers) -> None:
    """Of diagonal F every component has a factor; of a full one none has."""
    for F in random_tensors[:5]:
        D = np.diag(np.diag(F))
        sigma = F + F.T
        P = np.linalg.det(D) * sigma @ np.linalg.inv(D).T
        S = np.linalg.inv(D) @ P
        for i, j in np.ndindex(3, 3):
            ij = f"{i + 1}{j + 1}"
            for measure, tensor in (("sigma", sigma), ("S", S)):
                factor = nominal.factor(measure, ij, D[None])  # type: ignore[arg-type]
                assert factor is not None
                assert factor[0] * tensor[i, j] == pytest.approx(P[i, j])
                assert nominal.factor(measure, ij, F[None]) is None  # type: ignore[arg-type]


def test_force_over_area(tmp_path: Path) -> None:
    found = read(tmp_path, "stretch,force,area\n,kN,cm^2\n1.1,1,2\n1.2,2,2\n")
    np.testing.assert_allclose(found.table.column("P11"), [5, 10])
    assert found.unit == "MPa"
    assert "line 2 read as units" in found.notes
    declared = door.Declared(area="50 mm^2")
    found = read(tmp_path, "stretch,load (N)\n1.1,1\n1.2,2\n", "uniaxial", declared)
    np.testing.assert_allclose(found.table.column("P11"), [0.02, 0.04])


def test_deviations_are_converted_with_their_stress(tmp_path: Path) -> None:
    text = "stretch,true_stress (MPa),sd_true_stress (kPa)\n2,4,10\n1.25,1,20\n"
    found = read(tmp_path, text)
    np.testing.assert_allclose(found.table.column("P11"), [2, 0.8])
    np.testing.assert_allclose(found.table.column("sd_P11"), [0.005, 0.016])


def test_the_unit_of_the_first_table_is_that_of_all(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("stretch,P11 (MPa)\n1.1,0.1\n1.2,0.2\n")
    (tmp_path / "b.csv").write_text("stretch,P11 (kPa),sd_P11\n1.1,100,5\n1.2,200,5\n")
    wanted = [
        door.Wanted(tmp_path / name, test_of(test))
        for name, test in (("a.csv", "uniaxial"), ("b.csv", "equibiaxial"))
    ]
    first, second = door.read(RUBBER, wanted)
    np.testing.assert_allclose(second.table.column("P11"), first.table.column("P11"))
    np.testing.assert_allclose(second.table.column("sd_P11"), 0.005)
    assert "kPa converted to MPa" in second.notes
    (tmp_path / "b.csv").write_text("stretch,P11\n1.1,100\n")
    with pytest.raises(InputError, match=r"no unit of stress, but .*a.csv is in MPa"):
        door.read(RUBBER, wanted)


def test_one_long_table_of_several_tests(tmp_path: Path) -> None:
    text = "Test;λ;P11 (MPa)\nuniaxial;1,1;0,1\nplanar;1,2;0,3\nUT;1,3;0,2\n"
    (tmp_path / "long.csv").write_text(text)
    assert door.modes_of(tmp_path / "long.csv") == ["uniaxial", "pure_shear"]
    wanted = [door.Wanted(tmp_path / "long.csv", test_of("uniaxial"))]
    (alone,) = door.read(RUBBER, wanted)
    np.testing.assert_array_equal(alone.table.column("stretch"), [1.1, 1.3])
    assert "rows of pure_shear left out" in alone.notes
    wanted.append(door.Wanted(tmp_path / "long.csv", test_of("pure_shear")))
    both = door.read(RUBBER, wanted)
    assert [len(each.table.lines) for each in both] == [2, 1]
    assert not any("left out" in note for each in both for note in each.notes)


def test_a_branch_is_taken_and_said(tmp_path: Path) -> None:
    stretch = np.concatenate([np.linspace(1, 2, 11), np.linspace(1.9, 1, 10)])
    text = "stretch,P11\n" + "".join(f"{a},{a - a**-2}\n" for a in stretch)
    loading = read(tmp_path, text, "uniaxial", door.Declared(branch="loading"))
    unloading = read(tmp_path, text, "uniaxial", door.Declared(branch="unloading"))
    assert len(loading.table.lines) == 11
    assert len(unloading.table.lines) == 10
    assert "10 rows of unloading left out" in loading.notes
    assert any("loading and unloading in one curve" in note for note in read(tmp_path, text).notes)


def test_curves_by_name_and_what_is_not_used(tmp_path: Path) -> None:
    found = read(tmp_path, "stretch,P11,curve,operator\n1.1,1,A,Bob\n1.2,2,B,Eve\n1.3,3,A,\n")
    np.testing.assert_array_equal(found.table.column("curve"), [0, 1, 0])
    assert "columns not used: operator" in found.notes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stretch,stress\n1.1,2\n", "column 'stress': the stress measure is not declared"),
        ("stretch,sigma\n1.1,2\n", "column 'sigma': the stress measure is not declared"),
        ("stretch,P11 (bananas)\n1.1,2\n", "'bananas' is not a unit of stress; possible: Pa"),
        ("stretch,P11 (N)\n1.1,2\n", "'N' is not a unit of stress"),
        ("stretch (MPa),P11\n1.1,2\n", "'MPa' is not a unit of strain or stretch"),
        ("stretch,force (N)\n1.1,2\n", "needs the undeformed area"),
        ("stretch,force,area (mm^2)\n1.1,2,3\n", "a force needs its unit"),
        ("stretch,force (N),area\n1.1,2,3\n", "an area needs its unit"),
        ("stretch,force (N),area (mm^2)\n1.1,2,0\n", "line 2, .*an area must be positive"),
        ("stretch,strain,P11\n1.1,0.1,2\n", "columns 'stretch' and 'strain' both give stretch"),
        ("stretch,P11,true_stress\n1.1,1,1\n", "'P11' and 'true_stress' both give P11"),
        ("stretch,P11 (MPa),P22\n1.1,1,1\n", "column 'P22': no unit, but 'P11"),
        ("stretch,P11\n,MPa\n0,1\n", "line 3, column 'stretch': a stretch must be positive"),
        ("stretch,P11 (kPa)\n,MPa\n1,1\n", "the header says 'kPa', the row of units 'MPa'"),
        ("stretch,P11\n1.1,0\n", "every stress value is zero or missing"),
        ("stretch,P11\n1e9,1\n", "line 2, column 'stretch': 1e[+]09 is beyond all measure"),
        ("stretch,P11\n1.1,1e99\n", "line 2, column 'P11': 1e[+]99 is beyond all measure"),
        ("stretch,P11\n1e-320,1\n", "line 2, column 'stretch': a stretch of 1e-320 is none"),
        ("true_strain,P11\n99,1\n", "99 is beyond all measure"),
        ("stretch,P11\n1.1,1.234,5\n", "3 cells where the header names 2 columns"),
        ("mode,stretch,P11\nuniaxial,1.1,1\nodd,1,1\n", "line 3, column 'mode': 'odd' is no test"),
        ("mode,stretch,P11\nplanar,1.1,1\n", "no row is of 'uniaxial'; there are: pure_shear"),
        ("# mode: planar\nstretch,P11\n1.1,1\n", "a comment says 'pure_shear', but 'uniaxial'"),
        ("stretch,P11,curve\n1.1,1,\n", "line 2, column 'curve': empty"),
        ("stretch,P11,sd_P11\n1.1,1,\n", "line 2, column 'sd_P11': a standard deviation must"),
        ("# measure: odd\nstretch,stress\n1.1,1\n", "measure 'odd' is not known"),
        ("# unit: MPa\nstretch,P11 (kPa)\n1.1,1\n", "the table says kPa, .*MPa; correct one"),
        ("stretch,nominal\n1.1,x\n1.2,1,5\n", "2 things are wrong"),
        ("stretch,stress\n1.1,x\n1.2,1\n", "(?s)'x' is not a number.*measure is not declared"),
    ],
)
def test_what_is_not_declared_is_asked_for(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)


def test_all_complaints_of_all_tables_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("stretch,P11\n-1,0\n1.2,x\n1.3,inf\n")
    (tmp_path / "b.csv").write_text("strain,stress\n0.1,1\n")
    names = ("a.csv", "b.csv", "none.csv")
    wanted = [door.Wanted(tmp_path / name, test_of("uniaxial")) for name in names]
    with pytest.raises(InputError) as said:
        door.read(RUBBER, wanted)
    lines = str(said.value).splitlines()
    assert lines[0] == "5 things are wrong with the data:"
    assert "line 2, column 'stretch'" in lines[1]
    assert "line 3, column 'P11': 'x' is not a number" in lines[2]
    assert "line 4, column 'P11': 'inf' is not finite" in lines[3]
    assert "b.csv, column 'stress'" in lines[4]
    assert "none.csv: no such file" in lines[5]


def test_symmetric_stress_must_agree(
    tmp_path: Path, material: Material, full_tensor: Experiment
) -> None:
    state = ",".join(full_tensor.columns)
    rows = "1.1,0,0,0,1,0,0,0,1,0.1,0.1\n1.1,0,0,0,1,0,0,0,-1,0.1,0.2\n"
    (tmp_path / "a.csv").write_text(f"{state},sigma12,σ21\n{rows}")
    with pytest.raises(InputError) as said:
        door.read(material, [door.Wanted(tmp_path / "a.csv", full_tensor)])
    assert "line 3, column 'F11…F33': det F = -1.1 must be positive" in str(said.value)
    assert "line 3: columns 'sigma21' and 'sigma12' differ" in str(said.value)


def test_spellings_of_tests() -> None:
    assert modes.named("Planar Tension") == "pure_shear"
    assert modes.named("of the file name") is None
    with pytest.raises(InputError, match="did you mean 'uniaxial'"):
        modes.known("uniaxal")
    assert modes.material(["plane_strain"]) == {"material.name": "mechanochemistry"}
    assert modes.material(["biaxial"]) == {"material.incompressible": True}
    assert len(Complaints()) == 0


TRELOAR = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.parametrize(
    ("file", "name", "rows"),
    [("uniaxial", "uniaxial", 24), ("equibiaxial", "equibiaxial", 16), ("pureshear", "planar", 13)],
)
def test_treloar_needs_no_word_more_than_the_test(file: str, name: str, rows: int) -> None:
    path = TRELOAR / f"treloar_{file}.csv"
    if not path.is_file():
        pytest.skip("Treloar's curves are not here")
    (found,) = door.read(RUBBER, [door.Wanted(path, test_of(modes.known(name)))])
    assert (len(found.table.lines), found.unit, found.notes) == (rows, "MPa", [])
