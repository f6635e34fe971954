"""Graphs refuse what cannot be a law, and know the units of their parameters."""

import jax
import jax.numpy as jnp
import pytest

from steinmetz.potentials.graph import UNIT, Edge, Graph, parameter_units
from steinmetz.potentials.law import parameter_names


def graph(*edges, units=("softplus",)):
    return Graph(inputs=("I1", "I2", "J"), activations=units, edges=edges, nonnegative=(True, True))


@pytest.mark.parametrize(
    "edge",
    [Edge(3, 3, 0), Edge(3, 4, 0), Edge(5, 0, 0), Edge(2, 0, 0), Edge(3, 0, 2), Edge(3, -1, 0)],
)
def test_impossible_edges_are_refused(edge):
    with pytest.raises(ValueError, match="edge"):
        graph(edge)


def test_names_tell_target_and_source():
    assert parameter_names(graph(Edge(3, 2, 0), Edge(4, 3, 1))) == ("h1_J", "out_h1")


def test_weight_one_needs_no_parameter():
    """Ψ = 3 (I1 + 0.5 J)², and the large graph's evaluation in layers is the same function."""
    squared = Graph(
        inputs=("I1", "I2", "J"),
        activations=("square",),
        edges=(Edge(3, 0, UNIT), Edge(3, 2, 0), Edge(4, 3, 1)),
        nonnegative=(False, False),
    )
    theta, x = jnp.array([0.5, 3.0]), jnp.array([1.1, 2.0, 0.4])
    assert float(squared.energy(theta, x)) == pytest.approx(3 * (1.1 + 0.2) ** 2, rel=1e-14)
    weights = jnp.append(theta, 1.0)
    assert float(squared._layers(weights, x)) == pytest.approx(
        float(squared._scalars(weights, x)), rel=1e-14
    )
    assert parameter_names(squared) == ("h1_J", "out_h1")


def test_units_of_parameters_are_what_makes_the_law_invariant():
    """A law in natural units and the law in the units of the data are one function."""
    mixed = Graph(
        inputs=("a", "b"),
        activations=("square", "softplus", "square"),
        edges=(
            Edge(2, 0, UNIT), Edge(2, 1, 0), Edge(3, 1, 1), Edge(3, 2, 2), Edge(4, 2, UNIT), Edge(4, 0, 3),
            Edge(5, 3, 4), Edge(5, 4, 5), Edge(5, 0, 6),
        ),
        nonnegative=(False,) * 7,
    )  # fmt: skip
    sizes, modulus = (0.1, 4.0), 7.0
    theta = jax.random.normal(jax.random.key(0), (7,))
    x = jnp.array([0.7, -0.3])
    outward = theta * parameter_units(mixed, sizes, modulus)
    expected = modulus * mixed.energy(theta, x)
    assert float(mixed.energy(outward, x * jnp.array(sizes))) == pytest.approx(
        float(expected), rel=1e-12
    )


def test_shared_parameter_cannot_have_two_units():
    tied = graph(Edge(3, 0, 0), Edge(3, 1, 0), Edge(4, 3, 1))
    assert parameter_units(tied, (1.0, 1.0, 1.0), 2.0).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="two units"):
        parameter_units(tied, (1.0, 2.0, 1.0), 2.0)


def test_shape_ignores_the_order_of_units():
    first = graph(
        Edge(3, 0, 0), Edge(4, 2, 1), Edge(5, 3, 0), Edge(5, 4, 1), units=("softplus",) * 2
    )
    second = graph(
        Edge(3, 2, 0), Edge(4, 0, 1), Edge(5, 3, 0), Edge(5, 4, 1), units=("softplus",) * 2
    )
    assert first.shape == second.shape
    assert first.levels == ((3, 4),)
    assert first == graph(*first.edges, units=first.activations)  # asking changes nothing
