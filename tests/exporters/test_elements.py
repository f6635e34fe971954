"""Exports to FElupe and UFL, run by FElupe and compiled by FFCx, give what the law gives.

Both are further packages: without them these tests are skipped and say so.
"""

import types
from typing import Any

import numpy as np
import pytest

from compilers import module, need
from export_cases import LAWS, constants, error, first_piola, states
from steinmetz.errors import InputError
from steinmetz.exporters import base
from steinmetz.potentials.law import Law

FELUPE = "pip install felupe to test the export to FElupe"
FFCX = "pip install fenics-ffcx to test the export to UFL"


@pytest.mark.parametrize("name", LAWS)
def test_material_of_felupe(name: str) -> None:
    """P and dP/dF in the axes that FElupe has; FElupe itself is not needed for that."""
    law, F = LAWS[name](), states(200)
    psi, P, A = first_piola(law, F)
    material = module("felupe", law).Law()
    x = [np.moveaxis(F, 0, -1)[:, :, None], np.zeros(0)]
    assert error(material.function(x)[0][0], psi) < 1e-10
    assert error(np.moveaxis(material.gradient(x)[0][:, :, 0], -1, 0), P) < 1e-10
    assert error(np.moveaxis(material.hessian(x)[0][..., 0, :], -1, 0), A) < 1e-10


@pytest.mark.parametrize("name", ["found", "Gent", "incompressible softplus"])
def test_a_block_in_felupe(name: str) -> None:
    """Newton's method converges quadratically, which a wrong tangent would not allow."""
    felupe = pytest.importorskip("felupe", reason=FELUPE)
    law = LAWS[name]()
    field = felupe.FieldContainer([felupe.Field(felupe.RegionHexahedron(felupe.Cube(n=3)), dim=3)])
    boundaries = felupe.dof.uniaxial(field, clamped=True, move=0.2, return_loadcase=False)
    solid = felupe.SolidBody(module("felupe", law).Law(), field)
    step = felupe.Step(items=[solid], boundaries=boundaries)
    found = list(step.generate(x0=field, verbose=False))
    assert found[-1].success
    norms = np.asarray(found[-1].fnorms)
    assert norms[-1] < 1e-6
    assert len(norms) <= 8


@pytest.mark.parametrize(
    "name",
    ["softplus", *(pytest.param(name, marks=pytest.mark.long) for name in ("Fung", "chains"))],
)
def test_forms_of_ufl(name: str) -> None:
    """Energy, residual and stiffness of one tetrahedron, compiled, against P and dP/dF."""
    pytest.importorskip("ffcx", reason=FFCX)
    need("gcc")
    compare_tetrahedron(LAWS[name](), states(20, seed=4))


def compare_tetrahedron(law: Law, every: np.ndarray) -> float:
    """The worst error over some deformation gradients; F is constant in a linear tetrahedron."""
    kernels = compiled_forms(module("ufl", law), len(constants(law)))
    psi, P, A = first_piola(law, every)
    gradient = np.array([[-1.0, -1, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    worst = 0.0
    for number, F in enumerate(every):
        u = np.concatenate([np.zeros((1, 3)), (F - np.eye(3)).T])
        energy, residual, stiffness = (kernel(u.ravel(), constants(law)) for kernel in kernels)
        size = np.abs(A[number]).max()
        right = gradient @ P[number].T / 6
        whole = np.einsum("aJ,iJkL,bL->aibk", gradient, A[number], gradient) / 6
        worst = max(
            worst,
            abs(energy.item() * 6 - psi[number]) / size,
            np.abs(residual.reshape(4, 3) - right).max() / size,
            np.abs(stiffness.reshape(4, 3, 4, 3) - whole).max() / size,
        )
    assert worst < 1e-10
    return worst


def compiled_forms(exported: types.ModuleType, count: int) -> list[Any]:
    """Functions of displacements and constants that give the tensors of one tetrahedron."""
    import basix.ufl
    import ufl
    from ffcx.codegeneration import jit

    element = basix.ufl.element("Lagrange", "tetrahedron", 1, shape=(3,))
    mesh = ufl.Mesh(element)
    space = ufl.FunctionSpace(mesh, element)
    u, v, du = ufl.Coefficient(space), ufl.TestFunction(space), ufl.TrialFunction(space)
    c, dx = ufl.Constant(mesh, shape=(count,)), ufl.dx(degree=1)
    F = exported.deformation_gradient(u)
    residual = ufl.inner(exported.first_piola(F, c), ufl.grad(v)) * dx
    forms = [exported.energy(F, c) * dx, residual, ufl.derivative(residual, u, du)]
    objects, library, _ = jit.compile_forms(forms, cffi_extra_compile_args=["-O1"])
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])

    def kernel(form: Any, size: int) -> Any:
        def call(w: np.ndarray, constant: np.ndarray) -> np.ndarray:
            pointer, out = library.ffi.from_buffer, np.zeros(size)
            arrays = [pointer("double[]", each) for each in (out, w, constant, points)]
            null = library.ffi.NULL
            form.form_integrals[0].tabulate_tensor_float64(*arrays, null, null, null)
            return out

        return call

    return [kernel(form, size) for form, size in zip(objects, (1, 12, 144), strict=True)]


def test_ufl_refuses_odd_powers_of_stretches() -> None:
    with pytest.raises(InputError, match="odd or fitted powers"):
        base.load("ufl").export(LAWS["Ogden"]())
