"""Pruning is exact."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.potentials import icnn, layered
from steinmetz.potentials.base import normalised_energy, slopes
from steinmetz.potentials.graph import UNIT, Edge, Graph
from steinmetz.potentials.law import Law
from steinmetz.sparsify.prune import fold_mirrors, prune


@pytest.mark.parametrize("form", ["passthrough", "tied"])
@pytest.mark.parametrize("share", [0.02, 0.25])
def test_pruned_law_equals_the_gated_network(physics, form, share):
    potential = icnn.build(icnn.Config(form=form), physics.inputs, physics.conditions)
    x = jnp.array([3.0, 3.0, 1.0]) + jax.random.normal(jax.random.key(9), (20, 3)) * 0.2
    for seed in range(2):
        first, second = jax.random.split(jax.random.key(seed))
        theta = potential.initial(first) * jax.random.bernoulli(second, share, (potential.size,))
        law = prune(potential.graph(), theta, physics.reference)
        assert law.graph.size <= int(jnp.sum(theta != 0))
        expected = slopes(potential, physics.reference, theta, x)
        np.testing.assert_allclose(law.slopes(x), expected, atol=1e-10, rtol=1e-10)
        energies = [
            float(normalised_energy(potential, physics.reference, theta, row)) for row in x[:3]
        ]
        np.testing.assert_allclose(law.energy(x)[:3], energies, atol=1e-10)


def build(edges, units, parameters):
    return Graph(
        inputs=("I1", "I2", "J"),
        activations=("softplus",) * units,
        edges=edges,
        nonnegative=(False,) * parameters,
    )


@pytest.mark.parametrize(
    ("edges", "units", "left"),
    [
        ((Edge(3, 0, 0), Edge(4, 1, 1)), 1, 1),  # a unit with no way to the output
        ((Edge(4, 3, 0), Edge(4, 1, 1)), 1, 1),  # a unit without input only adds a constant
        ((Edge(4, 3, 0), Edge(5, 4, 1), Edge(5, 0, 2)), 2, 1),  # a constant of a constant
        (
            (Edge(3, 2, 0), Edge(3, 1, 1)),
            0,
            1,
        ),  # a term linear in J is cancelled by the normalisation
        (
            (Edge(4, 3, 0), Edge(4, 1, 1), Edge(5, 4, 2)),
            2,
            3,
        ),  # a constant inside a unit is a bias and stays
    ],
)
def test_dead_parts_go_and_nothing_else(physics, edges, units, left):
    theta = jnp.array([0.7, 1.3, 0.4])[: max(edge.parameter for edge in edges) + 1]
    graph = build(edges, units, theta.size)
    law = prune(graph, theta, physics.reference)
    assert law.graph.size == left
    x = jnp.array([[3.3, 2.8, 0.9], [2.9, 3.4, 1.2]])
    np.testing.assert_allclose(
        law.slopes(x), slopes(graph, physics.reference, theta, x), atol=1e-14
    )


X = jnp.array([[3.3, 2.8, 0.9], [2.9, 3.4, 1.2], [3.1, 3.0, 1.05]])


def mixed(edges, kinds, signs=None):
    parameters = 1 + max(edge.parameter for edge in edges)
    return Graph(
        inputs=("I1", "I2", "J"),
        activations=kinds,
        edges=edges,
        nonnegative=(False,) * parameters if signs is None else signs,
    )


def unchanged(graph, theta, physics):
    """The pruned law, after checking that it is the same law."""
    law, before = prune(graph, theta, physics.reference), Law(graph, theta, physics.reference)
    np.testing.assert_allclose(law.slopes(X), before.slopes(X), atol=1e-12)
    np.testing.assert_allclose(law.energy(X), before.energy(X), atol=1e-12)
    return law


def test_constants_of_one_unit_become_one_bias(physics):
    """Two units without input and a constant of a constant all feed unit 6: a single bias is left."""
    edges = (
        Edge(5, 4, 0),
        Edge(6, 3, 1),
        Edge(6, 4, 2),
        Edge(6, 5, 3),
        Edge(6, 0, 4),
        Edge(7, 6, 5),
    )
    theta = jnp.array([0.7, 0.4, -1.1, 0.6, 0.3, 2.0])
    law = unchanged(mixed(edges, ("softplus",) * 4), theta, physics)
    assert law.graph.size == 3
    assert law.graph.activations == ("softplus",) * 2


def test_a_square_without_input_is_nothing(physics):
    edges = (Edge(4, 3, 0), Edge(4, 0, 1), Edge(5, 4, 2))
    law = unchanged(mixed(edges, ("square", "softplus")), jnp.array([0.7, 0.3, 2.0]), physics)
    assert law.graph.size == 2


@pytest.mark.parametrize("incoming", [1, 2])
def test_linear_chains_are_merged(physics, incoming):
    """Identity units between inputs, a softplus and the output; one of them runs beside a direct edge."""
    edges = [
        Edge(3, 0, 0),
        Edge(4, 3, 1),
        Edge(4, 2, 2),
        Edge(5, 4, 3),
        Edge(5, 0, 4),
        Edge(6, 5, 5),
        Edge(6, 1, 6),
    ]
    if incoming == 2:
        edges.append(Edge(3, 1, 7))
    theta = jnp.array([0.7, 0.4, -1.1, 0.6, 0.3, 2.0, 0.8, 0.25])[: incoming + 6]
    law = unchanged(mixed(tuple(edges), ("identity", "softplus", "identity")), theta, physics)
    assert law.graph.activations == ("softplus",)
    assert law.graph.size == 4 + incoming


def test_identity_with_several_edges_both_ways_stays_and_loses_its_scale(physics):
    edges = (
        Edge(3, 0, 0), Edge(3, 1, 1), Edge(4, 3, 2), Edge(4, 2, 3), Edge(5, 3, 4), Edge(5, 0, 5), Edge(6, 4, 6),
        Edge(6, 5, 7),
    )  # fmt: skip
    theta = jnp.array([0.7, 0.4, -1.1, 0.6, 0.3, 0.2, 0.8, 0.9])
    law = unchanged(mixed(edges, ("identity", "softplus", "softplus")), theta, physics)
    assert law.graph.size == 7


def test_duplicate_units_are_merged(physics):
    """Units 3 and 4 are equal; units 5 and 6 are squares of one another's multiple."""
    edges = (
        Edge(3, 0, 0), Edge(3, 2, 1), Edge(4, 0, 2), Edge(4, 2, 3), Edge(5, 0, 4), Edge(5, 1, 5), Edge(6, 0, 6),
        Edge(6, 1, 7), Edge(7, 3, 8), Edge(7, 4, 9), Edge(7, 5, 10), Edge(7, 6, 11),
    )  # fmt: skip
    theta = jnp.array([0.3, -1.2, 0.3, -1.2, 0.5, 0.25, -1.0, -0.5, 2.0, 3.0, 0.7, 0.1])
    law = unchanged(mixed(edges, ("softplus", "softplus", "square", "square")), theta, physics)
    assert law.graph.activations == ("softplus", "square")
    assert law.graph.size == 5


