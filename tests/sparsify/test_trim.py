"""Trimming: the path down is honest."""

from itertools import pairwise

import jax.numpy as jnp
import numpy as np
import pytest
from test_moves import CONVEX, nested_law
from test_refit import REFERENCE, small_law, weighted

from steinmetz.assess import certificate
from steinmetz.data.quadratic import misfit
from steinmetz.potentials.graph import UNIT, Edge, Graph
from steinmetz.potentials.law import Law
from steinmetz.sparsify import trim
from steinmetz.sparsify.choose import tabulate


@pytest.fixture(scope="module")
def trimmed(observations):
    laws = [nested_law(), small_law()]
    tool = trim.refitter(laws, CONVEX, weighted(observations), 0.2, 16)
    return trim.trim(
        [trim.Start(law, origin) for origin, law in enumerate(laws)], tool, CONVEX, moves=4, beam=3
    )


def test_misfit_rises_as_laws_shrink_and_every_law_is_admissible(trimmed, physics):
    table = tabulate(trimmed.best, 480, trimmed.spread)
    assert table[0].active == 1
    assert all(a.misfit >= b.misfit * (1 - 1e-3) for a, b in pairwise(table))
    for candidate in trimmed.best:
        proof = certificate.prove(candidate.law.graph, np.asarray(candidate.law.values))
        assert certificate.admissible(proof, physics.conditions)


def test_spread_tells_what_each_restart_reached(trimmed):
    for candidate in trimmed.best:
        reached = trimmed.spread[candidate.active]
        assert reached[candidate.origin] <= candidate.misfit
    assert {origin for by_origin in trimmed.spread.values() for origin in by_origin} == {0, 1}


def test_moves_to_kinds_and_depths_that_no_start_has_are_judged_rightly(observations):
    """A softplus start of a network that also offers squares; a shallow start of a deep network."""
    rules = CONVEX._replace(depth=3, kinds=("softplus", "square"), free_units=True)
    tool = trim.refitter([small_law()], rules, weighted(observations), 0.2, 8)
    deep = Graph(
        inputs=("I1", "I2", "J"),
        activations=("softplus", "square", "softplus"),
        edges=(Edge(3, 0, 0), Edge(4, 3, UNIT), Edge(5, 4, 1), Edge(6, 5, 2)),
        nonnegative=(True,) * 3,
    )
    law = Law(deep, jnp.array([0.1, 0.2, 1.0]), REFERENCE)
    (judged,) = tool.fit([trim.Start(law, 0)], steps=0)
    quadratic = weighted(observations)
    assert judged.misfit == pytest.approx(
        float(misfit(quadratic, law.slopes(quadratic.inputs))), rel=1e-9
    )
    trimmed = trim.trim([trim.Start(small_law(), 0)], tool, rules, moves=2, beam=2)
    assert all(candidate.active > 0 for candidate in trimmed.best)


def test_shapes_of_one_size_are_different(trimmed):
    for active in {candidate.active for candidate in trimmed.best}:
        shapes = [
            candidate.law.graph.shape for candidate in trimmed.best if candidate.active == active
        ]
        assert len(shapes) == len(set(shapes)) <= 3
