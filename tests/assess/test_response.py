"""Eigenvalues in closed form are those of a solver."""

import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.assess import response


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_least_eigenvalue_agrees_with_a_solver(size: int) -> None:
    random = np.random.default_rng(size)
    half = random.normal(size=(200, size, size))
    matrices = half + np.swapaxes(half, 1, 2)
    matrices[0] = 0.7 * np.eye(size)  # all eigenvalues equal
    matrices[1] = np.diag([1.0, *[-2.0] * (size - 1)])  # two of them equal
    found = response._least_eigenvalue(jnp.asarray(matrices))
    np.testing.assert_allclose(found, np.linalg.eigvalsh(matrices)[:, 0], atol=1e-7)