def test_duplicates_of_duplicates_are_merged(physics):
    edges = (
        Edge(3, 0, 0), Edge(4, 0, 1), Edge(5, 3, 2), Edge(6, 4, 3), Edge(7, 5, 4), Edge(7, 6, 5),
    )  # fmt: skip
    law = unchanged(
        mixed(edges, ("softplus",) * 4), jnp.array([0.3, 0.3, 0.5, 0.5, 2.0, 3.0]), physics
    )
    assert law.graph.size == 3


def test_squares_have_no_scale_and_signs_stay_provable(physics):
    """0.7 (2 I1 + I2)² with fixed signs keeps them; a square of a square passes its scale on."""
    edges = (Edge(3, 0, 0), Edge(3, 1, 1), Edge(4, 3, 2), Edge(4, 1, 3), Edge(5, 4, 4))
    theta = jnp.array([2.0, 1.0, 0.5, 3.0, 0.7])
    law = unchanged(mixed(edges, ("square", "square"), (True,) * 5), theta, physics)
    assert law.graph.size == 3
    assert law.graph.nonnegative == (True,) * 3
    assert sum(edge.parameter == UNIT for edge in law.graph.edges) == 2


def test_pruning_twice_changes_nothing(physics):
    edges = (Edge(3, 0, 0), Edge(3, 1, 1), Edge(4, 3, 2), Edge(4, 1, 3), Edge(5, 4, 4))
    law = prune(
        mixed(edges, ("square", "softplus")),
        jnp.array([2.0, 1.0, 0.5, 3.0, 0.7]),
        physics.reference,
    )
    again = prune(law.graph, law.values, physics.reference)
    assert again.graph == law.graph
    np.testing.assert_array_equal(again.values, law.values)


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_mixed_network_is_pruned_exactly(physics, share):
    """Units of it share their incoming weights, which must not be merged while both are used."""
    network = layered.build(
        ("I1", "I2", "J"), (5, 4), ("square", "softplus", "identity"), direct=True, skip=True
    )
    for seed in range(2):
        first, second = jax.random.split(jax.random.key(seed))
        theta = 0.3 * network.initial(first) * jax.random.bernoulli(second, share, (network.size,))
        law = unchanged(network.graph(), theta, physics)
        assert law.graph.size <= int(jnp.sum(theta != 0))


def test_mirror_twins_are_folded_to_one_law(physics):
    """Unit 3 sees J alone and feeds the output, so its sign is free; unit 4 also sees I1 and unit 5 feeds unit 6."""
    edges = (
        Edge(3, 2, 0), Edge(4, 0, 1), Edge(4, 2, 2), Edge(5, 2, 3), Edge(6, 5, 4),
        Edge(7, 3, 5), Edge(7, 4, 6), Edge(7, 6, 7),
    )  # fmt: skip
    law = Law(
        build(edges, 4, 8),
        jnp.array([-2.0, 0.5, -1.5, -0.7, 0.9, 3.0, 1.0, 2.0]),
        physics.reference,
    )
    folded = fold_mirrors(law)
    assert [int(i) for i in np.flatnonzero(np.asarray(folded.values != law.values))] == [0]
    assert folded.graph.nonnegative == (True, *(False,) * 7)
    x = jnp.array([[3.3, 2.8, 0.7], [2.9, 3.4, 1.4]])
    np.testing.assert_allclose(folded.slopes(x), law.slopes(x), atol=1e-13)
    np.testing.assert_allclose(folded.energy(x), law.energy(x), atol=1e-13)
