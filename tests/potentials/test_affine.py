"""Shapes of arguments in which several invariants stand."""

import numpy as np
import pytest

from steinmetz.potentials.affine import SHAPES, chain_modulus
from steinmetz.potentials.shape import Constants, Invariants

REST = (np.array(3.0), np.array(3.0), np.array(1.0))
X: Invariants = (np.array([3.2, 4.0, 6.0]), np.array([3.1, 4.5, 9.0]), np.array([0.9, 1.1, 1.4]))
ALONE = ("exponential", "locking", "softplus", "root exponential", "root locking")
SHARED = ("exponential", "locking", "softplus", "common norm", "root exponential", "root locking")


@pytest.mark.parametrize("shape", SHARED)
@pytest.mark.parametrize("ratio", [0.0, 0.3, 1.0, 7.0])
def test_the_slope_at_rest_is_one_whatever_i2_weighs(shape: str, ratio: float) -> None:
    """And its share of I2 is the weight over the sum of weights."""
    first, second, volume = SHAPES[shape].slopes(np, REST, (2.0, 0.0, ratio))
    assert first + second == pytest.approx(1)
    assert second == pytest.approx(ratio / (1 + ratio))
    assert volume == 0


@pytest.mark.parametrize("shape", ALONE)
def test_without_i2_a_shape_is_that_of_one_invariant(shape: str) -> None:
    for part in ("energy", "slopes"):
        shared = getattr(SHAPES[shape], part)(np, X, (5.0, 0.0, 0.0))
        alone = getattr(SHAPES[shape], part)(np, X, (5.0, 0.0))
        np.testing.assert_allclose(shared, alone, rtol=1e-14)


@pytest.mark.parametrize(
    "constants", [(2.0, 1.0, 0.5, 0.8, 0.3), (2.0, -1.0, 0.5, 0.8, 0.3), (5.0, 1.0, 0.0, 0.0, 1.0)]
)
def test_a_unit_is_a_softplus_of_an_affine_argument(constants: Constants) -> None:
    rate, sign, ratio, push, shift = constants
    mean = ((X[0] - 3) + ratio * (X[1] - 3)) / (1 + ratio)
    z = rate * (mean + sign * push * (X[2] - 1) - shift)
    expected = 2 / rate * (np.log1p(np.exp(z)) - np.log(2))
    np.testing.assert_allclose(SHAPES["unit"].energy(np, X, constants), expected, rtol=1e-12)
    first, second, volume = SHAPES["unit"].slopes(np, X, constants)
    np.testing.assert_allclose(second, ratio * first)
    np.testing.assert_allclose(volume, sign * push * (1 + ratio) * first)


def test_chains_are_those_of_arruda_and_boyce() -> None:
    """μ times the series, with μ the slope of a coefficient of one at rest."""
    N, weights = 7.8, (1 / 2, 1 / 20, 11 / 1050, 19 / 7000, 519 / 673750)
    series = sum(w * (X[0] ** i - 3**i) / N ** (i - 1) for i, w in enumerate(weights, 1))
    energy = SHAPES["chains"].energy(np, X, (N, 0.0))
    np.testing.assert_allclose(energy * chain_modulus(N), series, rtol=1e-13)
    assert SHAPES["chains"].slopes(np, REST, (N, 0.0))[0] == pytest.approx(1)
