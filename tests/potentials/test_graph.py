"""Graphs refuse what cannot be a law."""

import pytest

from steinmetz.potentials.graph import Edge, Graph
from steinmetz.potentials.law import parameter_names


def graph(*edges, units=("softplus",)):
    return Graph(inputs=("I1", "I2", "J"), activations=units, edges=edges, nonnegative=(True, True))


@pytest.mark.parametrize(
    "edge", [Edge(3, 3, 0), Edge(3, 4, 0), Edge(5, 0, 0), Edge(2, 0, 0), Edge(3, 0, 2), Edge(3, -1, 0)]
)
def test_impossible_edges_are_refused(edge):
    with pytest.raises(ValueError, match="edge"):
        graph(edge)


def test_names_tell_target_and_source():
    assert parameter_names(graph(Edge(3, 2, 0), Edge(4, 3, 1))) == ("h1_J", "out_h1")


def test_output_parameters_are_those_of_the_last_layer():
    assert graph(Edge(3, 2, 0), Edge(4, 3, 1)).output == (False, True)
