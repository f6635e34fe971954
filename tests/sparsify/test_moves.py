"""Moves keep what they must."""

import jax.numpy as jnp
import numpy as np

from cases import CONVEX, REFERENCE, convex_network, nested_law, potential, small_law, square_law
from steinmetz.assess import certificate
from steinmetz.potentials.law import Law
from steinmetz.sparsify import moves
from steinmetz.sparsify.moves import Rules

RULES = Rules(frozenset({2}), False, 2, ("softplus",))
FREE_RULES = Rules(frozenset({0, 1, 2}), True, 2, ("softplus", "square"))


def test_dropping_is_pruning_without_the_parameter() -> None:
    law = nested_law()
    x = jnp.array([[3.2, 3.0, 0.9], [2.8, 3.1, 1.1]])
    expected = Law(law.graph, law.values.at[2].set(0.0), REFERENCE).slopes(x)
    smaller = moves.drop(law, [2])
    assert smaller.graph.size == 3
    np.testing.assert_allclose(smaller.slopes(x), expected, atol=1e-14)


def test_dropping_an_edge_of_weight_one_passes_the_one_on() -> None:
    """Without a, 2 (0.5 b)² = 0.5 b²."""
    law = square_law()
    (edge,) = moves.droppable_units(law.network)
    smaller = moves.drop(law, [], (edge,))
    assert smaller.graph.size == 3
    x = jnp.array([[0.3, 0.7], [-0.2, 0.4]])
    expected = 0.5 * x[:, 1] ** 2 + 3 * (jnp.logaddexp(0, 1.5 * x[:, 0]) - jnp.log(2.0))
    np.testing.assert_allclose(smaller.energy(x), expected, atol=1e-14)


def test_linear_unit_saves_a_weight_and_stays_admissible() -> None:
    law = nested_law()
    for unit in law.network.units():
        smaller = moves.linearise(law, unit)
        assert smaller is not None
        assert smaller.graph.size < law.graph.size
        proof = certificate.prove(smaller.graph, np.asarray(smaller.values))
        assert certificate.admissible(proof, CONVEX)


def test_exchanges_are_not_larger_nor_deeper_and_keep_the_sign_rules() -> None:
    for law in (small_law(), nested_law()):
        others = moves.sideways(law, RULES)
        assert others
        for other in others:
            assert 0 < other.graph.size <= law.graph.size
            assert len(other.network.layers) <= 2
            proof = certificate.prove(other.graph, np.asarray(other.values))
            assert certificate.admissible(proof, CONVEX)


def test_another_activation_is_tried_and_a_square_needs_no_scale() -> None:
    rules = FREE_RULES._replace(free=frozenset({0, 1}))
    others = moves.retyped(square_law(), rules)
    assert {other.network.activations for other in others} == {
        ("square", "square"),
        ("softplus",) * 2,
    }
    kept = {
        other.network.activations: other.network.size
        for other in moves.sideways(square_law(), rules)
    }
    assert kept[("square", "square")] == 3
    assert ("softplus", "softplus") not in kept  # it would have a parameter more
    assert moves.retyped(nested_law(), RULES) == []


def test_smaller_laws_are_one_move_away() -> None:
    law = nested_law()
    others = moves.smaller(law, [2, 0], 1)
    assert {other.graph.size for other in others} <= set(range(1, law.graph.size))
    assert others[0].graph == moves.drop(law, [2]).graph
    assert len(others) == 1 + 2  # and both units can be made linear


def test_rules_are_read_from_the_network() -> None:
    assert Rules.of(convex_network((4, 4)).graph()) == RULES
    assert Rules.of(potential("mixed").graph()) == FREE_RULES
