"""CalculiX with an exported routine linked into it, beside the own finite elements.

Sources and libraries come from Debian (`tools/calculix.py`). Where they cannot be had, these tests
are skipped and say what was answered.
"""

import re
import subprocess
from pathlib import Path

import calculix
import numpy as np
import pytest

from cases import Numbers, present
from export_cases import LAWS, constants
from steinmetz.exporters import base
from steinmetz.fe.body import Body
from steinmetz.fe.mesh import block
from steinmetz.fe.newton import Equilibrium, State
from steinmetz.fe.problem import Problem
from steinmetz.fe.problems import Wanted, cook
from steinmetz.fe.space import space, tractions
from steinmetz.fe.substance import of_law
from steinmetz.potentials.law import Law

pytestmark = pytest.mark.long
PAGE = Path(__file__).parents[2] / "docs" / "solvers" / "calculix.md"
# Newton's method goes on until residuals and corrections are this share of forces and increments.
EXACT = "*CONTROLS, PARAMETERS=FIELD\n1.E-9, 1.E-9"
# Digits of what CalculiX prints.
PRINTED = 2e-6


@pytest.fixture(scope="module")
def kit() -> calculix.Kit:
    try:
        return calculix.kit()
    except calculix.Missing as error:
        wanted = ", ".join((calculix.SOURCE, *calculix.LIBRARIES))
        pytest.skip(f"CalculiX cannot be compiled (sources and libraries: {wanted}): {error}")


def solved(kit: calculix.Kit, law: Law, deck: str, folder: Path) -> list[Numbers]:
    """All tables of the last increment that CalculiX prints: numbers of nodes and three values."""
    routine, program = folder / "umat_user.f", folder / "ccx"
    routine.write_text(base.load("calculix").export(law) + "\n", encoding="ascii")
    (folder / "job.inp").write_text(deck, encoding="ascii")
    kit.link(routine, program)
    done = subprocess.run([program, "job"], cwd=folder, capture_output=True, text=True, timeout=600)
    assert "Job finished" in done.stdout, done.stdout[-2000:]
    text = (folder / "job.dat").read_text(encoding="ascii")
    parts = re.split(r"^ \w.* and time +(\S+)\n", text, flags=re.MULTILINE)[1:]
    last = [rows for time, rows in zip(parts[::2], parts[1::2], strict=True) if float(time) == 1]
    return [np.array([line.split() for line in rows.split("\n") if line], float) for rows in last]


