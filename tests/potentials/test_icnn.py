"""The network: counts, signs, convexity, and its graph."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz import InputError
from steinmetz.potentials import icnn
from steinmetz.potentials.base import normalised_energy, slopes

FORMS = ("passthrough", "tied")


def network(physics, form, widths=(30, 30)):
    return icnn.build(icnn.Config(form=form, widths=widths), physics.inputs, physics.conditions)


def admissible_theta(potential, seed):
    theta = potential.initial(jax.random.key(seed))
    return jnp.where(jnp.asarray(potential.nonnegative), jnp.abs(theta), theta)


def test_parameter_counts(physics):
    assert network(physics, "tied").size == 1020
    assert network(physics, "passthrough").size == 90 + 900 + 90 + 30 + 3


def test_only_weights_on_j_are_free(physics):
    tied = network(physics, "tied")
    assert sum(not sign for sign in tied.nonnegative) == 30
    through = network(physics, "passthrough")
    assert sum(not sign for sign in through.nonnegative) == 30 + 30 + 1
    free = {
        edge.source for edge in through.graph().edges if not through.nonnegative[edge.parameter]
    }
    assert free == {2}


@pytest.mark.parametrize("form", FORMS)
def test_polyconvex_for_every_admissible_vector(physics, form):
    potential = network(physics, form, (8, 8))
    x = jnp.array([3.0, 3.0, 1.0]) + jax.random.uniform(
        jax.random.key(1), (40, 3), minval=-0.9, maxval=0.9
    )
    for seed in range(3):
        theta = admissible_theta(potential, seed)
        slope = jax.jit(jax.vmap(jax.grad(potential.energy, argnums=1), (None, 0)))(theta, x)
        assert (slope[:, :2] >= 0).all()
        hessian = jax.jit(jax.vmap(jax.hessian(potential.energy, argnums=1), (None, 0)))(theta, x)
        assert np.linalg.eigvalsh(np.asarray(hessian)).min() > -1e-12


@pytest.mark.parametrize("form", FORMS)
def test_graph_equals_the_network(physics, form):
    potential = network(physics, form, (6, 5))
    theta, graph = admissible_theta(potential, 0), potential.graph()
    for x in jnp.array([3.0, 3.0, 1.0]) + jax.random.normal(jax.random.key(2), (5, 3)) * 0.2:
        assert graph.energy(theta, x) == pytest.approx(float(potential.energy(theta, x)), rel=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_reference_is_free_of_energy_and_stress(physics, form):
    potential, reference = network(physics, form), physics.reference
    theta, point = admissible_theta(potential, 0), jnp.array(reference.point)
    assert abs(normalised_energy(potential, reference, theta, point)) < 1e-12
    slope = slopes(potential, reference, theta, point[None])[0]
    assert abs(jnp.array(reference.weights[0]) @ slope) < 1e-12


def test_slopes_are_those_of_the_normalised_energy(physics):
    potential, reference = network(physics, "passthrough", (5, 5)), physics.reference
    theta, x = admissible_theta(potential, 1), jnp.array([[3.2, 3.1, 1.1]])
    direct = jax.grad(lambda row: normalised_energy(potential, reference, theta, row))(x[0])
    np.testing.assert_allclose(slopes(potential, reference, theta, x)[0], direct, rtol=1e-12)


def test_tied_form_needs_room_for_the_inputs(physics):
    with pytest.raises(InputError, match="at least 3"):
        network(physics, "tied", (2, 2))
