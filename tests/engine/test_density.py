"""Any JAX log density, without mechanics."""

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
    with pytest.raises(steinmetz.InputError, match="a vector; got shape"):
        steinmetz.sample(banana, [[0.0, 0.0]])
