"""Stein directions and medians against their definitions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.infer import kernels


def naive_direction(x, score, h):
    """The double sum of the definition, its kernel slope by automatic differentiation."""

    def kernel(a, b):
        return jnp.exp(-jnp.sum((a - b) ** 2) / h)

    def at(row):
        terms = [kernel(y, row) * s + jax.grad(kernel)(y, row) for y, s in zip(x, score, strict=True)]
        return sum(terms) / len(x)

    return jnp.stack([at(row) for row in x])


@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (17, 5)])
def test_direction_is_the_double_sum(shape):
    keys = jax.random.split(jax.random.key(0), 2)
    x, score = jax.random.normal(keys[0], shape) + 100, jax.random.normal(keys[1], shape)
    h = jnp.asarray(1.7)
    found = kernels.rbf_direction(x, score, jnp.ones(len(x), bool), kernels.squared_distances(x), h)
    np.testing.assert_allclose(found, naive_direction(x, score, h), atol=1e-6)


@pytest.mark.parametrize("count", [2, 3, 10, 101])
def test_median_is_the_lower_median_of_the_pairs(count):
    x = jax.random.normal(jax.random.key(count), (count, 4))
    squared = kernels.squared_distances(x)
    pairs = np.sort(np.asarray(squared)[~np.eye(count, dtype=bool)])
    lower = pairs[(len(pairs) - 1) // 2]
    found = float(kernels.median(squared, ~jnp.eye(count, dtype=bool)))
    assert found == pytest.approx(lower, abs=2e-7 * pairs.max())


def test_dead_particles_neither_push_nor_count():
    keys = jax.random.split(jax.random.key(1), 2)
    x, score = jax.random.normal(keys[0], (12, 3)), jax.random.normal(keys[1], (12, 3))
    alive = jnp.arange(12) < 9
    squared = kernels.squared_distances(x)
    h = kernels.bandwidth(squared, alive)
    assert float(h) == pytest.approx(
        float(kernels.bandwidth(kernels.squared_distances(x[:9]), jnp.ones(9, bool))), rel=1e-6
    )
    found = kernels.rbf_direction(x, score, alive, squared, h)[:9]
    np.testing.assert_allclose(found, naive_direction(x[:9], score[:9], h), atol=1e-12)


def test_coincident_particles_have_a_finite_bandwidth():
    x = jnp.ones((6, 3))
    squared = kernels.squared_distances(x)
    assert float(kernels.bandwidth(squared, jnp.ones(6, bool))) == 1.0


def test_stein_identity_on_exact_draws():
    """E_p[φ] = 0: the mean direction over exact draws is within its standard error of zero."""
    x = jax.random.normal(jax.random.key(2), (1500, 2))
    h = jnp.asarray(2.0)
    direction = kernels.rbf_direction(x, -x, jnp.ones(1500, bool), kernels.squared_distances(x), h)
    assert np.abs(np.asarray(direction)).mean() < 5 / np.sqrt(1500)
