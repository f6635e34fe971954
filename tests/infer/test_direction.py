"""Median, bandwidth and Stein direction against their definitions."""

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from steinmetz.infer import kernels, median, svgd
from steinmetz.infer.base import as_target


def pairwise(x):
    """‖x_i − x_j‖² one by one."""
    return np.sum((np.asarray(x)[:, None] - np.asarray(x)[None]) ** 2, axis=-1)


def defined_bandwidth(x):
    pairs = np.sort(pairwise(x)[np.triu_indices(len(x), 1)])
    return pairs[(len(pairs) - 1) // 2] / np.log(len(x))


def clouds():
    """Particles as they come: round, far off, in clusters, with outliers, on a grid, and few."""
    keys = jax.random.split(jax.random.key(0), 5)
    round_ = jax.random.normal(keys[0], (60, 3))
    return {
        "round": round_,
        "far off": 1e4 + round_,
        "clusters": jnp.where(jnp.arange(60)[:, None] < 20, 1e-3 * round_, 8 + 1e-3 * round_),
        "outliers": jax.random.t(keys[1], 1.0, (101, 2)),
        "grid": jnp.asarray(np.indices((5, 5)).reshape(2, -1).T, float),
        "two": jax.random.normal(keys[2], (2, 4)),
        "three": jax.random.normal(keys[3], (3, 1)),
        "many": jax.random.normal(keys[4], (700, 2)) * jnp.array([1.0, 30.0]),
    }


@pytest.mark.parametrize("name", clouds())
def test_bandwidth_is_the_median_of_pairs(name):
    x = clouds()[name]
    found = float(kernels.bandwidth(x, jnp.ones(len(x), bool)))
    assert found == pytest.approx(defined_bandwidth(x), rel=1e-6)


@pytest.mark.parametrize("rank", [1, 2, 17, 199, 200])
def test_any_rank_of_pairs_is_found(rank):
    values = jnp.repeat(jax.random.uniform(jax.random.key(rank), (20, 5)), 2, axis=1)
    found = float(median.ranked(values, jnp.asarray(float(rank)), jnp.asarray(2.0)))
    assert found == pytest.approx(np.sort(np.asarray(values).ravel())[rank - 1], rel=1e-6)


def test_dead_particles_do_not_count():
    x = jax.random.normal(jax.random.key(1), (40, 3)).at[::7].set(1e8)
    alive = jnp.arange(40) % 7 != 0
    assert float(kernels.bandwidth(x, alive)) == pytest.approx(
        defined_bandwidth(x[alive]), rel=1e-6
    )


@pytest.mark.parametrize("where", [0.0, 0.1, 1e5 / 3])
def test_coincident_particles_have_a_bandwidth_of_one(where):
    assert float(kernels.bandwidth(jnp.full((6, 3), where), jnp.ones(6, bool))) == 1.0


def test_one_living_particle_and_none_have_a_bandwidth_of_one():
    x = jax.random.normal(jax.random.key(2), (5, 2))
    assert float(kernels.bandwidth(x, jnp.arange(5) == 3)) == 1.0
    assert float(kernels.bandwidth(x, jnp.zeros(5, bool))) == 1.0


def test_many_particles_are_thinned():
    x = jax.random.normal(jax.random.key(3), (2100, 2))
    found = float(kernels.bandwidth(x, jnp.ones(2100, bool)))
    assert found == pytest.approx(defined_bandwidth(x[::2]) * np.log(1050) / np.log(2100), rel=1e-6)


@pytest.mark.parametrize("name", ["rbf", "imq", "bilinear"])
def test_direction_is_the_double_sum_over_the_living(name):
    keys = jax.random.split(jax.random.key(4), 2)
    x, score = jax.random.normal(keys[0], (15, 4)) + 3, jax.random.normal(keys[1], (15, 4))
    alive, h = jnp.arange(15) % 5 != 2, 1.7
    middle = jnp.mean(x[alive], axis=0)

    def kernel(a, b):
        squared = jnp.sum((a - b) ** 2) / h
        if name == "imq":
            return (1 + squared) ** -0.5
        linear = (1 + (a - middle) @ (b - middle)) / 4 if name == "bilinear" else 0.0
        return jnp.exp(-squared) + linear

    pair = jax.vmap(jax.vmap(jax.value_and_grad(kernel), (0, None)), (None, 0))
    value, slope = pair(x[alive], x[alive])
    expected = (value @ score[alive] + slope.sum(axis=1)) / int(alive.sum())
    found = kernels.direction(name, x, score.at[2].set(jnp.nan), alive, jnp.asarray(h))
    np.testing.assert_allclose(found[alive], expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(found[~alive], 0.0)


def test_direction_is_that_of_blackjax():
    """A plain step of length one is the direction."""
    x = jax.random.normal(jax.random.key(5), (30, 7))
    h = float(kernels.bandwidth(x, jnp.ones(30, bool)))
    score = lambda p: -p / jnp.linspace(0.1, 1, 7)  # noqa: E731
    theirs = blackjax.svgd(score, optax.sgd(1.0))
    expected = theirs.step(theirs.init(x, {"length_scale": h})).particles - x
    found = kernels.direction("rbf", x, jax.vmap(score)(x), jnp.ones(30, bool), jnp.asarray(h))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_bandwidth_follows_particles_that_jump():
    """Nothing is carried over from the last step."""
    sampler = svgd.build(as_target(lambda x: -0.5 * x @ x), svgd.Config(particles=30, refresh=1))
    key, x = jax.random.key(0), jax.random.normal(jax.random.key(6), (30, 2))
    state = sampler.step(key, sampler.init(key, x))[0]
    for factor in (1e6, 1e-9):
        moved = state._replace(particles=factor * x)
        assert float(sampler.step(key, moved)[0].bandwidth) == pytest.approx(
            defined_bandwidth(factor * x), rel=1e-6
        )


def test_single_precision_ends_too():
    x = jax.random.normal(jax.random.key(7), (200, 3), jnp.float32)
    found = kernels.bandwidth(x, jnp.ones(200, bool))
    assert found.dtype == jnp.float32
    assert float(found) == pytest.approx(defined_bandwidth(x), rel=1e-5)
