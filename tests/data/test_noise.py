"""Noise draws and deviations."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.data import noise
from steinmetz.records import Observations


def test_multiplicative_noise_has_mean_one_and_its_deviation() -> None:
    clean = jnp.full((40000,), -3.0)
    noisy = np.asarray(noise.draw(jax.random.key(0), clean, jnp.asarray(0.1), jnp.asarray(0.0)))
    assert noisy.mean() == pytest.approx(-3, abs=4 * 0.3 / 200)
    assert noisy.std() == pytest.approx(0.3, rel=4 / np.sqrt(2 * 40000))


def test_additive_noise_is_independent_of_size() -> None:
    noisy = np.asarray(
        noise.draw(jax.random.key(0), jnp.zeros(40000), jnp.asarray(0.1), jnp.asarray(0.2))
    )
    assert noisy.std() == pytest.approx(0.2, rel=4 / np.sqrt(2 * 40000))


def test_deviation_adds_variances(observations: Observations) -> None:
    prediction = jnp.ones_like(observations.values)
    data = observations._replace(absolute=jnp.full_like(prediction, 0.3))
    found = noise.deviation(data, prediction, 0.02)
    expected = np.sqrt(0.3**2 + 0.1**2 + (0.02 * data.scale) ** 2)
    np.testing.assert_allclose(found, expected)
