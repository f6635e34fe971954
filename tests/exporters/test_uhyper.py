"""A compiled UHYPER: slopes to the third order in modified invariants, in Abaqus's order."""

import numpy as np
import pytest

from compilers import library, pointer
from export_cases import LAWS, PAIRS, constants, error, states, truth
from steinmetz.exporters import base
from steinmetz.potentials.law import Law

# Second and third slopes by their variables.
THIRD = ((0, 0, 2), (1, 1, 2), (0, 1, 2), (0, 2, 2), (1, 2, 2), (2, 2, 2))


def called(law: Law, x: np.ndarray) -> list[np.ndarray]:
    """U, UI1, UI2 and UI3 at modified invariants."""
    x, c = np.ascontiguousarray(x), constants(law)
    found = [np.zeros((len(x), size)) for size in (2, 3, 6, 6)]
    compiled = library(base.load("fortran_uhyper").export(law), "uhyper.f90")
    compiled.many(len(x), pointer(x), pointer(c), len(c), *map(pointer, found))
    return found


def modified(F: np.ndarray) -> np.ndarray:
    """Modified invariants and J."""
    C, J = np.swapaxes(F, 1, 2) @ F, np.linalg.det(F)
    I1 = np.trace(C, axis1=1, axis2=2)
    I2 = (I1**2 - np.sum(C * C, axis=(1, 2))) / 2
    return np.stack([I1 * J ** (-2 / 3), I2 * J ** (-4 / 3), J], axis=1)


def isochoric(F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """b J^(−2/3) and its square."""
    b = F @ np.swapaxes(F, 1, 2) / np.linalg.det(F)[:, None, None] ** (2 / 3)
    return b, b @ b


@pytest.mark.parametrize("name", LAWS)
def test_energy_and_stress(name: str) -> None:
    """σ = 2/J dev(U₁ b̄ + U₂ (Ī1 b̄ − b̄²)) + U_J I, as Abaqus forms it."""
    count = 2000
    law, F = LAWS[name](), states(count)
    wanted, x = truth(name, count), modified(F)
    U, first, _, _ = called(law, x)
    assert error(U[:, 0], wanted.energy) < 1e-10
    b, b2 = isochoric(F)
    inner = first[:, 0, None, None] * b + first[:, 1, None, None] * (x[:, 0, None, None] * b - b2)
    mean = np.trace(inner, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3)
    stress = 2 / x[:, 2, None, None] * (inner - mean) + first[:, 2, None, None] * np.eye(3)
    assert error(np.stack([stress[:, i, j] for i, j in PAIRS], 1), wanted.cauchy) < 1e-10


@pytest.mark.parametrize("name", ["found", "softplus", "Gent", "Ogden", "incompressible"])
def test_second_and_third_slopes(name: str) -> None:
    """By differences of the slopes before them, each in its place of Abaqus's order."""
    law, small = LAWS[name](), 1e-5
    x = modified(states(40, seed=2))
    _, _, second, third = called(law, x)
    ways = small * np.eye(3)
    moved = [(called(law, x + way), called(law, x - way)) for way in ways]
    slopes = [(up[1] - down[1], up[2] - down[2]) for up, down in moved]
    by = np.stack([slopes[j][0][:, i] for i, j in PAIRS], axis=1) / (2 * small)
    assert error(second, by) < 1e-6
    by = np.stack([slopes[k][1][:, PAIRS.index((i, j))] for i, j, k in THIRD], axis=1)
    assert error(third, by / (2 * small)) < 1e-6
