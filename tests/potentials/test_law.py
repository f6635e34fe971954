"""A law in plain types is the same law, and predicts what its slopes say."""

import json

import jax.numpy as jnp
import numpy as np
import pytest

from cases import graph, random_data, small_law
from steinmetz.potentials.graph import UNIT, Edge
from steinmetz.potentials.law import Law, rebuild, structure
from steinmetz.records import Reference


def plain_law() -> Law:
    edges = (Edge(2, 0, UNIT), Edge(2, 1, 0), Edge(3, 2, 1), Edge(4, 3, 2))
    mixed = graph(edges, ("square", "softplus"), (False, False, True), ("a", "b"))
    return Law(mixed, jnp.array([1 / 3, -2e-17, 0.7]), Reference((0.0, 0.1)))


@pytest.mark.parametrize("law", [plain_law(), small_law()])
def test_structure_survives_json_exactly(law: Law) -> None:
    again = rebuild(json.loads(json.dumps(structure(law))))
    assert again.graph == law.graph
    assert again.reference == law.reference
    np.testing.assert_array_equal(again.values, law.values)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("units", 0), "cube"),
        (("parameters", 0, "value"), float("nan")),
        (("parameters", 2, "value"), -0.1),
        (("edges", 1, "parameter"), -2),
        (("edges", 1, "target"), 9),
        (("reference", "point"), [0.0]),
        (("reference", "weights"), [[1.0, 2.0]]),
    ],
)
def test_what_cannot_be_a_law_is_refused(path: tuple[str | int, ...], value: object) -> None:
    stored = json.loads(json.dumps(structure(plain_law())))
    place = stored
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ValueError, match=r"."):
        rebuild(stored)


def test_stress_is_the_map_of_the_slopes() -> None:
    law, data = small_law(), random_data()
    expected = np.einsum("sci,si->sc", data.operator, law.slopes(data.inputs))
    np.testing.assert_allclose(law.stress(data.map), expected, rtol=1e-12)