def written(problem: Problem, kind: str, law: Law) -> str:
    """The deck of a problem, in three dimensions or in plane strain; `kind` is the element."""
    mesh, size = problem.space.mesh, problem.space.mesh.points.shape[1]
    cells = mesh.cells[:, : int(kind[-1])]
    nodes = [_row(node + 1, *mesh.points[node]) for node in np.unique(cells)]
    moved = [_row(n // size + 1, n % size + 1, n % size + 1) for n in problem.fixed]
    loads = [(n // size + 1, n % size + 1, problem.force[n]) for n in np.flatnonzero(problem.force)]
    values = constants(law)
    return "\n".join([
        "*NODE, NSET=ALL", *nodes,
        f"*ELEMENT, TYPE={kind}, ELSET=ALL", *(_row(k + 1, *c + 1) for k, c in enumerate(cells)),
        "*SOLID SECTION, ELSET=ALL, MATERIAL=USER_LAW", *([] if size == 3 else ["1."]),
        "*MATERIAL, NAME=USER_LAW",
        f"*USER MATERIAL, CONSTANTS={len(values)}",
        *(_row(*values[start : start + 8]) for start in range(0, len(values), 8)),
        "*BOUNDARY", *moved,
        "*STEP, NLGEOM, INC=1000", "*STATIC", "0.25, 1.", EXACT,
        "*CLOAD", *(_row(*load) for load in loads),
        "*NODE PRINT, NSET=ALL", "U",
        "*END STEP\n",
    ])  # fmt: skip


def _row(*values: float) -> str:
    return ", ".join(str(v) if isinstance(v, int | np.integer) else f"{v:.13g}" for v in values)


def balanced(problem: Problem, law: Law) -> State:
    """The problem by the own finite elements."""
    body, start = Body.of(problem.space, of_law(law)), (0.0, np.zeros(problem.space.unknowns))
    return present(Equilibrium.of(problem).loaded(body, np.asarray(law.values), start, 1.0))


def own(problem: Problem, law: Law) -> Numbers:
    """Its displacements, a row per node."""
    return balanced(problem, law).u.reshape(problem.space.mesh.points.shape)


def thick(cells: int, load: float) -> Problem:
    """Cook's membrane of one layer of plain hexahedra that cannot grow thicker."""
    plane = cook(Wanted(cells, load))

    def place(at: Numbers) -> Numbers:
        low, high = 44 * at[:, 0], 44 + 16 * at[:, 0]
        return np.stack([48 * at[:, 0], low + (high - low) * at[:, 1], at[:, 2]], axis=1)

    mesh = block("hexahedron", (cells, cells, 1), place)
    held = mesh.on(x=0.0)
    every = np.arange(len(mesh.points))
    fixed = np.unique(np.concatenate([3 * held, 3 * held + 1, 3 * every + 2]))
    force = tractions(mesh, mesh.boundary(mesh.on(x=48.0)), np.array([0.0, load, 0.0]))
    return plane._replace(
        space=space(mesh), fixed=fixed, prescribed=lambda _: np.zeros(len(fixed)), force=force
    )


@pytest.mark.parametrize("name", ["found", "softplus", "incompressible softplus"])
def test_one_element(kit: calculix.Kit, name: str, tmp_path: Path) -> None:
    """The deck of the page: force at a stretch of 1.5, the sides being free."""
    law = LAWS[name]()
    fence = re.search(r"^```text\n(\*HEADING.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    deck = re.sub(
        r"CONSTANTS=.*\n.*", f"CONSTANTS={len(constants(law))}\n{_row(*constants(law))}",
        present(fence)[1].replace("*STATIC\n0.1, 1.", f"*STATIC\n0.1, 1.\n{EXACT}"),
    )  # fmt: skip
    force = solved(kit, law, deck, tmp_path)[-1]
    assert force[:, 1].sum() == pytest.approx(pulled(law, 1.5), rel=PRINTED)


def pulled(law: Law, stretch: float) -> float:
    """The force that moves one side of a unit cube, by the own finite elements."""
    mesh = block("hexahedron", (1, 1, 1), lambda at: at)
    moved = mesh.on(x=1.0)
    fixed = np.concatenate([3 * moved, *(3 * mesh.on(**{"xyz"[k]: 0.0}) + k for k in range(3))])
    goal = np.zeros(len(fixed))
    goal[: len(moved)] = stretch - 1
    whole = cook(Wanted(1))._replace(
        space=space(mesh), fixed=fixed, prescribed=lambda share: share * goal, force=np.zeros(24)
    )
    return float(balanced(whole, law).internal[3 * moved].sum())


@pytest.mark.parametrize("name", ["found", "softplus"])
def test_cooks_membrane(kit: calculix.Kit, name: str, tmp_path: Path) -> None:
    """The same hexahedra in both programs: all displacements, to the digits that are printed."""
    law = LAWS[name]()
    problem = thick(8, 0.1 * of_law(law).shear(np.asarray(law.values)))
    (found,), right = solved(kit, law, written(problem, "C3D8", law), tmp_path), own(problem, law)
    assert np.abs(right[:, 1]).max() > 5
    assert np.abs(found[:, 1:] - right).max() < PRINTED * np.abs(right).max()


def test_cooks_membrane_in_plane_strain(kit: calculix.Kit, tmp_path: Path) -> None:
    """Elements of eight and of nine nodes differ by what is left of the error of the mesh."""
    law = LAWS["found"]()
    problem = cook(Wanted(8, 0.1 * of_law(law).shear(np.asarray(law.values))))
    (found,), right = solved(kit, law, written(problem, "CPE8", law), tmp_path), own(problem, law)
    tip = problem.space.mesh.nearest((48.0, 52.0))
    row = int(np.flatnonzero(found[:, 0] == tip + 1)[0])
    assert found[row, 1:3] == pytest.approx(right[tip], rel=2e-3)
