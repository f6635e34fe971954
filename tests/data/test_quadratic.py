"""The compressed residuals equal the written-out sum."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.data import quadratic
from steinmetz.records import Observations


@pytest.mark.parametrize("components", [6, 2])
def test_misfit_equals_the_sum_over_cells(observations: Observations, components: int) -> None:
    keys = jax.random.split(jax.random.key(0), 3)
    data = observations._replace(
        operator=observations.operator[:, :components],
        values=observations.values[:, :components],
        observed=jax.random.bernoulli(keys[0], 0.6, (80, components)),
    )
    deviation = jax.random.uniform(keys[1], (80, components), minval=0.1)
    slopes = jax.random.normal(keys[2], (80, 3))
    residual = (jnp.einsum("nci,ni->nc", data.operator, slopes) - data.values) / deviation
    expected = float(jnp.sum(jnp.where(data.observed, residual, 0.0) ** 2))
    found = float(quadratic.misfit(quadratic.compress(data, deviation), slopes))
    assert found == pytest.approx(expected, rel=1e-12)


def test_masked_values_change_nothing(observations: Observations) -> None:
    masked = observations.observed.at[:, 0].set(False)
    deviation = jnp.ones_like(observations.values)
    first = quadratic.compress(observations._replace(observed=masked), deviation)
    other = observations.values.at[:, 0].set(1e6)
    second = quadratic.compress(observations._replace(observed=masked, values=other), deviation)
    np.testing.assert_allclose(first.target, second.target)
