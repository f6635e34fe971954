"""Predictive draws: stated noise, draws of what was estimated, and heavy tails."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from steinmetz.data.noise import Draws
from steinmetz.predict.push_forward import predictive

PUSHED = np.full((4000, 1, 2), 2.0)


def drawn(draws: Draws, relative: float, absolute: float, discrepancy: float = 0.0) -> np.ndarray:
    deviations = jnp.full((1, 2), relative), jnp.full((1, 2), absolute)
    found = predictive(jax.random.key(0), PUSHED, deviations, discrepancy, draws)
    return np.asarray(found - PUSHED)


def test_stated_noise_and_discrepancy_add_in_squares() -> None:
    found = drawn(Draws(np.full(4000, 3.0)), 0.1, 0.3, 0.4)
    assert found.std() == pytest.approx(3 * np.sqrt(0.2**2 + 0.3**2 + 0.4**2), rel=0.05)


def test_every_draw_has_its_own_noise_where_that_was_estimated() -> None:
    sizes = np.where(np.arange(4000) < 2000, 0.05, 0.5)
    found = drawn(Draws(np.ones(4000), relative=sizes), float("nan"), 0.0)
    assert found[:2000].std() == pytest.approx(0.1, rel=0.05)
    assert found[2000:].std() == pytest.approx(1.0, rel=0.05)
    found = drawn(Draws(np.ones(4000), absolute=sizes), 0.0, float("nan"))
    assert found[2000:].std() == pytest.approx(0.5, rel=0.05)
    stated = drawn(Draws(np.ones(4000), relative=sizes), 0.1, 0.0)
    assert stated.std() == pytest.approx(0.2, rel=0.05)


def test_tails_are_those_of_student() -> None:
    found = drawn(Draws(np.ones(4000), tails=True), 0.0, 0.5)
    assert stats.kstest(found.ravel() / 0.5, stats.t(4).cdf).pvalue > 0.01
