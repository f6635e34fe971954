"""Hard-concrete gates against their definition."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.data import noise
from steinmetz.data.quadratic import compress
from steinmetz.potentials import icnn
from steinmetz.sparsify import gates


@pytest.mark.parametrize("log_alpha", [-3.0, -0.5, 0.0, 1.5])
def test_expected_open_is_the_probability_of_an_open_gate(log_alpha):
    draws = jax.random.uniform(jax.random.key(0), (100_000,))
    share = float(jnp.mean(gates.gate(draws, jnp.full(100_000, log_alpha)) > 0))
    expected = float(gates.expected_open(jnp.array([log_alpha])))
    assert share == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 100_000))


def settled_gates_reach_both_ends_and_open_means_positive():
    log_alpha = jnp.linspace(-6, 6, 401)
    z = gates.settled_gate(log_alpha)
    assert z[0] == 0
    assert z[-1] == 1
    np.testing.assert_array_equal(np.asarray(z > 0), np.asarray(log_alpha > gates.OPEN))


def test_training_closes_gates_and_keeps_signs(physics, observations):
    potential = icnn.build(icnn.Config(widths=(8, 8)), physics.inputs, physics.conditions)
    quadratic = compress(observations, noise.deviation(observations, observations.values, 0.02))
    config = gates.Config(restarts=3, steps=600)
    marks = []
    trained = gates.train(
        jax.random.key(0), potential, physics.reference, quadratic, observations.cells, config,
        lambda stage, done, total, **facts: marks.append(done),
    )  # fmt: skip
    assert trained.finite.all()
    assert (trained.active[-1] < trained.active[0]).all()
    assert (np.asarray(trained.theta)[:, np.asarray(potential.nonnegative)] >= 0).all()
    assert marks == list(trained.steps)
    assert marks[-1] == 600


def test_same_key_same_network(physics, observations):
    potential = icnn.build(icnn.Config(widths=(4, 4)), physics.inputs, physics.conditions)
    quadratic = compress(observations, noise.deviation(observations, observations.values, 0.02))
    first, second = (
        gates.train(
            jax.random.key(5), potential, physics.reference, quadratic, observations.cells,
            gates.Config(restarts=2, steps=40),
        ).theta
        for _ in range(2)
    )  # fmt: skip
    np.testing.assert_array_equal(first, second)
