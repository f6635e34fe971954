"""Trimming: the path down is honest."""

from itertools import pairwise

import jax.numpy as jnp
import numpy as np
import pytest

from cases import CONVEX, REFERENCE, graph, nested_law, small_law, weighted
from steinmetz.assess import certificate
from steinmetz.data.quadratic import misfit
from steinmetz.potentials.graph import UNIT, Edge
from steinmetz.potentials.law import Law
from steinmetz.records import Observations
from steinmetz.sparsify.choose import tabulate
from steinmetz.sparsify.moves import Rules
from steinmetz.sparsify.refit import Candidate, Objective
from steinmetz.sparsify.trim import Refitter, Trimmed, trim

RULES = Rules(frozenset({2}), False, 2, ("softplus",))


def objective(observations: Observations) -> Objective:
    return Objective(weighted(observations), REFERENCE, 0.2)


@pytest.fixture(scope="module")
def trimmed(observations: Observations) -> Trimmed:
    starts = [Candidate(law, origin) for origin, law in enumerate((nested_law(), small_law()))]
    refitter = Refitter.of(starts, RULES, objective(observations), 16)
    return trim(starts, refitter, moves=4, beam=3)


def test_misfit_rises_as_laws_shrink_and_every_law_is_admissible(trimmed: Trimmed) -> None:
    table = tabulate(trimmed.best, 480, {})
    assert table[0].active == 1
    assert all(a.misfit >= b.misfit * (1 - 1e-3) for a, b in pairwise(table))
    for candidate in trimmed.best:
        proof = certificate.prove(candidate.law.graph, np.asarray(candidate.law.values))
        assert certificate.admissible(proof, CONVEX)


def test_spread_tells_what_each_restart_reached(trimmed: Trimmed) -> None:
    for candidate in trimmed.best:
        reached = trimmed.spread[candidate.active]
        assert reached[candidate.origin] <= candidate.misfit
    assert {origin for by_origin in trimmed.spread.values() for origin in by_origin} == {0, 1}


def test_moves_to_kinds_and_depths_that_no_start_has_are_judged_rightly(
    observations: Observations,
) -> None:
    """A softplus start of a network that also offers squares; a shallow start of a deep network."""
    rules = RULES._replace(depth=3, kinds=("softplus", "square"), free_units=True)
    start = Candidate(small_law(), 0)
    refitter = Refitter.of([start], rules, objective(observations), 8)
    edges = (Edge(3, 0, 0), Edge(4, 3, UNIT), Edge(5, 4, 1), Edge(6, 5, 2))
    deep = graph(edges, ("softplus", "square", "softplus"), (True,) * 3)
    law = Law(deep, jnp.array([0.1, 0.2, 1.0]), REFERENCE)
    (judged,) = refitter.fit([Candidate(law, 0)], steps=0)
    quadratic = weighted(observations)
    expected = float(misfit(quadratic, law.slopes(quadratic.inputs)))
    assert judged.misfit == pytest.approx(expected, rel=1e-9)
    assert all(candidate.active > 0 for candidate in trim([start], refitter, 2, 2).best)


def test_shapes_of_one_size_are_different(trimmed: Trimmed) -> None:
    for active in {candidate.active for candidate in trimmed.best}:
        shapes = [
            candidate.law.network.shape for candidate in trimmed.best if candidate.active == active
        ]
        assert len(shapes) == len(set(shapes)) <= 3
