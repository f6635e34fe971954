"""A law in plain types is the same law."""

import json

import jax.numpy as jnp
import numpy as np

from steinmetz.potentials.graph import UNIT, Edge, Graph
from steinmetz.potentials.law import Law, rebuild, structure
from steinmetz.records import Reference


def test_structure_survives_json_exactly():
    graph = Graph(
        inputs=("a", "b"),
        activations=("square", "softplus"),
        edges=(Edge(2, 0, UNIT), Edge(2, 1, 0), Edge(3, 2, 1), Edge(4, 3, 2)),
        nonnegative=(False, False, True),
    )
    law = Law(graph, jnp.array([1 / 3, -2e-17, 0.7]), Reference((0.0, 0.1)))
    again = rebuild(json.loads(json.dumps(structure(law))))
    assert again.graph == law.graph
    assert again.reference == law.reference
    np.testing.assert_array_equal(again.values, law.values)
