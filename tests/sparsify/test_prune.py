"""Pruning is exact."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from cases import REFERENCE, Form, convex_network, graph, near_reference
from steinmetz.potentials.base import slopes
from steinmetz.potentials.graph import UNIT, Edge, Graph
from steinmetz.potentials.law import Law
from steinmetz.sparsify.prune import fold_mirrors, prune

X = jnp.array([[3.3, 2.8, 0.9], [2.9, 3.4, 1.2], [3.1, 3.0, 1.05]])


def unchanged(given: Graph, theta: Array) -> Law:
    """The pruned law, after checking that it is the same law."""
    law, before = prune(given, theta, REFERENCE), Law(given, theta, REFERENCE)
    np.testing.assert_allclose(law.slopes(X), before.slopes(X), atol=1e-12)
    np.testing.assert_allclose(law.energy(X), before.energy(X), atol=1e-12)
    return law


@pytest.mark.parametrize("form", ["passthrough", "tied"])
def test_whole_network_with_few_gates_open(form: Form) -> None:
    """A thousand weights, of which one in fifty is open."""
    network, x = convex_network((30, 30), form), near_reference(20)
    first, second = jax.random.split(jax.random.key(0))
    theta = network.initial(first) * jax.random.bernoulli(second, 0.02, (network.size,))
    law = prune(network.graph(), theta, REFERENCE)
    expected = jax.jit(lambda rows: slopes(network, REFERENCE, theta, rows))(x)
    np.testing.assert_allclose(law.slopes(x), expected, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize(
    ("edges", "units", "left"),
    [
        ((Edge(3, 0, 0), Edge(4, 1, 1)), 1, 1),  # a unit with no way to the output
        ((Edge(4, 3, 0), Edge(4, 1, 1)), 1, 1),  # a unit without input only adds a constant
        ((Edge(4, 3, 0), Edge(5, 4, 1), Edge(5, 0, 2)), 2, 1),  # a constant of a constant
        ((Edge(3, 2, 0), Edge(3, 1, 1)), 0, 1),  # a term linear in J is cancelled
        ((Edge(4, 3, 0), Edge(4, 1, 1), Edge(5, 4, 2)), 2, 3),  # a constant in a unit is a bias
    ],
)
def test_dead_parts_go_and_nothing_else(edges: tuple[Edge, ...], units: int, left: int) -> None:
    theta = jnp.array([0.7, 1.3, 0.4])[: max(edge.parameter for edge in edges) + 1]
    assert unchanged(graph(edges, ("softplus",) * units), theta).graph.size == left


def test_constants_of_one_unit_become_one_bias() -> None:
    """Two units without input and a constant of a constant feed unit 6: one bias is left."""
    edges = (
        Edge(5, 4, 0),
        Edge(6, 3, 1),
        Edge(6, 4, 2),
        Edge(6, 5, 3),
        Edge(6, 0, 4),
        Edge(7, 6, 5),
    )
    theta = jnp.array([0.7, 0.4, -1.1, 0.6, 0.3, 2.0])
    law = unchanged(graph(edges, ("softplus",) * 4), theta)
    assert law.graph.size == 3
    assert law.network.activations == ("softplus",) * 2


def test_a_square_without_input_is_nothing() -> None:
    edges = (Edge(4, 3, 0), Edge(4, 0, 1), Edge(5, 4, 2))
    law = unchanged(graph(edges, ("square", "softplus")), jnp.array([0.7, 0.3, 2.0]))
    assert law.graph.size == 2


@pytest.mark.parametrize("incoming", [1, 2])
def test_linear_chains_are_merged(incoming: int) -> None:
    """Identity units between inputs, a softplus and the output; one runs beside a direct edge."""
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
    law = unchanged(graph(tuple(edges), ("identity", "softplus", "identity")), theta)
    assert law.network.activations == ("softplus",)
    assert law.graph.size == 4 + incoming


def test_identity_with_several_edges_both_ways_stays_and_loses_its_scale() -> None:
    edges = (
        Edge(3, 0, 0), Edge(3, 1, 1), Edge(4, 3, 2), Edge(4, 2, 3),
        Edge(5, 3, 4), Edge(5, 0, 5), Edge(6, 4, 6), Edge(6, 5, 7),
    )  # fmt: skip
    theta = jnp.array([0.7, 0.4, -1.1, 0.6, 0.3, 0.2, 0.8, 0.9])
    law = unchanged(graph(edges, ("identity", "softplus", "softplus")), theta)
    assert law.graph.size == 7


def test_duplicate_units_are_merged() -> None:
    """Units 3 and 4 are equal; units 5 and 6 are squares of one another's multiple."""
    edges = (
        Edge(3, 0, 0), Edge(3, 2, 1), Edge(4, 0, 2), Edge(4, 2, 3), Edge(5, 0, 4), Edge(5, 1, 5),
        Edge(6, 0, 6), Edge(6, 1, 7), Edge(7, 3, 8), Edge(7, 4, 9), Edge(7, 5, 10), Edge(7, 6, 11),
    )  # fmt: skip
    theta = jnp.array([0.3, -1.2, 0.3, -1.2, 0.5, 0.25, -1.0, -0.5, 2.0, 3.0, 0.7, 0.1])
    law = unchanged(graph(edges, ("softplus", "softplus", "square", "square")), theta)
    assert law.network.activations == ("softplus", "square")
    assert law.graph.size == 5


