"""Exported programs, compiled and called, give what the law in JAX gives: Ψ, stress, tangent."""

import jax
import numpy as np
import pytest

from compilers import library, module, pointer
from export_cases import LAWS, PAIRS, constants, error, states, truth
from steinmetz.exporters import base
from steinmetz.potentials.law import Law

COUNT = 2000
# Of what is printed, over the size of the stress and of the tangent.
CLOSE = 1e-10


class Umat:
    """A compiled UMAT."""

    def __init__(self, law: Law) -> None:
        self.library = library(base.load("fortran_umat").export(law), "umat.f90")
        self.constants = constants(law)

    def __call__(self, F: np.ndarray, shears: int = 3) -> tuple[np.ndarray, ...]:
        """Ψ, stress, tangent and PNEWDT."""
        count, F = len(F), np.ascontiguousarray(F)
        psi, cuts = np.zeros(count), np.zeros(count)
        stress, tangent = np.zeros((count, 6)), np.zeros((count, 6, 6))
        arrays = [pointer(each) for each in (psi, stress, tangent, cuts)]
        c = self.constants
        self.library.many(count, pointer(F), pointer(c), len(c), 3, shears, *arrays)
        return psi * np.linalg.det(F), stress, tangent, cuts


@pytest.mark.parametrize("name", LAWS)
def test_umat(name: str) -> None:
    F, wanted = states(COUNT), truth(name, COUNT)
    psi, stress, tangent, _ = Umat(LAWS[name]())(F)
    assert error(psi, wanted.energy) < CLOSE
    assert error(stress, wanted.cauchy) < CLOSE
    assert error(tangent, wanted.jaumann) < CLOSE


@pytest.mark.parametrize("name", LAWS)
def test_header(name: str) -> None:
    law, F, wanted = LAWS[name](), states(COUNT), truth(name, COUNT)
    shapes = ((COUNT,), (COUNT, 6), (COUNT, 6, 6), (COUNT, 6), (COUNT, 6, 6))
    found = [np.zeros(shape) for shape in shapes]
    compiled = library(base.load("c").export(law), "law.c")
    compiled.many(COUNT, pointer(F), pointer(constants(law)), *map(pointer, found))
    for each, right in zip(found, wanted, strict=True):
        assert error(each, right) < CLOSE


@pytest.mark.parametrize("name", LAWS)
def test_calculix(name: str) -> None:
    law, F, wanted = LAWS[name](), states(COUNT), truth(name, COUNT)
    stress, tangent = np.zeros((COUNT, 6)), np.zeros((COUNT, 6, 6))
    compiled = library(base.load("calculix").export(law), "calculix.f90")
    arrays = [pointer(each) for each in (F, constants(law), stress, tangent)]
    compiled.many(COUNT, *arrays)
    assert error(stress, wanted.piola) < CLOSE
    assert error(tangent, wanted.material) < CLOSE


@pytest.mark.parametrize("name", LAWS)
def test_python(name: str) -> None:
    found, F, wanted = module("python", LAWS[name]()), states(COUNT), truth(name, COUNT)
    assert error(found.energy(F), wanted.energy) < CLOSE
    results = (*found.cauchy(F), *found.second_piola(F))
    for each, right in zip(results, wanted[1:], strict=True):
        assert error(each, right) < CLOSE


@pytest.mark.parametrize("name", LAWS)
def test_single_precision(name: str) -> None:
    """What is lost is a little more than single precision itself; nothing overflows."""
    law, F, wanted = LAWS[name](), states(COUNT), truth(name, COUNT)
    stress, tangent = module("python", law).cauchy(
        F.astype(np.float32), constants(law).astype(np.float32)
    )
    assert stress.dtype == np.float32
    assert error(stress, wanted.cauchy) < 1e-4
    assert error(tangent, wanted.jaumann) < 1e-4


