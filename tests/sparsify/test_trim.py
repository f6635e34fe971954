"""Trimming: the path down is honest."""

from itertools import pairwise

import numpy as np
import pytest
from test_moves import CONVEX, nested_law
from test_refit import small_law, weighted

from steinmetz.assess import certificate
from steinmetz.sparsify import trim
from steinmetz.sparsify.choose import tabulate


@pytest.fixture(scope="module")
def trimmed(observations):
    laws = [nested_law(), small_law()]
    tool = trim.refitter(laws, weighted(observations), 0.2, 16)
    return trim.trim([trim.Start(law, origin) for origin, law in enumerate(laws)], tool, CONVEX, moves=4, beam=3)


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


def test_shapes_of_one_size_are_different(trimmed):
    for active in {candidate.active for candidate in trimmed.best}:
        shapes = [candidate.law.graph.shape for candidate in trimmed.best if candidate.active == active]
        assert len(shapes) == len(set(shapes)) <= 3
