"""Modes and curvatures of densities that are known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from steinmetz.laplace import Laplace, Search, at_mode, gauss_newton, positive

MEAN = np.array([3.0, -1.0])
ROOT = np.array([[1.5, 0.0], [0.8, 0.6]])


def rows(x: Array) -> Array:
    return jnp.asarray(jnp.linalg.solve(ROOT, x - MEAN))


def gaussian(x: Array) -> Array:
    return -0.5 * jnp.sum(rows(x) ** 2)


def test_a_gaussian_is_its_own_approximation() -> None:
    laplace = at_mode(gaussian, gauss_newton(rows), jnp.array([40.0, 7.0]), Search(2, 4))
    np.testing.assert_allclose(laplace.centre, MEAN, atol=1e-12)
    np.testing.assert_allclose(laplace.root @ laplace.root.T, ROOT @ ROOT.T, rtol=1e-12)


@pytest.mark.parametrize("longest", [None, 0.5])
def test_steps_are_shortened_and_clipped_on_the_way(longest: float | None) -> None:
    """A full Newton step on log cosh overshoots from far away; the mode is found all the same."""
    density = lambda x: -jnp.sum(jnp.log(jnp.cosh(x)))  # noqa: E731
    bent = lambda x: positive(-jax.hessian(density)(x))  # noqa: E731
    laplace = at_mode(density, bent, jnp.array([2.0, -1.5]), Search(20, 12, longest))
    np.testing.assert_allclose(laplace.centre, 0.0, atol=1e-9)
    np.testing.assert_allclose(laplace.root, np.eye(2), atol=1e-9)


def test_the_best_point_reached_is_kept_where_nothing_is_finite() -> None:
    density = lambda x: jnp.where(x[0] > 0.5, jnp.nan, x[0])  # noqa: E731
    laplace = at_mode(density, lambda x: jnp.eye(1), jnp.zeros(1), Search(5, 3))
    assert 0.0 <= float(laplace.centre[0]) <= 0.5


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
