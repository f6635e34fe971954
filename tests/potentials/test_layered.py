"""Layered networks: which gates start closed, and where living weights lie."""

import numpy as np

from steinmetz.potentials.layered import Layered, Wiring


def test_restarts_begin_with_different_activations() -> None:
    wiring = Wiring(direct=True, skip=True)
    network = Layered(("a", "b"), (3,), ("square", "softplus"), wiring)
    closed = [network.closed(restart)[-8:] for restart in range(3)]
    assert [list(np.flatnonzero(row)) for row in closed] == [[5, 6, 7], [2, 3, 4], []]
    assert not Layered(("a", "b"), (3, 3)).closed(5).any()


def test_living_units_are_those_whose_places_are_kept() -> None:
    network = Layered(("a", "b", "c"), (4, 5, 3), wiring=Wiring(direct=True))
    units = [np.array([0, 2]), np.array([1, 3, 4]), np.array([2])]
    alive = np.zeros(network.size, bool)
    alive[network.places(units)] = True
    assert [list(np.flatnonzero(row)) for row in network.living(alive)] == [[0, 2], [1, 3, 4], [2]]
