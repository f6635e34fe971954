"""Modes and curvatures of densities that are known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from cases import present
from steinmetz.laplace import Laplace, Search, at_mode, exact, gauss_newton, positive, probed

MEAN = np.array([3.0, -1.0])
ROOT = np.array([[1.5, 0.0], [0.8, 0.6]])


def rows(x: Array) -> Array:
    return jnp.asarray(jnp.linalg.solve(ROOT, x - MEAN))


def gaussian(x: Array) -> Array:
    return -0.5 * jnp.sum(rows(x) ** 2)


def test_a_gaussian_is_its_own_approximation() -> None:
    laplace = at_mode(gaussian, gauss_newton(rows), jnp.array([40.0, 7.0]), Search(20))
    np.testing.assert_allclose(laplace.centre, MEAN, atol=1e-12)
    np.testing.assert_allclose(laplace.root @ laplace.root.T, ROOT @ ROOT.T, rtol=1e-12)


@pytest.mark.parametrize("longest", [None, 0.5])
def test_steps_are_shortened_and_clipped_on_the_way(longest: float | None) -> None:
    """A full Newton step on log cosh overshoots from far away; the mode is found all the same."""
    density = lambda x: -jnp.sum(jnp.log(jnp.cosh(x)))  # noqa: E731
    bent = lambda x: positive(-jax.hessian(density)(x))  # noqa: E731
    laplace = at_mode(density, bent, jnp.array([2.0, -1.5]), Search(60, longest, 1e-10))
    np.testing.assert_allclose(laplace.centre, 0.0, atol=1e-7)
    np.testing.assert_allclose(laplace.root, np.eye(2), atol=1e-9)


def test_the_best_point_reached_is_kept_where_nothing_is_finite() -> None:
    density = lambda x: jnp.where(x[0] > 0.5, jnp.nan, x[0])  # noqa: E731
    laplace = at_mode(density, lambda x: jnp.eye(1), jnp.zeros(1), Search(9))
    assert 0.0 <= float(laplace.centre[0]) <= 0.5


@pytest.mark.parametrize("count", [30, 400])
def test_curvature_of_many_coordinates_is_that_of_all_rows(count: int) -> None:
    """Few rows are differentiated backwards, many forwards."""
    matrix = jax.random.normal(jax.random.key(0), (count, 120))
    bent = gauss_newton(lambda u: jnp.sin(matrix @ u), lambda u: 2 * u)(jnp.full(120, 0.01))
    slope = matrix * jnp.cos(matrix @ jnp.full(120, 0.01))[:, None]
    np.testing.assert_allclose(bent, slope.T @ slope + 4 * np.eye(120), atol=1e-9)


def test_the_slope_at_the_end_tells_whether_it_is_a_mode() -> None:
    reached = at_mode(gaussian, gauss_newton(rows), jnp.array([40.0, 7.0]), Search(20, rest=1e-9))
    assert present(reached.slope) < 1e-9
    short = at_mode(gaussian, gauss_newton(rows), jnp.array([40.0, 7.0]), Search(3, 0.1))
    assert present(short.slope) > 1


def test_widths_are_measured_where_the_hessian_says_too_little() -> None:
    """A Gaussian direction has its own width; others are as wide as where the density falls."""

    def density(x: Array) -> Array:
        inside = jnp.abs(x[2]) < 3
        return jnp.where(inside, -0.5 * (x[0] / 100) ** 2 - x[1] ** 4, -jnp.inf)

    root = probed(density, jnp.zeros(3), -jax.hessian(density)(jnp.zeros(3)))
    width = np.sort(np.sqrt(np.diag(root @ root.T)))
    assert 0.5**0.25 / 1.5 < width[0] < 0.5**0.25 * 1.5
    assert 2 < width[1] < 4.5
    assert width[2] == pytest.approx(100)


def test_coordinates_go_there_and_back() -> None:
    laplace = Laplace(jnp.asarray(MEAN), jnp.asarray(ROOT))
    v = jax.random.normal(jax.random.key(0), (5, 2))
    u = laplace.forward_all(v)
    np.testing.assert_allclose(u[3], laplace.forward(v[3]), rtol=1e-14)
    np.testing.assert_allclose(laplace.inverse(u), v, rtol=1e-12)
    np.testing.assert_allclose(laplace.inverse(u[3]), v[3], rtol=1e-12)


def test_curvatures_are_made_positive() -> None:
    np.testing.assert_allclose(positive(jnp.diag(jnp.array([2.0, -3.0]))), np.diag([2.0, 3.0]))
    np.testing.assert_allclose(positive(jnp.diag(jnp.array([2.0, 0.0]))), np.diag([2.0, 2e-3]))
    np.testing.assert_array_equal(positive(jnp.full((2, 2), jnp.nan)), np.eye(2))


def test_exact_curvature_ends_where_large_residuals_hold_up_gauss_and_newton() -> None:
    """(x + 1, λx² + x − 1) of Dennis and Schnabel: at the mode JᵀJ is 2, the curvature 2 − 2λ."""

    def bent(x: Array) -> Array:
        return 10 * jnp.array([x[0] + 1, -30 * x[0] ** 2 + x[0] - 1])

    def density(x: Array) -> Array:
        return -0.5 * jnp.sum(bent(x) ** 2)

    start, search = jnp.array([0.3]), Search(15, rest=1e-12)
    assert present(at_mode(density, exact(density), start, search).slope) < 1e-9
    assert present(at_mode(density, gauss_newton(bent), start, search).slope) > 1e-3


def test_exact_curvature_leaves_a_saddle() -> None:
    def density(x: Array) -> Array:
        return -((x[0] ** 2 - 1) ** 2) - x[1] ** 2

    found = at_mode(density, exact(density), jnp.array([1e-6, 0.5]), Search(60, rest=1e-8))
    np.testing.assert_allclose(found.centre, [1.0, 0.0], atol=1e-6)
