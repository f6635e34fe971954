"""A part by an exported routine, as a solver would call it, beside the own finite elements."""

import numpy as np
import pytest

from cases import Numbers, present
from compilers import module
from export_cases import LAWS, error
from steinmetz.fe.body import Body
from steinmetz.fe.newton import Equilibrium
from steinmetz.fe.problems import Wanted, cook
from steinmetz.fe.space import Space
from steinmetz.fe.substance import of_law

from .test_programs import CLOSE, Umat, full

# Number of each pair in the order 11, 22, 33, 12, 13, 23.
PLACE = np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])


def deformed(space: Space, u: Numbers) -> Numbers:
    """F at every point of every cell, in plane strain."""
    gradients = np.asarray(space.cubature.gradients)
    cells, points, corners, _ = gradients.shape
    moved = u[space.gather].reshape(cells, corners, 2)
    F = np.zeros((cells, points, 3, 3))
    F[..., 2, 2] = 1
    F[..., :2, :2] = np.eye(2) + np.einsum("cai,cqaj->cqij", moved, gradients)
    return F


def assembled(space: Space, umat: Umat, u: Numbers) -> tuple[Numbers, Numbers]:
    """Internal forces and their dense matrix at displacements u, in the deformed state.

    With the modulus C of the Jaumann rate, as a UMAT gives it, the matrix has at gradients g and h
    of two shape functions g_j (C_ijkl − ½ (δ_ik σ_jl + δ_il σ_jk + δ_jk σ_il + δ_jl σ_ik)
    + δ_ik σ_jl) h_l.
    """
    gradients, weights = np.asarray(space.cubature.gradients), np.asarray(space.cubature.weights)
    cells, points, corners, _ = gradients.shape
    F = deformed(space, u)
    _, stress, tangent, _ = umat(F.reshape(-1, 3, 3))
    sigma = full(stress).reshape(cells, points, 3, 3)[..., :2, :2]
    C = tangent[:, PLACE][:, :, :, PLACE].reshape(cells, points, 3, 3, 3, 3)[..., :2, :2, :2, :2]
    one = np.eye(2)
    turned = [
        np.einsum(f"{first},cq{second}->cqijkl", one, sigma)
        for first, second in (("ik", "jl"), ("il", "jk"), ("jk", "il"), ("jl", "ik"))
    ]
    C = C - 0.5 * sum(turned) + turned[0]
    volume = weights * np.linalg.det(F)
    spatial = np.einsum("cqaj,cqji->cqai", gradients, np.linalg.inv(F[..., :2, :2]))
    forces = np.einsum("cq,cqij,cqaj->cai", volume, sigma, spatial)
    matrix = np.einsum("cq,cqaj,cqijkl,cqbl->caibk", volume, spatial, C, spatial)
    internal = np.bincount(space.gather.ravel(), forces.ravel(), space.unknowns)
    whole = np.zeros((space.unknowns, space.unknowns))
    size = corners * 2
    for places, each in zip(space.gather, matrix.reshape(cells, size, size), strict=True):
        whole[np.ix_(places, places)] += each
    return np.asarray(internal, float), whole


@pytest.mark.parametrize("name", ["found", "Gent"])
def test_cooks_membrane_by_the_umat_and_by_the_own_kernel(name: str) -> None:
    """Newton's method with forces and matrix of the compiled routine ends at the same place."""
    law = LAWS[name]()
    problem = cook(Wanted(3, 0.02))
    equilibrium, umat = Equilibrium.of(problem), Umat(law)
    nothing, theta = np.zeros(problem.space.unknowns), np.asarray(law.values)
    own = equilibrium.loaded(Body.of(problem.space, of_law(law)), theta, (0.0, nothing), 1.0)
    u, free, steps = nothing.copy(), equilibrium.free, 0
    for load in (0.25, 0.5, 0.75, 1.0):
        for _ in range(12):
            internal, matrix = assembled(problem.space, umat, u)
            left = equilibrium.left(internal, load)
            steps += 1
            if np.abs(left).max() < 1e-12:
                break
            u[free] -= np.linalg.solve(matrix[np.ix_(free, free)], left)
    assert steps < 30
    assert np.abs(u).max() > 1
    assert np.abs(u - present(own).u).max() < 1e-8 * np.abs(u).max()


@pytest.mark.parametrize("name", ["incompressible", "incompressible softplus"])
@pytest.mark.parametrize("bulk", [None, 37.0])
def test_an_incompressible_law_is_completed_alike(name: str, bulk: float | None) -> None:
    """Finite elements, UMAT and Python have one bulk modulus if none is stated, and one stress."""
    law, space = LAWS[name](), cook(Wanted(2)).space
    substance, umat = of_law(law, bulk), Umat(law)
    if bulk is None:
        assert substance.bulk == umat.constants[-1] > 0
    else:
        umat.constants[-1] = bulk
    u = np.random.default_rng(3).uniform(-2, 2, space.unknowns)
    F = deformed(space, u).reshape(-1, 3, 3)
    assert np.ptp(np.linalg.det(F)) > 0.1
    own = Body.of(space, substance).stress(np.asarray(law.values), u)
    exported = module("python", law).cauchy(F, umat.constants)[0]
    assert error(full(umat(F)[1]), own) < CLOSE
    assert error(full(exported), own) < CLOSE
