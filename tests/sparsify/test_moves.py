"""Moves keep what they must."""

import jax.numpy as jnp
import numpy as np
from test_refit import REFERENCE, small_law

from steinmetz.assess import certificate
from steinmetz.potentials.graph import UNIT, Edge, Graph
from steinmetz.potentials.law import Law
from steinmetz.records import Reference
from steinmetz.sparsify import moves
from steinmetz.sparsify.moves import Rules

CONVEX = Rules(frozenset({2}), False, 2, ("softplus",))
FREE = Rules(frozenset({0, 1}), True, 2, ("softplus", "square"))


def nested_law():
    edges = (Edge(3, 2, 0), Edge(4, 0, 1), Edge(4, 3, 2), Edge(5, 0, 3), Edge(5, 4, 4))
    graph = Graph(
        inputs=("I1", "I2", "J"),
        activations=("softplus", "softplus"),
        edges=edges,
        nonnegative=(False, True, True, True, True),
    )
    return Law(graph, jnp.array([-2.0, 0.5, 3.0, 0.7, 1.0]), REFERENCE)


def square_law():
    """Ψ = 2 (a + 0.5 b)² + 3 softplus(1.5 a)."""
    graph = Graph(
        inputs=("a", "b"),
        activations=("square", "softplus"),
        edges=(Edge(2, 0, UNIT), Edge(2, 1, 0), Edge(3, 0, 1), Edge(4, 2, 2), Edge(4, 3, 3)),
        nonnegative=(False,) * 4,
    )
    return Law(graph, jnp.array([0.5, 1.5, 2.0, 3.0]), Reference((0.0, 0.0)))


def test_dropping_is_pruning_without_the_parameter():
    law = nested_law()
    x = jnp.array([[3.2, 3.0, 0.9], [2.8, 3.1, 1.1]])
    expected = Law(law.graph, law.values.at[2].set(0.0), REFERENCE).slopes(x)
    smaller = moves.drop(law, [2])
    assert smaller.graph.size == 3
    np.testing.assert_allclose(smaller.slopes(x), expected, atol=1e-14)


def test_dropping_an_edge_of_weight_one_passes_the_one_on():
    """Without a, 2 (0.5 b)² = 0.5 b²."""
    law = square_law()
    (edge,) = moves.droppable_units(law.graph)
    smaller = moves.drop(law, [], (edge,))
    assert smaller.graph.size == 3
    x = jnp.array([[0.3, 0.7], [-0.2, 0.4]])
    expected = 0.5 * x[:, 1] ** 2 + 3 * (jnp.logaddexp(0, 1.5 * x[:, 0]) - jnp.log(2.0))
    np.testing.assert_allclose(smaller.energy(x), expected, atol=1e-14)


def test_linear_unit_saves_a_weight_and_stays_admissible(physics):
    law = nested_law()
    for unit in law.graph.units():
        smaller = moves.linearise(law, unit)
        assert smaller is not None
        assert smaller.graph.size < law.graph.size
        proof = certificate.prove(smaller.graph, np.asarray(smaller.values))
        assert certificate.admissible(proof, physics.conditions)


def test_exchanges_are_not_larger_nor_deeper_and_keep_the_sign_rules(physics):
    for law in (small_law(), nested_law()):
        others = moves.exchanges(law, CONVEX)
        assert others
        for other in others:
            assert 0 < other.graph.size <= law.graph.size
            assert len(other.graph.levels) <= 2
            proof = certificate.prove(other.graph, np.asarray(other.values))
            assert certificate.admissible(proof, physics.conditions)


def test_another_activation_is_tried_and_a_square_needs_no_scale():
    others = moves.retyped(square_law(), FREE)
    assert {other.graph.activations for other in others} == {("square", "square")}
    assert {other.graph.size for other in others} == {3}
    assert moves.retyped(nested_law(), CONVEX) == []


def test_rules_are_read_from_the_network(physics):
    from steinmetz.potentials import icnn, mixed
    from steinmetz.records import Conditions

    convex = icnn.build(icnn.Config(widths=(4, 4)), physics.inputs, physics.conditions)
    assert Rules.of(convex.graph()) == CONVEX
    free = mixed.build(mixed.Config(widths=(2, 2)), ("a", "b"), Conditions(False, (), False))
    assert Rules.of(free.graph()) == FREE
