"""Layered networks: gradients, graph and narrowing are those of the energy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz import InputError
from steinmetz.potentials import layered, mixed, mlp
from steinmetz.records import Conditions

KINDS = {
    "passthrough": {"direct": True, "convex": True, "increasing": ("a", "b")},
    "tied": {"tied": True, "convex": True},
    "plain": {},
    "mixed": {"direct": True, "skip": True, "choices": ("square", "softplus", "identity")},
}


@pytest.fixture(params=KINDS)
def network(request):
    return layered.build(("a", "b", "c"), (4, 5, 3), **KINDS[request.param])


@pytest.fixture
def x():
    return jax.random.normal(jax.random.key(1), (7, 3))


def test_gradients_and_graph_are_those_of_the_energy(network, x):
    theta = network.initial(jax.random.key(0))
    expected = jax.jit(jax.vmap(jax.grad(network.energy, argnums=1), (None, 0)))(theta, x)
    np.testing.assert_allclose(network.gradients(theta, x), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        network.graph().gradients(theta, x), expected, rtol=1e-10, atol=1e-12
    )


def test_gradients_can_be_differentiated(network, x):
    """Training needs the slope of the gradients in θ."""
    theta = network.initial(jax.random.key(0))
    push = jax.random.normal(jax.random.key(2), theta.shape)
    slope = jax.jvp(lambda t: network.gradients(t, x), (theta,), (push,))[1]
    step = 1e-6
    shifted = (
        network.gradients(theta + step * push, x) - network.gradients(theta - step * push, x)
    ) / (2 * step)
    np.testing.assert_allclose(slope, shifted, rtol=1e-5, atol=1e-6)


def test_narrow_network_is_the_wide_one_with_other_units_cut_off(network, x):
    if network.tied:
        pytest.skip("tied networks are not narrowed")
    widths, kept = (2, 3, 1), [np.array([0, 2]), np.array([1, 3, 4]), np.array([2])]
    index, small = network.narrowed(widths, kept), network.narrow(widths)
    theta = network.initial(jax.random.key(0))
    left = jnp.zeros(network.size).at[index].set(theta[index])
    assert small.nonnegative == tuple(np.asarray(network.nonnegative)[index])
    np.testing.assert_allclose(
        small.gradients(theta[index], x), network.gradients(left, x), atol=1e-14
    )
    living = network.living(np.asarray(left) != 0)
    assert [list(np.flatnonzero(row)) for row in living] == [list(units) for units in kept]


def test_restarts_begin_with_different_activations():
    network = layered.build(("a", "b"), (3,), ("square", "softplus"), direct=True, skip=True)
    closed = [network.closed(restart)[-8:] for restart in range(3)]
    assert [list(np.flatnonzero(row)) for row in closed] == [[5, 6, 7], [2, 3, 4], []]
    assert not layered.build(("a", "b"), (3, 3)).closed(5).any()


def test_paper_network_has_148_weights():
    free = Conditions(convex=False, increasing=(), stress_free=False)
    assert mlp.build(mlp.Config(), ("e1", "e2", "e6", "c"), free).size == 148


@pytest.mark.parametrize("module", [mlp, mixed])
def test_networks_with_free_signs_are_refused_where_convexity_is_demanded(module):
    with pytest.raises(InputError, match="use 'icnn'"):
        module.build(module.Config(), ("I1", "I2", "J"), Conditions(True, ("I1",), True))


def test_unknown_activation_is_refused():
    with pytest.raises(ValueError, match="different ones of softplus, square, identity"):
        mixed.Config(activations=("cube",))
