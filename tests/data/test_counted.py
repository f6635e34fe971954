"""Random numbers of a part are those of the whole, as jax.random gives them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.data import counted, noise, student


@pytest.mark.parametrize("first", [0, 1, 36, 10_000])
def test_a_part_has_the_numbers_of_the_whole(first: int) -> None:
    key, shape = jax.random.key(5), (7, 3)
    parts = slice(first, first + 21)
    for ours, theirs in (
        (counted.normal, jax.random.normal),
        (counted.exponential, jax.random.exponential),
    ):
        whole = np.asarray(theirs(key, (11_000,)))
        np.testing.assert_array_equal(np.asarray(ours(key, first, shape)).ravel(), whole[parts])


def test_places_beyond_32_bits_have_numbers_of_their_own() -> None:
    key, far = jax.random.key(5), 2**32
    near, beyond = counted.normal(key, 0, (1000,)), counted.normal(key, far, (1000,))
    assert not np.any(near == beyond)
    assert abs(float(jnp.mean(beyond))) < 0.15


def test_noise_of_a_part_is_that_of_the_whole() -> None:
    clean = jnp.asarray(np.random.default_rng(0).standard_normal((40, 5)))
    relative, absolute = jnp.asarray(0.1), jnp.asarray(0.3)
    whole = noise.draw(jax.random.key(1), clean, relative, absolute)
    part = noise.draw(jax.random.key(1), clean[10:20], relative, absolute, 50)
    np.testing.assert_allclose(part, whole[10:20], rtol=1e-12)
    wide = student.factors(jax.random.key(2), (40, 5))
    some = student.factors(jax.random.key(2), (10, 5), 50, 200)
    np.testing.assert_allclose(some, wide[10:20], rtol=1e-12)
    old = jax.random.exponential(jax.random.key(2), (2, 40, 5)).sum(axis=0)
    np.testing.assert_allclose(wide, jnp.sqrt(student.DEGREES / (2 * old)), rtol=1e-12)