def test_duplicates_of_duplicates_are_merged() -> None:
    edges = (
        Edge(3, 0, 0), Edge(4, 0, 1), Edge(5, 3, 2), Edge(6, 4, 3), Edge(7, 5, 4), Edge(7, 6, 5),
    )  # fmt: skip
    law = unchanged(graph(edges, ("softplus",) * 4), jnp.array([0.3, 0.3, 0.5, 0.5, 2.0, 3.0]))
    assert law.graph.size == 3


def test_squares_have_no_scale_and_signs_stay_provable() -> None:
    """0.7 (2 I1 + I2)² with fixed signs keeps them; a square of a square passes its scale on."""
    edges = (Edge(3, 0, 0), Edge(3, 1, 1), Edge(4, 3, 2), Edge(4, 1, 3), Edge(5, 4, 4))
    theta = jnp.array([2.0, 1.0, 0.5, 3.0, 0.7])
    law = unchanged(graph(edges, ("square", "square"), (True,) * 5), theta)
    assert law.graph.size == 3
    assert law.graph.nonnegative == (True,) * 3
    assert sum(edge.parameter == UNIT for edge in law.network.edges) == 2


def test_pruning_twice_changes_nothing() -> None:
    edges = (Edge(3, 0, 0), Edge(3, 1, 1), Edge(4, 3, 2), Edge(4, 1, 3), Edge(5, 4, 4))
    law = prune(
        graph(edges, ("square", "softplus")), jnp.array([2.0, 1.0, 0.5, 3.0, 0.7]), REFERENCE
    )
    again = prune(law.network, law.values, REFERENCE)
    assert again.graph == law.graph
    np.testing.assert_array_equal(again.values, law.values)


def test_mirror_twins_are_folded_to_one_law() -> None:
    """Unit 3 sees J alone and feeds the output, so its sign is free; 4 sees I1, and 5 feeds 6."""
    edges = (
        Edge(3, 2, 0), Edge(4, 0, 1), Edge(4, 2, 2), Edge(5, 2, 3), Edge(6, 5, 4),
        Edge(7, 3, 5), Edge(7, 4, 6), Edge(7, 6, 7),
    )  # fmt: skip
    law = Law(
        graph(edges, ("softplus",) * 4),
        jnp.array([-2.0, 0.5, -1.5, -0.7, 0.9, 3.0, 1.0, 2.0]),
        REFERENCE,
    )
    folded = fold_mirrors(law)
    assert [int(i) for i in np.flatnonzero(np.asarray(folded.values != law.values))] == [0]
    assert folded.graph.nonnegative == (True, *(False,) * 7)
    x = jnp.array([[3.3, 2.8, 0.7], [2.9, 3.4, 1.4]])
    np.testing.assert_allclose(folded.slopes(x), law.slopes(x), atol=1e-13)
    np.testing.assert_allclose(folded.energy(x), law.energy(x), atol=1e-13)
