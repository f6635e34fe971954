"""The same part in scikit-fem and in FElupe, programs that share nothing with ours."""

from collections.abc import Callable

import numpy as np
import pytest
from jaxtyping import Array

from cases import Formula, Numbers, split
from steinmetz.fe.body import Body
from steinmetz.fe.newton import Equilibrium
from steinmetz.fe.problem import Problem
from steinmetz.fe.problems import Wanted, cook, torsion
from steinmetz.fe.substance import Substance
from steinmetz.records import Reference

SHEAR, BULK = 0.4225, 0.9154166666666667


def ours(problem: Problem, law: Callable[[Array, Array], Array]) -> Numbers:
    """Displacements in equilibrium."""
    body = Body.of(problem.space, Substance.of(Formula(law), Reference((3.0, 3.0, 1.0))))
    start = (0.0, np.zeros(problem.space.unknowns))
    state = Equilibrium.of(problem).loaded(body, np.array([SHEAR, BULK]), start, 1.0)
    assert state is not None
    return state.u


def squared(theta: Array, x: Array) -> Array:
    """μ/2 (Ī1 − 3) + κ/2 (J − 1)², the volume as FElupe has it."""
    return theta[0] / 2 * (x[0] * x[2] ** (-2 / 3) - 3) + theta[1] / 2 * (x[2] - 1) ** 2


def test_cook_in_scikit_fem() -> None:
    skfem = pytest.importorskip("skfem", reason="the oracle is scikit-fem: pip install scikit-fem")
    from skfem.helpers import ddot, det, grad, inv, transpose

    problem = cook(Wanted(4, 0.02))
    points = problem.space.mesh.points
    mesh = skfem.MeshQuad2(points.T, problem.space.mesh.cells.T)
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementQuad2()), intorder=5)

    def deformed(w: dict[str, Numbers]) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        F = grad(w["u"]) + np.eye(2)[:, :, None, None]
        J = det(F)
        return F, J, transpose(inv(F)), np.einsum("ij...,ij...", F, F) + 1

    @skfem.LinearForm  # type: ignore[untyped-decorator]
    def forces(v: Numbers, w: dict[str, Numbers]) -> Numbers:
        F, J, T, I1 = deformed(w)
        P = SHEAR * J ** (-2 / 3) * (F - I1 / 3 * T) + BULK / 2 * (J**2 - 1) * T
        return np.asarray(ddot(P, grad(v)))

    u = ours(problem, split)
    at = np.round(basis.doflocs.T, 6)
    place = {tuple(row): k for k, row in enumerate(np.round(points, 6).tolist())}
    axis = np.zeros(basis.N, int)
    for dofs in (basis.nodal_dofs, basis.facet_dofs, basis.interior_dofs):
        axis[dofs[1]] = 1
    numbers = np.array([2 * place[tuple(row)] for row in at.tolist()]) + axis
    state = u[numbers]
    assembled = forces.assemble(basis, u=basis.interpolate(state))
    wanted = problem.force[numbers]
    free = ~np.isin(numbers, problem.fixed)
    assert np.abs(assembled - wanted)[free].max() < 1e-9
    assert np.abs(u).max() > 1


def test_torsion_in_felupe() -> None:
    felupe = pytest.importorskip(
        "felupe", reason="the oracle is FElupe (GPL-3): pip install felupe"
    )
    problem = torsion(Wanted(2, 30.0))
    source = problem.space.mesh
    mesh = felupe.Mesh(source.points, source.cells, "hexahedron")
    field = felupe.FieldsMixed(felupe.RegionHexahedron(mesh), n=3)
    u = ours(problem, squared)
    law = felupe.ThreeFieldVariation(felupe.NeoHooke(mu=SHEAR, bulk=BULK))
    solid = felupe.SolidBody(law, field)
    ends = np.isin(np.arange(len(source.points)), problem.fixed // 3)
    held = {"held": felupe.Boundary(field[0], mask=ends)}
    fixed, free = felupe.dof.partition(field, held)
    for share in (0.5, 1.0):
        moved = np.zeros(source.points.size)
        moved[problem.fixed] = problem.prescribed(share)
        felupe.newtonraphson(
            items=[solid], dof0=fixed, dof1=free, ext0=moved[fixed], tol=1e-11, verbose=0
        )
    assert np.abs(field[0].values.ravel() - u).max() < 1e-7
    assert np.abs(u[~np.isin(np.arange(u.size), problem.fixed)]).max() > 0.05
