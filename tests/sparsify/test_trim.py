"""Trimming: moves keep what they must, the table is honest, the choice follows its rule."""

from itertools import pairwise

import jax.numpy as jnp
import numpy as np
import pytest
from test_refit import REFERENCE, small_law, weighted

from steinmetz.assess import certificate
from steinmetz.potentials.graph import Edge, Graph
from steinmetz.potentials.law import Law
from steinmetz.sparsify import carve, trim


def nested_law():
    edges = (Edge(3, 2, 0), Edge(4, 0, 1), Edge(4, 3, 2), Edge(5, 0, 3), Edge(5, 4, 4))
    graph = Graph(
        inputs=("I1", "I2", "J"),
        activations=("softplus", "softplus"),
        edges=edges,
        nonnegative=(False, True, True, True, True),
    )
    return Law(graph, jnp.array([-2.0, 0.5, 3.0, 0.7, 1.0]), REFERENCE)


def test_dropping_is_setting_to_zero():
    law = nested_law()
    x = jnp.array([[3.2, 3.0, 0.9], [2.8, 3.1, 1.1]])
    expected = Law(law.graph, law.values.at[2].set(0.0), REFERENCE).slopes(x)
    smaller = trim.drop(law, [2])
    assert smaller.graph.size == 3
    np.testing.assert_allclose(smaller.slopes(x), expected, atol=1e-14)


def test_linear_unit_saves_its_outgoing_weight_and_stays_admissible(physics):
    law = nested_law()
    for unit in law.graph.units():
        smaller = trim.linearise(law, unit)
        assert smaller is not None
        assert smaller.graph.size < law.graph.size
        proof = certificate.prove(smaller.graph, np.asarray(smaller.values))
        assert certificate.admissible(proof, physics.conditions)


def test_exchanges_keep_the_size_and_the_sign_rules(physics):
    law = small_law()
    others = trim.exchanges(law, frozenset({2}))
    assert {trim.skeleton(other.graph) for other in others} == {
        ("out", ("I2",), ("softplus", ("I1",), ("I2",), ("J",)))
    }
    for other in trim.exchanges(nested_law(), frozenset({2})):
        assert other.graph.size == 5
        proof = certificate.prove(other.graph, np.asarray(other.values))
        assert certificate.admissible(proof, physics.conditions)


def test_skeleton_ignores_the_order_of_units():
    first = Graph(
        inputs=("I1", "J"),
        activations=("softplus",) * 2,
        edges=(Edge(2, 0, 0), Edge(3, 1, 1), Edge(4, 2, 2), Edge(4, 3, 3)),
        nonnegative=(True,) * 4,
    )
    second = Graph(
        inputs=("I1", "J"),
        activations=("softplus",) * 2,
        edges=(Edge(2, 1, 0), Edge(3, 0, 1), Edge(4, 2, 2), Edge(4, 3, 3)),
        nonnegative=(True,) * 4,
    )
    assert trim.skeleton(first) == trim.skeleton(second)


@pytest.fixture(scope="module")
def candidates(observations):
    return trim.trim([nested_law(), small_law()], weighted(observations), 0.2, frozenset({2}), moves=4, beam=3)


def test_misfit_rises_as_laws_shrink_and_every_law_is_admissible(candidates, physics):
    best = {}
    for candidate in candidates:
        best[candidate.active] = min(best.get(candidate.active, np.inf), candidate.misfit)
        proof = certificate.prove(candidate.law.graph, np.asarray(candidate.law.values))
        assert certificate.admissible(proof, physics.conditions)
    assert min(best) == 1
    sizes = sorted(best)
    assert all(best[a] >= best[b] * (1 - 1e-3) for a, b in pairwise(sizes))


def test_choice_is_the_smallest_within_the_evidence(candidates):
    for evidence in (0.0, 10.0, 1e9):
        table, chosen, reason = carve.choose(candidates, 480, evidence)
        lowest = min(row.criterion for row in table)
        assert chosen.criterion <= lowest + evidence
        assert all(row.criterion > lowest + evidence for row in table if row.active < chosen.active)
        assert reason.startswith(f"{chosen.active} parameters")
    assert chosen.active == 1
