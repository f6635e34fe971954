"""Stein direction and bandwidth against their definitions."""

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jaxtyping import Array

from cases import Numbers, present
from steinmetz.infer import kernels, placement

KERNELS: list[kernels.Name] = ["rbf", "imq", "bilinear"]


def kernel(name: kernels.Name, a: Array, b: Array, h: Array | float, mean: Array) -> Array:
    squared = jnp.sum((a - b) ** 2)
    if name == "imq":
        return (1 + squared / h) ** -0.5
    bilinear = (1 + (a - mean) @ (b - mean)) / a.size if name == "bilinear" else 0.0
    return jnp.exp(-squared / h) + bilinear


def naive_direction(name: kernels.Name, x: Array, slope: Array, h: Array) -> Array:
    """The double sum of the definition, its kernel slope by automatic differentiation."""
    mean = jnp.mean(x, axis=0)

    def at(row: Array) -> Array:
        terms = [
            kernel(name, y, row, h, mean) * s + jax.grad(kernel, argnums=1)(name, y, row, h, mean)
            for y, s in zip(x, slope, strict=True)
        ]
        return jnp.sum(jnp.stack(terms), axis=0) / len(x)

    return jnp.stack([at(row) for row in x])


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (17, 5)])
def test_direction_is_the_double_sum(name: kernels.Name, shape: tuple[int, ...]) -> None:
    keys = jax.random.split(jax.random.key(0), 2)
    x, slope = jax.random.normal(keys[0], shape) + 100, jax.random.normal(keys[1], shape)
    h = jnp.asarray(1.7)
    found = kernels.direction(name, x, slope, jnp.ones(len(x), bool), h)
    np.testing.assert_allclose(found, naive_direction(name, x, slope, h), atol=1e-10)


