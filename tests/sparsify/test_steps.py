"""Compiled steps of training."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from cases import REFERENCE, convex_network, weighted
from steinmetz.records import Observations
from steinmetz.sparsify import l0, steps


def test_several_gate_draws_average_the_noise_of_a_step(observations: Observations) -> None:
    """The loss of a step has the same mean, and with sixteen draws a sixteenth of the variance."""
    network, data = convex_network((4, 4)), jax.tree.map(lambda a: a[None], weighted(observations))
    closed, losses = jnp.asarray(network.closed(0))[None], {}
    for draws in (1, 16):
        penalty = l0.build(l0.Config(draws=draws))
        shared = steps.Shared(penalty, REFERENCE, data, jnp.array([480.0]))
        keys = jax.random.split(jax.random.key(0), (1, 3))
        begun = steps.start(network, penalty, jnp.dtype("float64"), keys, closed)
        block = steps.Block(*begun, jnp.zeros(1, int), jnp.ones(1))
        state = jax.tree.map(lambda a: a[0], block)

        def one(step: Array, shared: steps.Shared = shared, state: steps.Block = state) -> Array:
            return steps.fit(network, shared, state, step)

        losses[draws] = np.asarray(jax.jit(jax.vmap(one))(jnp.arange(300)))
    spread = np.sqrt(losses[1].var() / 300 + losses[16].var() / 300)
    assert abs(losses[1].mean() - losses[16].mean()) < 5 * spread
    assert 8 < losses[1].var() / losses[16].var() < 32
