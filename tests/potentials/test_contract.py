"""What every potential keeps: found by the registry, tested the moment its file exists."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import pytest
from jaxtyping import Array

from cases import CONVEX, INPUTS, REFERENCE, admissible, near_reference, potential, present
from steinmetz import InputError, registry
from steinmetz.potentials import batched
from steinmetz.potentials.base import Network, Potential, PotentialFile, normalised_energy, slopes
from steinmetz.potentials.law import Law
from steinmetz.potentials.layered import Layered
from steinmetz.sparsify.base import penalty_file
from steinmetz.sparsify.prune import prune

# (θ, points) → ∇Ψ or ∇∇Ψ at each
Gradients = Callable[[Array, Array], Array]

EVERY = registry.names("potentials")
# Those that are trained; a vocabulary of terms is not.
NAMES = [name for name in EVERY if name != "terms"]
# Every potential as it is, and settings that change its form.
FORMS: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in NAMES] + [
    ("icnn", {"form": "tied"}),
    ("mlp", {"direct": True, "widths": (3, 4, 2)}),
    ("mixed", {"activations": ("square", "softplus", "identity")}),
]


@pytest.fixture(params=FORMS, ids=str)
def network(request: pytest.FixtureRequest) -> Network:
    return potential(*request.param)


@pytest.mark.parametrize("name", EVERY)
def test_file_defines_what_a_potential_is_and_its_advice_can_be_followed(name: str) -> None:
    module = registry.load("potentials", name)
    assert isinstance(module, PotentialFile)
    assert module.Config().name == name
    for method, advice in module.TRAINING.items():
        settings = penalty_file(method).Config(**advice)
        assert {key: getattr(settings, key) for key in advice} == dict(advice)


@pytest.mark.parametrize("name", NAMES)
def test_convexity_is_kept_or_refused_in_words(name: str) -> None:
    module = registry.load("potentials", name)
    if not module.CONVEX:
        with pytest.raises(InputError, match=f"'{name}' cannot keep .* use 'icnn'"):
            potential(name, conditions=CONVEX)
        return
    for changes in (changes for other, changes in FORMS if other == name):
        network, x = potential(name, changes, CONVEX), near_reference(40, spread=0.5)
        slope, bend = _slope_and_bend(network)
        for seed in range(3):
            theta = admissible(network, seed)
            assert (slope(theta, x)[:, :2] >= 0).all()
            assert np.linalg.eigvalsh(np.asarray(bend(theta, x))).min() > -1e-12


def _slope_and_bend(network: Network) -> tuple[Gradients, Gradients]:
    """∇Ψ and ∇∇Ψ at many points."""

    def one(theta: Array, row: Array) -> Array:
        return network.gradients(theta, row[None])[0]

    return jax.jit(network.gradients), jax.jit(jax.vmap(jax.jacfwd(one, argnums=1), (None, 0)))


def test_gradients_are_those_of_the_energy_and_the_graph_is_the_network(network: Network) -> None:
    theta, x, read = admissible(network), near_reference(7), network.graph()
    expected = jax.jit(jax.vmap(jax.grad(network.energy, argnums=1), (None, 0)))(theta, x)
    for gradients in (network.gradients, read.gradients):
        np.testing.assert_allclose(jax.jit(gradients)(theta, x), expected, rtol=1e-10, atol=1e-12)
    assert read.nonnegative == network.nonnegative
    assert read.inputs == network.inputs == INPUTS
    assert {edge.parameter for edge in read.edges} == set(range(network.size))


def test_gradients_can_be_differentiated(network: Network) -> None:
    """Training needs the slope of the gradients in θ."""
    theta, x = admissible(network), near_reference(5)
    push, step = jax.random.normal(jax.random.key(2), theta.shape), 1e-6
    gradients = jax.jit(network.gradients)
    slope = jax.jit(lambda t, p: jax.jvp(lambda s: network.gradients(s, x), (t,), (p,))[1])(
        theta, push
    )
    ahead, behind = (gradients(theta + sign * step * push, x) for sign in (1, -1))
    np.testing.assert_allclose(slope, (ahead - behind) / (2 * step), rtol=1e-5, atol=1e-6)


def test_layers_give_the_gradients_of_many_networks_and_their_slopes_in_theta(
    network: Network,
) -> None:
    """For a network that has layers, and for its graph, which always has."""
    theta, x = jnp.stack([admissible(network, seed) for seed in range(3)]), near_reference(6)
    every = jax.jit(jax.vmap(lambda t: network.gradients(t, x)))
    expected, weights = every(theta), jnp.sin(every(theta))
    expected = expected, jax.jit(lambda t: jax.vjp(every, t)[1](weights)[0])(theta)

    @functools.partial(jax.jit, static_argnums=0)
    def by_layers(form: Potential, theta: Array) -> tuple[Array, Array]:
        gradients, pull = batched.gradients(present(form.stack()), theta, x.T)
        return gradients.swapaxes(1, 2), pull(weights.swapaxes(1, 2))

    for form in (form for form in (network, network.graph()) if form.stack() is not None):
        for computed, known in zip(by_layers(form, theta), expected, strict=True):
            np.testing.assert_allclose(computed, known, rtol=1e-9, atol=1e-10)


def test_reference_is_free_of_energy_and_stress(network: Network) -> None:
    theta, x = admissible(network), jnp.stack([jnp.array(REFERENCE.point), near_reference(1)[0]])
    energy = jax.jit(
        jax.value_and_grad(lambda row: normalised_energy(network, REFERENCE, theta, row))
    )
    slope = jax.jit(lambda rows: slopes(network, REFERENCE, theta, rows))(x)
    assert abs(energy(x[0])[0]) < 1e-12
    assert abs(jnp.array(REFERENCE.weights[0]) @ slope[0]) < 1e-11
    np.testing.assert_allclose(slope[1], energy(x[1])[1], rtol=1e-11)


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_pruned_law_equals_the_network_and_keeps_its_signs(network: Network, share: float) -> None:
    x, kept = near_reference(20), jax.random.bernoulli(jax.random.key(3), share, (network.size,))
    theta = 0.5 * kept * admissible(network, 5)
    law = prune(network.graph(), theta, REFERENCE)
    assert law.graph.size <= int(jnp.sum(theta != 0))
    assert (np.asarray(law.values)[np.array(law.graph.nonnegative, bool)] >= 0).all()
    whole = Law(network.graph(), theta, REFERENCE)
    np.testing.assert_allclose(law.slopes(x), whole.slopes(x), atol=1e-10, rtol=1e-10)
    np.testing.assert_allclose(law.energy(x), whole.energy(x), atol=1e-10)
    same = jax.jit(lambda rows: slopes(network, REFERENCE, theta, rows))(x)
    np.testing.assert_allclose(law.slopes(x), same, atol=1e-10, rtol=1e-10)


def test_restarts_leave_gates_open_and_start_from_other_weights(network: Network) -> None:
    closed = np.array([network.closed(restart) for restart in range(4)])
    assert closed.shape == (4, network.size)
    assert not closed.all(axis=1).any()
    first, second = (network.initial(jax.random.key(seed)) for seed in (0, 1))
    assert (first != second).all()


@pytest.mark.parametrize(("name", "changes"), FORMS, ids=str)
def test_narrow_network_is_the_wide_one_with_dead_units_cut_off(
    name: str, changes: dict[str, Any]
) -> None:
    """Two networks with a quarter of their units alive; a network that cannot be cut says None."""
    network = potential(name, {**changes, "widths": (12, 10)})
    x, everything = near_reference(5), np.ones((2, network.size), bool)
    assert network.narrowed(everything) is None
    assert isinstance(network, Layered)
    alive = np.stack([_alive(network, seed) for seed in range(2)])
    smaller = network.narrowed(alive)
    if smaller is None:
        assert changes.get("form") == "tied"
        return
    assert smaller.network.size < network.size
    wide, narrow = jax.jit(network.gradients), jax.jit(smaller.network.gradients)
    for mask, places in zip(alive, smaller.places, strict=True):
        theta = admissible(network) * mask
        assert smaller.network.nonnegative == tuple(np.asarray(network.nonnegative)[places])
        np.testing.assert_allclose(narrow(theta[places], x), wide(theta, x), atol=1e-13)


def _alive(network: Layered, seed: int) -> npt.NDArray[np.bool_]:
    """Weights between a quarter of the units of every layer, the inputs and the output."""
    random = np.random.default_rng(seed)
    graph, inputs = network.graph(), len(network.inputs)
    copies, first, lives = len(network.activations), inputs, set(range(inputs))
    for width in network.widths:
        for row in random.choice(width, width // 4, replace=False):
            lives |= {first + copy * width + int(row) for copy in range(copies)}
        first += copies * width
    mask = np.zeros(network.size, bool)
    mask[[e.parameter for e in graph.edges if {e.source, e.target} <= lives | {graph.out}]] = True
    return mask
