"""Hard-concrete gates against their definition."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cases import Numbers
from steinmetz.sparsify import base, l0


@pytest.mark.parametrize("log_alpha", [-3.0, -0.5, 0.0, 1.5])
def test_expected_open_is_the_probability_of_an_open_gate(log_alpha: float) -> None:
    draws = jax.random.uniform(jax.random.key(0), (100_000,))
    share = float(jnp.mean(l0.gate(draws, jnp.full(100_000, log_alpha)) > 0))
    expected = float(l0.expected_open(jnp.array([log_alpha])))
    assert share == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 100_000))


def test_gate_is_the_printed_formula() -> None:
    u, log_alpha = (
        jax.random.uniform(jax.random.key(0), (50,)),
        jax.random.normal(jax.random.key(1), (50,)),
    )
    s = jax.nn.sigmoid((jnp.log(u) - jnp.log(1 - u) + log_alpha) / l0.BETA)
    expected = jnp.clip(s * (l0.ZETA - l0.GAMMA) + l0.GAMMA, 0, 1)
    np.testing.assert_allclose(l0.gate(u, log_alpha), expected, atol=1e-12)


def test_settled_gates_reach_both_ends_and_open_means_positive() -> None:
    log_alpha = jnp.linspace(-6, 6, 401)
    z = l0.settled_gate(log_alpha)
    assert z[0] == 0
    assert z[-1] == 1
    np.testing.assert_array_equal(np.asarray(z > 0), np.asarray(log_alpha > l0.OPEN))


def test_noise_is_uniform_and_differs_by_seed_step_and_place() -> None:
    def draw(seed: int, step: int) -> Numbers:
        return np.asarray(base.uniform(jnp.uint32(seed), jnp.asarray(step), 20_000), float)

    first, other_step, other_seed = draw(7, 3), draw(7, 4), draw(8, 3)
    assert 0 < first.min() < first.max() < 1
    # Kolmogorov's bound at 1e-6, and correlations within five standard errors
    grid = np.linspace(0, 1, 201)
    assert np.abs(np.searchsorted(np.sort(first), grid) / first.size - grid).max() < 2.7 / np.sqrt(
        first.size
    )
    for second in (other_step, other_seed, np.roll(first, 1)):
        assert abs(np.corrcoef(first, second)[0, 1]) < 5 / np.sqrt(first.size)
