"""What a test would teach, against closed forms."""

import numpy as np
import pytest

from steinmetz.predict import gain


def test_a_gaussian_gain_is_exact() -> None:
    """x ~ N(0, I), seen B x + noise: log of the deviations of A x before and after."""
    random = np.random.default_rng(0)
    A, B = random.normal(size=(4, 3)), random.normal(size=(2, 3))
    deviation = np.array([0.3, 0.7])
    x = random.standard_normal((200_000, 3))
    after = np.linalg.inv(np.eye(3) + B.T @ np.diag(deviation**-2.0) @ B)
    exact = 0.5 * np.log(np.diag(A @ A.T) / np.diag(A @ after @ A.T))
    np.testing.assert_allclose(gain.linear(x @ A.T, x @ B.T, deviation), exact, atol=0.01)


def test_laws_far_apart_are_told_apart_and_equal_ones_are_not() -> None:
    random = np.random.default_rng(1)
    labels = np.repeat([0, 1], [300, 700])
    seen = np.where(labels == 0, 0.0, 10.0)[:, None] + random.normal(size=(1000, 2))
    found, doubt = gain.structure(random, labels, seen, np.ones(2))
    assert doubt == pytest.approx(-0.3 * np.log(0.3) - 0.7 * np.log(0.7))
    assert found == pytest.approx(doubt, abs=0.01)
    assert gain.structure(random, labels, random.normal(size=(1000, 2)), np.ones(2))[0] < 0.03


def test_the_entropy_of_two_gaussian_laws_is_that_of_quadrature() -> None:
    """Laws N(±1, 0.5²) in one measurement of noise 1: mutual information by quadrature."""
    random = np.random.default_rng(2)
    labels = np.repeat([0, 1], 20_000)
    seen = (2.0 * labels - 1 + 0.5 * random.standard_normal(40_000))[:, None]
    spread = np.sqrt(0.5**2 + 1)
    y = np.linspace(-12, 12, 4001)
    each = np.exp(-0.5 * ((y - np.array([[-1.0], [1.0]])) / spread) ** 2)
    each /= spread * np.sqrt(2 * np.pi)
    both = each.mean(axis=0)
    exact = np.sum(0.5 * each * np.log(each / both)) * (y[1] - y[0])
    found = np.mean([gain.structure(random, labels, seen, np.ones(1))[0] for _ in range(20)])
    assert found == pytest.approx(exact, abs=0.02)


def test_stress_is_linear_up_to_its_size_and_logarithmic_beyond() -> None:
    np.testing.assert_allclose(gain.bent(np.array([[0.01]]), np.ones(1)), 0.01, rtol=1e-4)
    far = gain.bent(np.array([[1e6], [1e7]]), np.ones(1))
    assert far[1, 0] - far[0, 0] == pytest.approx(np.log(10))


def test_a_test_of_what_is_wanted_beats_one_of_something_else() -> None:
    random = np.random.default_rng(3)
    x = random.standard_normal((2000, 2))
    labels, noise = np.zeros(2000, int), (0.0, 0.1)
    same = gain.gain(random, labels, x[:, :1], x[:, :1], noise)
    other = gain.gain(random, labels, x[:, :1], x[:, 1:], noise)
    assert same.field > 1 > 0.01 > other.field
    assert same.structure == 0