@pytest.mark.parametrize("name", KERNELS)
def test_blocks_change_nothing(name: kernels.Name, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = jax.random.split(jax.random.key(0), 2)
    x, slope = jax.random.normal(keys[0], (37, 3)), jax.random.normal(keys[1], (37, 3))
    alive, h = jnp.arange(37) != 4, jnp.asarray(0.9)
    whole = kernels.direction(name, x, slope, alive, h)
    monkeypatch.setattr(placement, "ENTRIES", 37 * 8)
    np.testing.assert_allclose(
        kernels.direction(name, x, slope, alive, h), whole, rtol=1e-12, atol=1e-14
    )


def test_many_particles_never_make_a_particles_by_particles_array() -> None:
    """At 12 000 particles one would take 1.15 GB, and one by the dimension eight times that."""
    count, size = 12_000, 8
    shapes = (jax.ShapeDtypeStruct((count, size), float), jax.ShapeDtypeStruct((count,), bool))

    def step(x: Array, alive: Array) -> Array:
        return kernels.direction("rbf", x, -x, alive, kernels.bandwidth(x, alive))

    needed = present(jax.jit(step).lower(*shapes).compile().memory_analysis())
    assert needed.temp_size_in_bytes < 250e6


@pytest.mark.parametrize("name", KERNELS)
def test_dead_particles_neither_push_nor_count(name: kernels.Name) -> None:
    keys = jax.random.split(jax.random.key(1), 2)
    x, slope = jax.random.normal(keys[0], (12, 3)), jax.random.normal(keys[1], (12, 3))
    slope = slope.at[10].set(jnp.nan)
    alive = jnp.arange(12) < 9
    h = kernels.bandwidth(x, alive)
    found = kernels.direction(name, x, slope, alive, h)
    np.testing.assert_array_equal(found[9:], 0.0)
    np.testing.assert_allclose(found[:9], naive_direction(name, x[:9], slope[:9], h), atol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_stein_identity_on_exact_draws(name: kernels.Name) -> None:
    """E_p[φ] = 0: at every point the direction of exact draws is within its standard error of zero.

    The error is that of a mean over draws of k s + ∇k, estimated from the same draws; its square
    over points and coordinates has mean 1 where the identity holds.
    """
    count, h = 6000, 2.0
    x = jax.random.normal(jax.random.key(2), (count, 2)) @ jnp.array([[1.0, 0.5], [0.0, 0.8]])
    precision = jnp.linalg.inv(
        jnp.array([[1.0, 0.5], [0.0, 0.8]]).T @ jnp.array([[1.0, 0.5], [0.0, 0.8]])
    )
    slope = -x @ precision
    found = np.asarray(kernels.direction(name, x, slope, jnp.ones(count, bool), jnp.asarray(h)))[
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
    )(x, slope, x[:40])
    error = np.asarray(term).std(axis=1) / np.sqrt(count)
    assert (
        np.mean((found / error) ** 2) < 6
    )  # points share their draws, so this has few degrees of freedom
    wrong = np.asarray(kernels.direction(name, x, -slope, jnp.ones(count, bool), jnp.asarray(h)))[
        :40
    ]
    assert np.mean((wrong / error) ** 2) > 100  # the test sees a wrong sign


def pairwise(x: Array) -> Numbers:
    """‖x_i − x_j‖² one by one."""
    return np.asarray(np.sum((np.asarray(x)[:, None] - np.asarray(x)[None]) ** 2, axis=-1))


def defined_bandwidth(x: Array) -> float:
    pairs = np.sort(pairwise(x)[np.triu_indices(len(x), 1)])
    return float(pairs[(len(pairs) - 1) // 2] / np.log(len(x)))


def clouds() -> dict[str, Array]:
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
def test_bandwidth_is_the_median_of_pairs(name: kernels.Name) -> None:
    x = clouds()[name]
    found = float(kernels.bandwidth(x, jnp.ones(len(x), bool)))
    assert found == pytest.approx(defined_bandwidth(x), rel=1e-6)


def test_dead_particles_do_not_count() -> None:
    x = jax.random.normal(jax.random.key(1), (40, 3)).at[::7].set(1e8)
    alive = jnp.arange(40) % 7 != 0
    assert float(kernels.bandwidth(x, alive)) == pytest.approx(
        defined_bandwidth(x[alive]), rel=1e-6
    )


@pytest.mark.parametrize("where", [0.0, 0.1, 1e5 / 3])
def test_coincident_particles_have_a_bandwidth_of_one(where: float) -> None:
    assert float(kernels.bandwidth(jnp.full((6, 3), where), jnp.ones(6, bool))) == 1.0


def test_one_living_particle_and_none_have_a_bandwidth_of_one() -> None:
    x = jax.random.normal(jax.random.key(2), (5, 2))
    assert float(kernels.bandwidth(x, jnp.arange(5) == 3)) == 1.0
    assert float(kernels.bandwidth(x, jnp.zeros(5, bool))) == 1.0


def test_many_particles_are_thinned() -> None:
    x = jax.random.normal(jax.random.key(3), (2100, 2))
    found = float(kernels.bandwidth(x, jnp.ones(2100, bool)))
    assert found == pytest.approx(defined_bandwidth(x[::2]) * np.log(1050) / np.log(2100), rel=1e-6)


def test_direction_is_that_of_blackjax() -> None:
    """A plain step of length one is the direction."""
    x = jax.random.normal(jax.random.key(5), (30, 7))
    h = float(kernels.bandwidth(x, jnp.ones(30, bool)))

    def slope(p: Array) -> Array:
        return -p / jnp.linspace(0.1, 1, 7)

    theirs = blackjax.svgd(slope, optax.sgd(1.0))
    expected = theirs.step(theirs.init(x, {"length_scale": h})).particles - x
    found = kernels.direction("rbf", x, jax.vmap(slope)(x), jnp.ones(30, bool), jnp.asarray(h))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_single_precision_ends_too() -> None:
    x = jax.random.normal(jax.random.key(7), (200, 3), jnp.float32)
    found = kernels.bandwidth(x, jnp.ones(200, bool))
    assert found.dtype == jnp.float32
    assert float(found) == pytest.approx(defined_bandwidth(x), rel=1e-5)
