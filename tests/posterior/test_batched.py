"""Values and slopes of many particles at once, against automatic differentiation particle by particle."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from steinmetz.physics import observe

from steinmetz.data import noise
from steinmetz.data.quadratic import compress
from steinmetz.engine.sample import target_of
from steinmetz.posterior import batched, density
from steinmetz.potentials import icnn, layered, mlp
from steinmetz.potentials.graph import UNIT, Edge, Graph
from steinmetz.records import Conditions

FREE = Conditions(convex=False, increasing=(), stress_free=False)
INPUTS = ("I1", "I2", "J")


def potentials(physics):
    """Every kind of network and of graph that has levels."""
    mixed = (
        Edge(3, 0, 0), Edge(3, 2, 1), Edge(4, 1, UNIT), Edge(4, 2, 2), Edge(5, 3, 3), Edge(5, 4, 1), Edge(5, 0, 4),
        Edge(6, 1, 5), Edge(6, 5, 6), Edge(6, 4, 0),
    )  # fmt: skip
    signs = (True, False, False, True, False, False, True)
    return {
        "tied": icnn.build(
            icnn.Config(form="tied", widths=(5, 4)), physics.inputs, physics.conditions
        ),
        "passthrough": icnn.build(icnn.Config(widths=(5, 4)), physics.inputs, physics.conditions),
        "mlp": mlp.build(mlp.Config(widths=(4, 6, 3)), INPUTS, FREE),
        "direct": mlp.build(mlp.Config(widths=(4, 3), direct=True), INPUTS, FREE),
        "mixed": mixed.build(
            mixed.Config(widths=(3, 2), activations=("square", "softplus", "identity")),
            INPUTS,
            FREE,
        ),
        "one layer": layered.build(INPUTS, (3,)),
        "graph": Graph(
            inputs=INPUTS,
            activations=("softplus", "square", "softplus"),
            edges=mixed,
            nonnegative=signs,
        ),
        "linear": Graph(
            inputs=INPUTS,
            activations=(),
            edges=(Edge(3, 0, 0), Edge(3, 1, 1)),
            nonnegative=(True, False),
        ),
    }


NAMES = ("tied", "passthrough", "mlp", "direct", "mixed", "one layer", "graph", "linear")


@pytest.fixture(scope="module")
def few(physics):
    """A dozen noisy tensors of the Gent law."""
    return observe.synthetic(
        jax.random.key(3), physics, observe.law(physics, "gent"), 12, 0.2, noise.Config()
    )


def posterior_of(potential, physics, few, temperature=1.0, unknown_noise=False):
    bijector = density.Bijector(
        jnp.asarray(potential.nonnegative), jnp.linspace(0.5, 2.0, potential.size)
    )
    quadratic = compress(few, noise.deviation(few, few.values, 0.02))
    prior = jnp.linspace(3.0, 7.0, potential.size)
    return density.Posterior(
        potential,
        physics.reference,
        quadratic,
        bijector,
        prior,
        few.cells,
        temperature,
        unknown_noise,
    )


def agree(found, expected):
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-10)
    size = np.abs(np.asarray(expected[1])).max(axis=1, keepdims=True)
    np.testing.assert_allclose(found[1] / size, expected[1] / size, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("temperature", "unknown_noise"), [(1.0, False), (72.0, True)])
def test_values_and_slopes_are_those_of_automatic_differentiation(
    name, temperature, unknown_noise, physics, few
):
    posterior = posterior_of(potentials(physics)[name], physics, few, temperature, unknown_noise)
    particles = 0.3 * jax.random.normal(jax.random.key(0), (6, posterior.dimension))
    expected = jax.jit(jax.vmap(jax.value_and_grad(lambda u: posterior.log_density(u))))(particles)
    agree(jax.jit(target_of(posterior).scores)(jax.random.key(0), particles), expected)


@pytest.mark.parametrize("name", ["tied", "mixed"])
def test_a_batch_of_data_is_the_same_estimate(name, physics, few):
    posterior = posterior_of(potentials(physics)[name], physics, few)
    particles = 0.3 * jax.random.normal(jax.random.key(0), (5, posterior.dimension))
    key = jax.random.key(4)
    index = jax.random.choice(key, 12, (7,), replace=False)
    expected = jax.jit(jax.vmap(jax.value_and_grad(lambda u: posterior.estimate(u, index))))(
        particles
    )
    agree(target_of(posterior, batch=7).values_and_slopes(key, particles), expected)


def test_blocks_of_particles_do_not_change_a_digit_that_matters(physics, few, monkeypatch):
    posterior = posterior_of(potentials(physics)["tied"], physics, few)
    particles = 0.3 * jax.random.normal(jax.random.key(0), (11, posterior.dimension))
    whole = batched.scores_of(posterior)(particles, posterior.quadratic, 1.0)
    monkeypatch.setattr(batched, "_BLOCK", 4 * 9 * 13)
    agree(batched.scores_of(posterior)(particles, posterior.quadratic, 1.0), whole)


def test_a_particle_that_is_not_finite_stays_alone(physics, few):
    posterior = posterior_of(potentials(physics)["tied"], physics, few)
    particles = 0.3 * jax.random.normal(jax.random.key(0), (4, posterior.dimension))
    bad = particles.at[2, 0].set(jnp.nan)
    value, slope = batched.scores_of(posterior)(bad, posterior.quadratic, 1.0)
    expected = batched.scores_of(posterior)(particles, posterior.quadratic, 1.0)
    kept = np.array([0, 1, 3])
    assert not np.isfinite(value[2])
    agree((value[kept], slope[kept]), (expected[0][kept], expected[1][kept]))
