"""The kernel: patch test, rotations, small strains, rates of convergence, tangents."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cases import Formula, Numbers, coupled, lame, split
from steinmetz.errors import InputError
from steinmetz.fe.body import Body
from steinmetz.fe.mesh import Mesh, block
from steinmetz.fe.newton import Equilibrium, State
from steinmetz.fe.problem import Problem
from steinmetz.fe.space import space, tractions
from steinmetz.fe.substance import Substance
from steinmetz.records import Reference

NOTHING = Reference((3.0, 3.0, 1.0))
THETA = np.array([1.0, 1.5])
KINDS = ("quad", "quad9", "triangle6", "hexahedron", "tetra10")


class Case(NamedTuple):
    """A distorted block of one kind of cells."""

    mesh: Mesh
    body: Body


def distorted(kind: str, count: int = 2) -> Mesh:
    """A unit square or cube whose inner nodes are moved; simplices are cut from squares."""
    flat = kind in ("quad", "quad9", "triangle6")
    source = {"triangle6": "quad9", "tetra10": "hexahedron"}.get(kind, kind)
    mesh = block(source, (count,) * (2 if flat else 3), lambda p: p)
    if kind == "triangle6":
        halves = [[0, 1, 2, 4, 5, 8], [0, 2, 3, 8, 6, 7]]
        mesh = mesh._replace(cells=np.concatenate([mesh.cells[:, h] for h in halves]), kind=kind)
    if kind == "tetra10":
        mesh = tetrahedra(mesh)
    inner = np.all((mesh.points > 1e-6) & (mesh.points < 1 - 1e-6), axis=1)
    straight = kind in ("quad", "hexahedron")
    moves = np.random.default_rng(0).uniform(-0.08, 0.08, mesh.points.shape) * inner[:, None]
    return mesh._replace(points=mesh.points + (moves if straight else 0.3 * moves))


def tetrahedra(mesh: Mesh) -> Mesh:
    """Six tetrahedra with ten nodes in every cube."""
    ways = [(1, 2), (1, 5), (3, 2), (3, 7), (4, 5), (4, 7)]
    corners = np.concatenate([mesh.cells[:, [0, a, b, 6]] for a, b in ways])
    at = mesh.points[corners]
    turned = np.linalg.det(at[:, 1:] - at[:, :1]) < 0
    corners[turned] = corners[turned][:, [1, 0, 2, 3]]
    edges = np.array([(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)])
    pairs = np.sort(corners[:, edges].reshape(-1, 2), axis=1)
    unique, place = np.unique(pairs, axis=0, return_inverse=True)
    points = np.concatenate([mesh.points, mesh.points[unique].mean(axis=1)])
    middle = len(mesh.points) + place.reshape(len(corners), 6)
    return Mesh(points, np.concatenate([corners, middle], axis=1), "tetra10", {})


def case(kind: str, projected: bool) -> Case:
    mesh = distorted(kind)
    return Case(mesh, Body.of(space(mesh, projected), Substance.of(Formula(split), NOTHING)))


def stretched(dimension: int) -> Numbers:
    """A deformation gradient with shear."""
    return np.eye(dimension) + 0.2 * np.random.default_rng(3).uniform(-1, 1, (dimension,) * 2)


def clamped(mesh: Mesh, projected: bool, prescribed: Numbers) -> Problem:
    """All nodes of the surface moved as `prescribed` says."""
    outer = np.unique(mesh.boundary(np.arange(len(mesh.points))))
    dimension = mesh.points.shape[1]
    fixed = (dimension * outer[:, None] + np.arange(dimension)).ravel()
    ends, nothing = prescribed[outer].ravel(), np.zeros(mesh.points.size)
    return Problem("", space(mesh, projected), fixed, lambda share: share * ends, nothing, (), "")


def solved(problem: Problem, body: Body, theta: Numbers) -> State:
    nothing = np.zeros(problem.space.unknowns)
    state = Equilibrium.of(problem).loaded(body, theta, (0.0, nothing), 1.0)
    assert state is not None
    return state


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_patch(kind: str, projected: bool) -> None:
    """A homogeneous deformation of the surface is one of the whole."""
    mesh, body = case(kind, projected)
    F = stretched(mesh.points.shape[1])
    wanted = mesh.points @ (F - np.eye(len(F))).T
    state = solved(clamped(mesh, projected, wanted), body, THETA)
    assert np.abs(state.u - wanted.ravel()).max() < 1e-8
    stress = body.stress(THETA, state.u)
    assert np.abs(stress - stress[0]).max() < 1e-7
    assert np.abs(stress[0] - _cauchy(F)).max() < 1e-7


def _cauchy(F: Numbers) -> Numbers:
    """σ = ∂Ψ/∂F Fᵀ/J of the energy itself, in three dimensions."""
    whole = np.eye(3)
    whole[: len(F), : len(F)] = F

    def energy(each: jax.Array) -> jax.Array:
        C = each.T @ each
        I2 = 0.5 * (jnp.trace(C) ** 2 - jnp.sum(C * C))
        x = jnp.stack([jnp.trace(C), I2, jnp.linalg.det(each)])
        return split(jnp.asarray(THETA), x)

    P = np.asarray(jax.grad(energy)(jnp.asarray(whole)))
    return np.asarray(P @ whole.T / np.linalg.det(whole))


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_rotations_cost_nothing(kind: str, projected: bool) -> None:
    mesh, body = case(kind, projected)
    turn = np.linalg.qr(np.random.default_rng(5).standard_normal((mesh.points.shape[1],) * 2))[0]
    turn[0] *= np.sign(np.linalg.det(turn))
    found = body.forces(THETA, (mesh.points @ (turn.T - np.eye(len(turn))) + 0.7).ravel())
    assert found is not None
    assert np.abs(found.internal).max() < 1e-13


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_tangent_is_the_slope_of_the_forces(kind: str, projected: bool) -> None:
    _, body = case(kind, projected)
    random = np.random.default_rng(1)
    u, way = 0.03 * random.standard_normal((2, body.space.unknowns))
    found = body.forces(THETA, u, matrix=True)
    ends = [body.forces(THETA, u + sign * 1e-5 * way) for sign in (1, -1)]
    assert found is not None
    assert found.matrix is not None
    assert ends[0] is not None
    assert ends[1] is not None
    pattern = Equilibrium.of(
        clamped(body.space.mesh, projected, np.zeros_like(body.space.mesh.points))
    )
    slope = (ends[0].internal - ends[1].internal) / 2e-5
    assert np.abs(pattern.pattern.times(found.matrix, way) - slope).max() < 1e-8


@pytest.mark.parametrize("projected", [False, True])
def test_sensitivity_is_the_slope_in_parameters(projected: bool) -> None:
    _, body = case("quad9", projected)
    u = 0.03 * np.random.default_rng(1).standard_normal(body.space.unknowns)
    found = body.sensitivity(THETA, u)
    for place, step in enumerate(1e-4 * np.eye(2)):
        high, low = body.forces(THETA + step, u), body.forces(THETA - step, u)
        assert high is not None
        assert low is not None
        assert np.abs((high.internal - low.internal) / 2e-4 - found[:, place]).max() < 1e-9


@pytest.mark.parametrize("kind", ["quad9", "hexahedron"])
def test_small_loads_give_linear_elasticity(kind: str) -> None:
    """A bar between rollers: u = σ/E' x, and the error falls with the load."""
    mu, second = lame(1.0, 0.3)
    mesh = distorted(kind)
    dimension = mesh.points.shape[1]
    sides = [dimension * mesh.on(**{axis: 0.0}) + k for k, axis in enumerate("xyz"[:dimension])]
    fixed = np.unique(np.concatenate(sides))
    own = space(mesh, True)
    body = Body.of(own, Substance.of(Formula(coupled), NOTHING))
    modulus, across = (1 / (1 - 0.3**2), 0.3 / 0.7) if dimension == 2 else (1.0, 0.3)
    away = []
    for pull in (1e-2, 1e-3):
        end = mesh.boundary(mesh.on(x=1.0))
        force = tractions(mesh, end, pull * np.eye(dimension)[0])
        problem = Problem("", own, fixed, lambda _: np.zeros(len(fixed)), force, (), "")
        u = solved(problem, body, np.array([mu, second])).u.reshape(mesh.points.shape)
        linear = pull / modulus * mesh.points * [1.0, *[-across] * (dimension - 1)]
        away.append(np.abs(u - linear).max() / pull)
    assert away[1] < 2e-3
    assert 8 < away[0] / away[1] < 12


