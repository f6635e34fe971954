"""Input decks of the pages about solvers: one law, one block, one force."""

import re
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compilers import module
from export_cases import LAWS, constants
from steinmetz.exporters import text
from steinmetz.potentials.law import Law

from .blocks import ROOT

PAGES = ROOT / "docs" / "solvers"


@pytest.fixture(scope="module")
def law() -> Law:
    """The law of all decks."""
    return LAWS["found"]()


def blocks(page: Path) -> list[str]:
    """What a page shows as text."""
    return re.findall(r"^```text\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.M)


@pytest.mark.parametrize("name", ["abaqus", "calculix"])
def test_decks_hold_the_constants_of_the_law(name: str, law: Law) -> None:
    cards = re.findall(
        r"(?:CONSTANTS|PROPERTIES)=(\d+)\n(.*)", "".join(blocks(PAGES / f"{name}.md"))
    )
    assert len(cards) == {"abaqus": 2, "calculix": 1}[name]
    for count, row in cards:
        assert int(count) == len(constants(law))
        assert [float(value) for value in row.split(",")] == constants(law).tolist()


def test_the_law_of_the_decks_is_printed(law: Law) -> None:
    page = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    assert text.export(law) in page


def test_decks_of_abaqus_and_calculix_are_one_model() -> None:
    """What CalculiX runs (`tests/exporters/test_calculix.py`) is what the page shows for Abaqus."""
    abaqus, calculix = (blocks(PAGES / f"{name}.md")[0] for name in ("abaqus", "calculix"))
    model = calculix.replace("USER_LAW", "LAW").partition("*STEP")[0]
    assert abaqus.partition("*STEP")[0] == model
    assert "RIGHT, 1, 1, 0.5" in abaqus
    assert "RIGHT, 1, 1, 0.5" in calculix


def test_the_program_for_dolfinx_compiles(law: Law, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is executed with stand-ins for what dolfinx adds to UFL; FFCx compiles its forms."""
    pytest.importorskip("ffcx", reason="pip install fenics-ffcx to compile the forms of this page")
    compiled: list[int] = []
    modules = {
        "law": module("ufl", law),
        "mpi4py": made("mpi4py", MPI=types.SimpleNamespace(COMM_WORLD=None)),
        "dolfinx": made("dolfinx", mesh=meshes(), fem=elements(compiled)),
        "dolfinx.fem": elements(compiled),
        "dolfinx.fem.petsc": made("dolfinx.fem.petsc", NonlinearProblem=solver(compiled)),
    }
    for name, stand_in in modules.items():
        monkeypatch.setitem(sys.modules, name, stand_in)
    (program,) = blocks(PAGES / "dolfinx.md")
    exec(compile(program, "docs/solvers/dolfinx.md", "exec"), {})  # noqa: S102 (our own page)
    assert compiled == [1, 2, 0]


def made(name: str, **contents: Any) -> types.ModuleType:
    """A module with some contents."""
    module = types.ModuleType(name)
    module.__dict__.update(contents)
    return module


def compile_form(compiled: list[int], form: Any) -> None:
    """Let FFCx compile a form, and note its rank."""
    from ffcx.compiler import compile_ufl_objects
    from ffcx.options import get_options

    code, _ = compile_ufl_objects([form], get_options())
    assert any("tabulate_tensor" in part for part in code)
    compiled.append(len(form.arguments()))


def meshes() -> types.ModuleType:
    """In place of `dolfinx.mesh`: a cube of which the corners are known."""
    import basix.ufl
    import ufl

    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * 3)).reshape(3, -1)

    def sides(mesh: Any, dimension: int, on: Any) -> Any:
        assert dimension == 2
        assert on(corners).sum() == 4
        return on(corners)

    element = basix.ufl.element("Lagrange", "hexahedron", 1, shape=(3,))
    return made(
        "mesh",
        CellType=types.SimpleNamespace(hexahedron="hexahedron"),
        create_unit_cube=lambda *_: ufl.Mesh(element),
        locate_entities_boundary=sides,
    )


def elements(compiled: list[int]) -> types.ModuleType:
    """In place of `dolfinx.fem`: functions and constants are those of UFL."""
    import basix.ufl
    import ufl

    def space(mesh: Any, kind: tuple[str, int, tuple[int, ...]]) -> Any:
        element = basix.ufl.element(kind[0], "hexahedron", kind[1], shape=kind[2])
        found = ufl.FunctionSpace(mesh, element)
        vars(found)["sub"] = lambda axis: axis
        return found

    return made(
        "fem",
        functionspace=space,
        Function=ufl.Coefficient,
        Constant=lambda mesh, values: ufl.Constant(mesh, shape=values.shape),
        locate_dofs_topological=lambda space, dimension, sides: sides,
        dirichletbc=lambda move, dofs, axis: (axis, float(move)),
        form=lambda form: compile_form(compiled, form),
        assemble_scalar=lambda form: 0.0,
    )


def solver(compiled: list[int]) -> type:
    """In place of dolfinx's problem: what it would assemble is compiled."""
    import ufl

    class Problem:
        def __init__(self, residual: Any, u: Any, bcs: list[Any], **options: Any) -> None:
            assert bcs == [(0, 0.0), (1, 0.0), (2, 0.0), (0, 0.5)]
            self.forms = residual, ufl.derivative(residual, u)

        def solve(self) -> None:
            for each in self.forms:
                compile_form(compiled, each)

    return Problem
