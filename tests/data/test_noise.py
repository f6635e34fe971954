"""Noise draws and deviations."""

import jax
import jax.numpy as jnp
import numpy as np
import pydantic
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


def test_noise_is_a_number_or_estimated() -> None:
    config = noise.Config(relative="estimated", absolute=0.2)
    assert config.estimated
    assert np.isnan(config.numbers[0])
    assert config.numbers[1] == 0.2
    assert config.drawn == (0.1, 0.2)
    assert noise.Config(relative=0.05, drawn_relative=0.2).drawn == (0.2, 0.0)
    assert noise.Config(relative=0.05).numbers == noise.Config(relative=0.05).drawn


def test_a_factor_of_noise_that_is_estimated_is_refused() -> None:
    for settings in ({"relative": "estimated"}, {"tails": "student"}):
        with pytest.raises(pydantic.ValidationError, match=r"noise\.unknown = true samples"):
            noise.Config.model_validate({"unknown": True, **settings})


def test_only_cells_that_are_not_stated_are_filled(observations: Observations) -> None:
    assert noise.filled(observations, noise.Level(0.02, 0.3, 0.4)) is observations
    unknown = observations.relative.at[0, 0].set(jnp.nan)
    found = noise.filled(observations._replace(relative=unknown), noise.Level(0.02, 0.3, 0.4))
    assert float(found.relative[0, 0]) == 0.3
    np.testing.assert_array_equal(found.relative[1:], observations.relative[1:])
    np.testing.assert_array_equal(found.absolute, observations.absolute)
