"""HMC and NUTS: moments within Monte-Carlo error, adaptation, divergences."""

from types import ModuleType
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.infer import hmc, nuts

from .targets import COVARIANCE, MEAN, gaussian, sample


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        (nuts, {"steps": 500}),
        (hmc, {"steps": 4000, "thin": 4, "leapfrogs": 4}),
        (nuts, {"metric": "dense", "steps": 300}),
    ],
    ids=["nuts", "hmc", "nuts-dense"],
)
def test_mean_and_covariance(method: ModuleType, settings: dict[str, Any]) -> None:
    found = sample(method, gaussian, 2, chains=4, **settings)
    assert found.draws.shape == (settings["steps"] // settings.get("thin", 1), 4, 2)
    draws = found.usable.reshape(-1, 2)
    np.testing.assert_allclose(draws.mean(axis=0), MEAN, atol=0.2)
    np.testing.assert_allclose(np.cov(draws.T), COVARIANCE, rtol=0.2)
    assert found.facts["divergent"].sum() == 0


def test_a_fixed_step_without_warm_up() -> None:
    found = sample(hmc, gaussian, 2, chains=2, warm_up=0, step=0.4, steps=2000, thin=2, leapfrogs=5)
    np.testing.assert_allclose(found.usable.reshape(-1, 2).mean(axis=0), MEAN, atol=0.3)


def test_the_paper_has_one_chain_of_a_hundred_thousand_steps() -> None:
    config = hmc.Config(**hmc.PRESETS["paper"])
    assert (config.chains, config.steps, config.steps // config.thin) == (1, 100_000, 1000)
    default = hmc.Config()
    assert default.chains * default.steps == 100_000


def test_too_large_a_step_is_counted_as_divergence() -> None:
    found = sample(
        nuts, lambda x: -jnp.sum(x**4) * 1e4, 2, chains=3, warm_up=0, step=5.0, steps=20, spread=0.1
    )
    assert found.facts["divergent"].sum() > 0
    assert np.isfinite(found.usable).all()