@pytest.mark.parametrize("name", ["softplus", "Ogden"])
def test_jax(name: str) -> None:
    """Its own stress and tangent, and those that JAX takes from its energy."""
    count = 50
    found, F, wanted = module("jax", LAWS[name]()), states(count), truth(name, count)
    assert error(np.asarray(found.energy(F)), wanted.energy) < CLOSE
    results = (*found.cauchy(F), *found.second_piola(F))
    for each, right in zip(results, wanted[1:], strict=True):
        assert error(np.asarray(each), right) < CLOSE
    P = jax.vmap(jax.grad(found.energy))(jax.numpy.asarray(F))
    kirchhoff = np.asarray(P) @ np.swapaxes(F, 1, 2) / np.linalg.det(F)[:, None, None]
    assert error(np.stack([kirchhoff[:, i, j] for i, j in PAIRS], 1), wanted.cauchy) < 1e-9


@pytest.mark.parametrize("name", ["found", "Gent", "odd stretches", "incompressible"])
def test_the_tangent_is_that_of_the_objective_rate(name: str) -> None:
    """δF = ε/2 (e_k⊗e_l + e_l⊗e_k) F without spin, differences of Kirchhoff's stress over J ε."""
    F, umat, small = states(60, seed=3), Umat(LAWS[name]()), 1e-6
    J = np.linalg.det(F)[:, None]
    tangent = umat(F)[2]
    for column, (k, m) in enumerate(PAIRS):
        D = np.zeros((3, 3))
        D[k, m] += small / 2
        D[m, k] += small / 2
        up, down = (np.eye(3) + sign * D for sign in (1, -1))
        kirchhoff = [umat(A @ F)[1] * J * np.linalg.det(A) for A in (up, down)]
        rate = (kirchhoff[0] - kirchhoff[1]) / (2 * small * J)
        scale = np.abs(tangent).max(axis=(1, 2))[:, None]
        assert (np.abs(tangent[:, :, column] - rate) / scale).max() < 1e-7


def full(stress: np.ndarray) -> np.ndarray:
    tensor = np.zeros((len(stress), 3, 3))
    for n, (i, j) in enumerate(PAIRS):
        tensor[:, i, j] = tensor[:, j, i] = stress[:, n]
    return tensor


@pytest.mark.parametrize("name", ["softplus", "Ogden"])
def test_a_umat_is_objective_isotropic_and_symmetric(name: str) -> None:
    F, umat = states(200, seed=5), Umat(LAWS[name]())
    Q = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    Q = Q * np.sign(np.linalg.det(Q))
    stress, tangent = umat(F)[1:3]
    assert error(full(umat(Q @ F)[1]), Q @ full(stress) @ Q.T) < 1e-12
    assert error(umat(F @ Q)[1], stress) < 1e-12
    assert error(tangent, np.swapaxes(tangent, 1, 2)) < 1e-12


def test_a_umat_in_plane_strain_has_four_components() -> None:
    F = states(20)
    F[:, :2, 2] = F[:, 2, :2] = 0
    F = F[np.linalg.det(F) > 0.1]
    umat = Umat(LAWS["found"]())
    _, stress, tangent, _ = umat(F)
    _, four, corner, _ = umat(F, shears=1)
    np.testing.assert_array_equal(four[:, :4], stress[:, :4])
    np.testing.assert_array_equal(corner[:, :4, :4], tangent[:, :4, :4])
    assert not four[:, 4:].any()


def test_a_umat_asks_for_a_smaller_step_where_the_body_is_turned_inside_out() -> None:
    F = np.stack([np.eye(3), np.diag([1.0, 1.0, -0.1])])
    cuts = Umat(LAWS["found"]())(F)[3]
    assert cuts[0] == 1
    assert cuts[1] < 1


@pytest.mark.parametrize("name", LAWS)
def test_nothing_overflows_at_extreme_states(name: str) -> None:
    """Stretches of a hundredth and of a hundred: arguments of exponentials far beyond 10³."""
    F = np.stack([np.diag(row) for row in ((30.0, 30.0, 30.0), (0.03, 1, 1), (100, 0.1, 0.1))])
    psi, stress, tangent, _ = Umat(LAWS[name]())(F)
    assert np.isfinite(psi).all()
    assert np.isfinite(stress).all()
    assert np.isfinite(tangent).all()


@pytest.mark.parametrize("name", LAWS)
def test_at_rest_there_is_no_stress(name: str) -> None:
    psi, stress, tangent, _ = Umat(LAWS[name]())(np.eye(3)[None])
    size = np.abs(tangent).max()
    assert abs(psi[0]) < 1e-13 * size
    assert np.abs(stress).max() < 1e-12 * size
