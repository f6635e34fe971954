"""Graphs refuse what cannot be a law, evaluate it both ways, and name its parameters."""

import jax.numpy as jnp
import pytest

from cases import graph, nested_law, small_law, square_law
from steinmetz.potentials.graph import UNIT, Edge, Graph


@pytest.mark.parametrize(
    "edge",
    [Edge(3, 3, 0), Edge(3, 4, 0), Edge(5, 0, 0), Edge(2, 0, 0), Edge(3, 0, 2), Edge(3, -1, 0)],
)
def test_impossible_edges_are_refused(edge: Edge) -> None:
    with pytest.raises(ValueError, match="edge"):
        graph((edge,), signs=(True, True))


def test_names_can_be_matched_with_the_printed_law() -> None:
    """A factor in front has the name of what it multiplies; one inside a unit that of both."""
    assert small_law().names() == ("unit1.I1", "unit1.I2", "unit1.J", "I1", "unit1")
    assert nested_law().names() == ("unit1.J", "unit2.I1", "unit2.unit1", "I1", "unit2")
    assert square_law().names() == ("unit1.b", "unit2.a", "unit1", "unit2")  # one has no name


def test_names_are_different_whatever_is_shared_or_beside() -> None:
    twice = (Edge(3, 0, 0), Edge(3, 0, 1), Edge(4, 3, 2), Edge(4, 1, 0))
    names = graph(twice).names()
    assert names[0] == "unit1.I1"
    assert len(set(names)) == 3


def test_weight_one_needs_no_parameter_and_both_evaluations_agree() -> None:
    """Ψ = 3 (I1 + 0.5 J)²: node by node, and layer by layer as a large graph is evaluated."""
    squared = graph((Edge(3, 0, UNIT), Edge(3, 2, 0), Edge(4, 3, 1)), ("square",))
    theta, x = jnp.array([0.5, 3.0]), jnp.array([1.1, 2.0, 0.4])
    assert float(squared.energy(theta, x)) == pytest.approx(3 * (1.1 + 0.2) ** 2, rel=1e-14)
    weights = jnp.append(theta, 1.0)
    layers = float(squared._by_layers(weights, x))
    assert layers == pytest.approx(float(squared._by_scalars(weights, x)), rel=1e-14)


def test_shape_ignores_the_order_of_units() -> None:
    ends = (Edge(5, 3, 0), Edge(5, 4, 1))
    first = graph((Edge(3, 0, 0), Edge(4, 2, 1), *ends), ("softplus",) * 2)
    second = graph((Edge(3, 2, 0), Edge(4, 0, 1), *ends), ("softplus",) * 2)
    assert first.shape == second.shape
    assert first.layers == ((3, 4),)
    assert first.uses().tolist() == [2, 2]
    again = Graph(
        inputs=first.inputs,
        activations=first.activations,
        edges=first.edges,
        nonnegative=first.nonnegative,
    )
    assert first == again  # asking changes nothing
