"""The vocabulary: bounds that keep terms polyconvex."""

import numpy as np
import pytest

from steinmetz.potentials.mechanics import Term
from steinmetz.potentials.vocabulary import Atom, nice, vocabulary


@pytest.mark.parametrize("incompressible", [True, False])
def test_exponents_are_within_their_bounds(incompressible: bool) -> None:
    """‖F‖^a J^−q and ‖cof F‖^a J^−q are polyconvex for a ≥ 1 + q; barriers push."""
    atoms = vocabulary((2.0, 2.0), incompressible)
    for term, (a, q, *more), _ in atoms:
        if term.shape == "unit":
            continue
        if term.shape in ("norm", "cofactor"):
            assert a >= 1 + q - 1e-12 if q else a >= 1
        if term.barrier:
            assert term.pressure(np, (a, q, *more)) > 0
        assert not (incompressible and (term.barrier or "volume" in term.shape or q))


def test_a_free_constant_stays_above_its_least_and_snaps_to_simple_values() -> None:
    atom = Atom(Term("norm", (1.0, 0.0), free=(0,)), (2.9, 0.0), 1.0)
    assert atom.moved([0.2]).constants[0] >= 1
    assert nice(atom) == [(0, 3.0)]
    assert atom.snapped(0, 3.0).term == Term("norm", (3.0, 0.0))
    assert nice(Atom(Term("locking", (5.0, 0.0), free=(0,)), (6.0, 0.0), 1.0)) == []
