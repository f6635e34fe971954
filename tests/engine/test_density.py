"""Any JAX log density, without mechanics."""

from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

import steinmetz
from cases import present


def banana(x: Array) -> Array:
    """x₀ ~ N(0, 1), x₁ | x₀ ~ N(x₀², 0.5²): mean (0, 1), variances 1 and 2.25."""
    return -0.5 * x[0] ** 2 - 0.5 * ((x[1] - x[0] ** 2) / 0.5) ** 2


def test_a_banana_from_afar() -> None:
    found = steinmetz.sample(banana, [3.0, -4.0], steps=3000)
    assert found.method == "ssvn"
    assert "2 parameters" in found.reason
    np.testing.assert_allclose(found.draws.mean(axis=0), [0, 1], atol=0.2)
    np.testing.assert_allclose(found.draws.std(axis=0), [1, 1.5], rtol=0.15)
    assert present(found.diagnostics.r_hat) < 1.1
    assert f"{len(found.draws)} draws × 2 parameters by ssvn" in repr(found)


def test_settings_and_starts_are_checked() -> None:
    with pytest.raises(steinmetz.InputError, match=r"no sampler 'nut'.*did you mean 'nuts'"):
        steinmetz.sample(banana, [0.0, 0.0], method="nut")
    with pytest.raises(steinmetz.InputError, match="particles: input should be greater"):
        steinmetz.sample(banana, [0.0, 0.0], particles=0)
    with pytest.raises(steinmetz.InputError, match=r"^infer.warm_up: ssvn needs at least 20"):
        steinmetz.sample(banana, [0.0, 0.0], warm_up=3)
    with pytest.raises(steinmetz.InputError, match="not finite at the start"):
        steinmetz.sample(lambda x: jnp.log(x[0]), [-1.0])
    with pytest.raises(steinmetz.InputError, match="several of them as rows; got shape"):
        steinmetz.sample(banana, [[[0.0, 0.0]]])


def mixture(x: Array, away: float = 8) -> Array:
    """30 : 70 of two normal densities, apart in every one of the coordinates."""
    return jnp.logaddexp(
        jnp.log(0.3) - 0.5 * jnp.sum((x - away) ** 2), jnp.log(0.7) - 0.5 * jnp.sum((x + away) ** 2)
    )


@pytest.mark.parametrize(("dimension", "away"), [(1, 8), (10, 3)])
def test_two_separated_modes_are_sampled_in_proportion(dimension: int, away: float) -> None:
    found = steinmetz.sample(partial(mixture, away=away), jnp.full(dimension, 2.0))
    assert np.mean(found.draws[:, 0] > 0) == pytest.approx(0.3, abs=0.05)
    assert all(check.passed for check in found.checks if check.name in ("mode", "modes", "R-hat"))
    assert found.inference.exchanges > 100


def test_chains_that_cannot_change_between_modes_are_flagged() -> None:
    found = steinmetz.sample(mixture, [7.0], "nuts", warm_up=100, steps=200)
    assert len(found.inference.modes) == 2
    assert "modes" in {check.name for check in found.checks if not check.passed}


def test_a_density_with_an_edge_works_or_is_refused_in_words() -> None:
    """Gamma(2) has its mode inside; an exponential rises up to its edge; a box is flat."""
    inside = steinmetz.sample(
        lambda x: jnp.where(x[0] > 0, jnp.log(jnp.abs(x[0])) - x[0], -jnp.inf), [0.5]
    )
    assert not inside.inference.frozen
    assert inside.draws.min() > 0
    assert inside.draws.mean() == pytest.approx(2.0, abs=0.2)
    with pytest.raises(steinmetz.InputError, match=r"still rises by .* logarithm"):
        steinmetz.sample(lambda x: jnp.where(x[0] > 0, -x[0], -jnp.inf), [0.3])
    box = steinmetz.sample(lambda x: jnp.where(jnp.all(jnp.abs(x) < 1), 0.0, -jnp.inf), [0.1, 0.2])
    np.testing.assert_allclose(box.draws.std(axis=0), 3**-0.5, rtol=0.1)


def test_directions_of_very_different_width_mix_alike() -> None:
    width = jnp.asarray(np.geomspace(0.1, 10, 60))
    found = steinmetz.sample(lambda x: -0.5 * jnp.sum((x / width) ** 2), jnp.ones(60))
    np.testing.assert_allclose(found.draws.std(axis=0) / width, 1, atol=0.15)
    assert present(found.diagnostics.r_hat) < 1.02
    assert present(found.diagnostics.bulk) > 1000
