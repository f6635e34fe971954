"""Problems of one's own: a mesh file with groups, a TOML file, and what is wrong with them."""

from pathlib import Path

import numpy as np
import pytest

from steinmetz.errors import InputError
from steinmetz.fe import own, vtu
from steinmetz.fe.mesh import block
from steinmetz.fe.problems import Wanted, cook

CONDITIONS = """
[[hold]]
at = {x = 0.0}
x = 0.0
y = 0.0
[[pull]]
at = {x = 48.0}
traction = [0.0, 0.0625]
[[watch]]
name = "tip"
at = {x = 48.0, y = 52.0}
direction = "y"
[[watch]]
name = "support"
at = {x = 0.0}
direction = "y"
of = "force"
"""


def written(folder: Path, conditions: str = CONDITIONS) -> Path:
    """Cook's membrane as files."""
    mesh = cook(Wanted(2, 0.0625)).space.mesh
    path = folder / "cook.vtu"
    path.write_text(vtu.text(mesh, {"x": mesh.points[:, 0]}), encoding="utf-8")
    path.with_suffix(".toml").write_text(conditions, encoding="utf-8")
    return path


def test_files_say_the_same_as_the_built_in_problem(tmp_path: Path) -> None:
    pytest.importorskip("meshio", reason="meshio reads meshes: pip install meshio")
    read, built = own.read(written(tmp_path), Wanted()), cook(Wanted(2, 0.0625))
    assert np.allclose(read.space.mesh.points, built.space.mesh.points, atol=1e-6)
    assert set(read.fixed) == set(built.fixed)
    assert np.allclose(read.force, built.force, atol=1e-7)
    by_name = {quantity.name: quantity for quantity in built.quantities}
    assert np.array_equal(read.quantities[0].weights(1.0), by_name["tip y"].weights(1.0))
    assert np.array_equal(read.quantities[1].weights(1.0), by_name["reaction y"].weights(1.0))


def test_groups_of_a_mesh(tmp_path: Path) -> None:
    meshio = pytest.importorskip("meshio", reason="meshio reads meshes: pip install meshio")
    mesh = block("hexahedron", (2, 2, 2), lambda p: p)
    low = mesh.boundary(mesh.on(z=0.0))
    sets = {"low": [np.array([], int), np.arange(len(low))]}
    raw = meshio.Mesh(mesh.points, [("hexahedron", mesh.cells), ("quad", low)], cell_sets=sets)
    raw.write(tmp_path / "cube.inp")
    found = own.mesh_of(tmp_path / "cube.inp")
    assert set(found.groups["low"]) == set(found.on(z=0.0))


GMSH = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
1 1 "left"
2 3 "body"
$EndPhysicalNames
$Nodes
4
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
$EndNodes
$Elements
2
1 1 2 1 1 4 1
2 3 2 3 3 1 2 3 4
$EndElements
"""


def test_physical_groups_of_gmsh(tmp_path: Path) -> None:
    pytest.importorskip("meshio", reason="meshio reads meshes: pip install meshio")
    (tmp_path / "square.msh").write_text(GMSH, encoding="utf-8")
    mesh = own.mesh_of(tmp_path / "square.msh")
    assert (mesh.kind, mesh.cells.shape, mesh.points.shape) == ("quad", (1, 4), (4, 2))
    assert set(mesh.groups["left"]) == set(mesh.on(x=0.0))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (CONDITIONS.replace("x = 48.0}\ntraction", "x = 47.0}\ntraction"), "no node there"),
        (CONDITIONS.replace("[0.0, 0.0625]", "[0.0]"), "2 components are needed"),
        (CONDITIONS.replace('"y"\nof', '"q"\nof'), "watch.1.direction"),
        (CONDITIONS.replace("at = {x = 0.0}\nx", 'group = "left"\nx'), "no group 'left'"),
        ("[[hold", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, wrong: str, said: str) -> None:
    pytest.importorskip("meshio", reason="meshio reads meshes: pip install meshio")
    with pytest.raises(InputError, match=said) as raised:
        own.read(written(tmp_path, wrong), Wanted())
    assert str(tmp_path / "cook.toml") in str(raised.value)


# Its reader waits for points that never come.
FLUENT = '(1 "a mesh")\n(2 3)\n(10 (1 1 c 1 3)(\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GMSH.replace("4 0 1 0", "1000000000 0 1 0"), "too much memory"),
        (FLUENT, "does not come to an end"),
        (GMSH.partition("$Elements")[0], "there are no cells"),
        (GMSH.replace("1 2 3 4\n$E", "1 2 3 9\n$E"), "cannot be read|do not fit|has no node"),
        (GMSH.replace("3 1 1 0", "3 1 nan 0"), "a node no place"),
        (GMSH.replace("3 1 1 0", "3 0.1 0.1 0"), "inside out"),
        ("", "cannot be read as a mesh"),
    ],
)
def test_a_damaged_mesh_is_refused_with_its_name(tmp_path: Path, text: str, said: str) -> None:
    """Whatever its reader would do: take all memory, or never come back."""
    pytest.importorskip("meshio", reason="meshio reads meshes: pip install meshio")
    path = tmp_path / "part.msh"
    path.write_text(text, encoding="utf-8")
    path.with_suffix(".toml").write_text(CONDITIONS, encoding="utf-8")
    with pytest.raises(InputError, match=said) as raised:
        own.read(path, Wanted())
    assert str(path) in str(raised.value)
