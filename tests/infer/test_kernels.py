"""Stein directions and medians against their definitions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.infer import kernels

KERNELS = ["rbf", "imq", "bilinear"]


def kernel(name, a, b, h, mean):
    squared = jnp.sum((a - b) ** 2)
    if name == "imq":
        return (1 + squared / h) ** -0.5
    bilinear = (1 + (a - mean) @ (b - mean)) / a.size if name == "bilinear" else 0.0
    return jnp.exp(-squared / h) + bilinear


def naive_direction(name, x, score, h):
    """The double sum of the definition, its kernel slope by automatic differentiation."""
    mean = jnp.mean(x, axis=0)

    def at(row):
        terms = [
            kernel(name, y, row, h, mean) * s + jax.grad(kernel, argnums=1)(name, y, row, h, mean)
            for y, s in zip(x, score, strict=True)
        ]
        return sum(terms) / len(x)

    return jnp.stack([at(row) for row in x])


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (17, 5)])
def test_direction_is_the_double_sum(name, shape):
    keys = jax.random.split(jax.random.key(0), 2)
    x, score = jax.random.normal(keys[0], shape) + 100, jax.random.normal(keys[1], shape)
    h = jnp.asarray(1.7)
    found = kernels.direction(name, x, score, jnp.ones(len(x), bool), h)
    np.testing.assert_allclose(found, naive_direction(name, x, score, h), atol=1e-10)


@pytest.mark.parametrize("name", KERNELS)
def test_blocks_change_nothing(name, monkeypatch):
    keys = jax.random.split(jax.random.key(0), 2)
    x, score = jax.random.normal(keys[0], (37, 3)), jax.random.normal(keys[1], (37, 3))
    alive, h = jnp.arange(37) != 4, jnp.asarray(0.9)
    whole = kernels.direction(name, x, score, alive, h)
    monkeypatch.setattr(kernels, "_BLOCK", 37 * 8)
    np.testing.assert_allclose(
        kernels.direction(name, x, score, alive, h), whole, rtol=1e-12, atol=1e-14
    )


def test_many_particles_never_make_a_particles_by_particles_array():
    """At 12 000 particles one such array would take 1.15 GB, and one by the dimension eight times that."""
    count, size = 12_000, 8
    shapes = (jax.ShapeDtypeStruct((count, size), float), jax.ShapeDtypeStruct((count,), bool))

    def step(x, alive):
        return kernels.direction("rbf", x, -x, alive, kernels.bandwidth(x, alive))

    needed = jax.jit(step).lower(*shapes).compile().memory_analysis().temp_size_in_bytes
    assert needed < 250e6


@pytest.mark.parametrize("count", [2, 3, 10, 101])
def test_bandwidth_is_the_lower_median_over_log_s(count):
    x = np.asarray(jax.random.normal(jax.random.key(count), (count, 4)))
    squared = np.sum((x[:, None] - x[None]) ** 2, axis=2)
    pairs = np.sort(squared[~np.eye(count, dtype=bool)])
    lower = pairs[(len(pairs) - 1) // 2]
    found = float(kernels.bandwidth(jnp.asarray(x), jnp.ones(count, bool)))
    assert found == pytest.approx(lower / np.log(max(count, 2)), abs=1e-6 * pairs.max())


@pytest.mark.parametrize("name", KERNELS)
def test_dead_particles_neither_push_nor_count(name):
    keys = jax.random.split(jax.random.key(1), 2)
    x, score = jax.random.normal(keys[0], (12, 3)), jax.random.normal(keys[1], (12, 3))
    score = score.at[10].set(jnp.nan)
    alive = jnp.arange(12) < 9
    h = kernels.bandwidth(x, alive)
    assert float(h) == pytest.approx(float(kernels.bandwidth(x[:9], jnp.ones(9, bool))), rel=1e-6)
    found = kernels.direction(name, x, score, alive, h)
    np.testing.assert_array_equal(found[9:], 0.0)
    np.testing.assert_allclose(found[:9], naive_direction(name, x[:9], score[:9], h), atol=1e-12)


def test_coincident_particles_have_a_finite_bandwidth():
    assert float(kernels.bandwidth(jnp.ones((6, 3)), jnp.ones(6, bool))) == 1.0


@pytest.mark.parametrize("name", KERNELS)
def test_stein_identity_on_exact_draws(name):
    """E_p[φ] = 0: at every point the direction of exact draws is within its standard error of zero.

    The error is that of a mean over draws of k s + ∇k, estimated from the same draws; its square over points and
    coordinates has mean 1 where the identity holds.
    """
    count, h = 6000, 2.0
    x = jax.random.normal(jax.random.key(2), (count, 2)) @ jnp.array([[1.0, 0.5], [0.0, 0.8]])
    precision = jnp.linalg.inv(
        jnp.array([[1.0, 0.5], [0.0, 0.8]]).T @ jnp.array([[1.0, 0.5], [0.0, 0.8]])
    )
    score = -x @ precision
    found = np.asarray(kernels.direction(name, x, score, jnp.ones(count, bool), jnp.asarray(h)))[
        :40
    ]
    mean = jnp.mean(x, axis=0)
    term = jax.vmap(
        jax.vmap(
            lambda y, s, at: (
                kernel(name, y, at, h, mean) * s + jax.grad(kernel, 1)(name, y, at, h, mean)
            ),
            (0, 0, None),
        ),
        (None, None, 0),
    )(x, score, x[:40])
    error = np.asarray(term).std(axis=1) / np.sqrt(count)
    assert (
        np.mean((found / error) ** 2) < 6
    )  # points share their draws, so this has few degrees of freedom
    wrong = np.asarray(kernels.direction(name, x, -score, jnp.ones(count, bool), jnp.asarray(h)))[
        :40
    ]
    assert np.mean((wrong / error) ** 2) > 100  # the test sees a wrong sign