@pytest.mark.parametrize(
    ("kind", "counts", "rate"),
    [
        pytest.param("quad", (4, 8, 16), 2, marks=pytest.mark.long),
        ("quad9", (4, 8), 3),
        pytest.param("hexahedron", (4, 8), 2, marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("projected", [False, True])
def test_errors_fall_as_theory_says(
    kind: str, counts: tuple[int, ...], rate: int, projected: bool
) -> None:
    """A smooth solution is manufactured by its body force; its L2 error falls as h^(p + 1)."""
    errors = [_manufactured(kind, count, projected) for count in counts]
    found = np.log2(errors[-2] / errors[-1])
    assert found > rate - 0.25


def _wave(x: jax.Array) -> jax.Array:
    """A displacement that vanishes nowhere in particular."""
    first, second = jnp.sin(2 * x[0] + 1) * jnp.cos(x[1]), jnp.cos(x[0]) * jnp.sin(2 * x[1])
    parts = (
        [first, second] if len(x) == 2 else [first * jnp.cos(x[2]), second, jnp.sin(x[2] + x[0])]
    )
    return 0.1 * jnp.stack(parts)


def _piola(x: jax.Array) -> jax.Array:
    """P of the manufactured deformation."""
    dimension = len(x)
    F = jnp.eye(dimension) + jax.jacfwd(_wave)(x)

    def energy(each: jax.Array) -> jax.Array:
        whole = jnp.eye(3).at[:dimension, :dimension].set(each)
        C = whole.T @ whole
        I2 = 0.5 * (jnp.trace(C) ** 2 - jnp.sum(C * C))
        return split(jnp.asarray(THETA), jnp.stack([jnp.trace(C), I2, jnp.linalg.det(whole)]))

    stress: jax.Array = jax.grad(energy)(F)
    return stress


@jax.jit
def _body_force(x: jax.Array) -> jax.Array:
    """−Div P at many points."""
    return -jax.vmap(lambda each: jnp.einsum("ijj->i", jax.jacfwd(_piola)(each)))(x)


def _manufactured(kind: str, count: int, projected: bool) -> float:
    flat = kind != "hexahedron"
    mesh = block(kind, (count,) * (2 if flat else 3), lambda p: p)
    wanted = np.asarray(jax.vmap(_wave)(jnp.asarray(mesh.points)))
    problem = clamped(mesh, projected, wanted)
    at, _ = mesh.element.quadrature()
    values, _ = mesh.element.shapes(at)
    places = np.einsum("qn,cni->cqi", values, mesh.points[mesh.cells])
    forces = np.asarray(_body_force(jnp.asarray(places.reshape(-1, places.shape[2]))))
    weights = problem.space.cubature.weights
    shares = np.einsum("cq,qn,cqi->cni", weights, values, forces.reshape(places.shape))
    whole = np.zeros_like(mesh.points)
    np.add.at(whole, mesh.cells, shares)
    body = Body.of(problem.space, Substance.of(Formula(split), NOTHING))
    u = solved(problem._replace(force=whole.ravel()), body, THETA).u.reshape(mesh.points.shape)
    inside = np.einsum("qn,cni->cqi", values, u[mesh.cells])
    exact = np.asarray(jax.vmap(jax.vmap(_wave))(jnp.asarray(places)))
    return float(np.sqrt(np.sum(weights[..., None] * (inside - exact) ** 2)))


def test_cells_inside_out_are_refused() -> None:
    mesh = block("quad", (1, 1), lambda p: p[:, ::-1])
    with pytest.raises(InputError, match="cell 0 of the mesh is turned inside out"):
        space(mesh)
