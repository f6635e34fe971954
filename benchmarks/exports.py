"""Every exporter for solvers × every law × many states: the worst error against the law in JAX.

    python benchmarks/exports.py [STATES]

Errors are those of energy, stress and tangent over their size at the state. UFL is compiled by FFCx
where that is installed, at a hundredth of the states.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
jax.config.update("jax_enable_x64", True)

from compilers import library, module, pointer  # noqa: E402
from export_cases import LAWS, Truth, constants, error, states, truth  # noqa: E402
from steinmetz.errors import InputError  # noqa: E402
from steinmetz.exporters import base  # noqa: E402
from steinmetz.potentials.law import Law  # noqa: E402

CHUNK = 20_000
Errors = tuple[float, ...]


def umat(law: Law, F: np.ndarray, wanted: Truth) -> Errors:
    """Energy, Cauchy stress and Jaumann modulus of the compiled UMAT."""
    compiled, c = library(base.load("fortran_umat").export(law), "umat.f90"), constants(law)
    shapes = ((), (6,), (6, 6), ())
    psi, stress, tangent, cuts = (np.zeros((len(F), *shape)) for shape in shapes)
    arrays = [pointer(each) for each in (psi, stress, tangent, cuts)]
    compiled.many(len(F), pointer(F), pointer(c), len(c), 3, 3, *arrays)
    found = (psi * np.linalg.det(F), stress, tangent)
    return tuple(map(error, found, wanted[:3]))


def header(law: Law, F: np.ndarray, wanted: Truth) -> Errors:
    """The compiled header in C: both stresses and both moduli."""
    compiled = library(base.load("c").export(law), "law.c")
    found = [np.zeros(each.shape) for each in wanted]
    compiled.many(len(F), pointer(F), pointer(constants(law)), *map(pointer, found))
    return tuple(map(error, found, wanted))


def calculix(law: Law, F: np.ndarray, wanted: Truth) -> Errors:
    """Second Piola–Kirchhoff stress and modulus of the compiled user material."""
    compiled = library(base.load("calculix").export(law), "calculix.f90")
    stress, tangent = np.zeros((len(F), 6)), np.zeros((len(F), 6, 6))
    compiled.many(len(F), *map(pointer, (F, constants(law), stress, tangent)))
    return error(stress, wanted.piola), error(tangent, wanted.material)


def arrays(name: str) -> Callable[[Law, np.ndarray, Truth], Errors]:
    """A module of Python."""

    def judge(law: Law, F: np.ndarray, wanted: Truth) -> Errors:
        found = module(name, law)
        F = jax.numpy.asarray(F) if name == "jax" else F
        every = (found.energy(F), *found.cauchy(F), *found.second_piola(F))
        return tuple(
            error(np.asarray(each), right) for each, right in zip(every, wanted, strict=True)
        )

    return judge


def single(law: Law, F: np.ndarray, wanted: Truth) -> Errors:
    """The module of NumPy in single precision."""
    c = constants(law).astype(np.float32)
    found = module("python", law).cauchy(F.astype(np.float32), c)
    return tuple(map(error, found, wanted[1:3]))


def ufl(law: Law, F: np.ndarray, _: Truth) -> Errors:
    """Energy, residual and stiffness of a tetrahedron by FFCx."""
    from exporters.test_elements import compare_tetrahedron

    return (compare_tetrahedron(law, F[: max(len(F) // 100, 1)]),)


TARGETS = {
    "fortran_umat": umat, "c": header, "calculix": calculix,
    "python": arrays("python"), "jax": arrays("jax"), "ufl": ufl, "single": single,
}  # fmt: skip


def worst(target: str, name: str, count: int) -> str:
    """The largest error over all chunks of states, or why there is none."""
    found = 0.0
    for seed in range(max(count // CHUNK, 1)):
        size = min(count, CHUNK)
        try:
            each = TARGETS[target](LAWS[name](), states(size, seed), truth(name, size, seed))
        except InputError:
            return "refused"
        except ImportError:
            return "absent"
        found = max(found, *each)
    return f"{found:.1e}"


def main(count: int) -> None:
    """Print a table."""
    print("law | " + " | ".join(TARGETS), flush=True)
    for name in LAWS:
        print(f"{name} | " + " | ".join(worst(t, name, count) for t in TARGETS), flush=True)
        truth.cache_clear()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
