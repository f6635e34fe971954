"""L-curves as they are kept: every trained network, and the curves these make."""

from typing import NamedTuple

import numpy as np

from steinmetz.engine.lcurve import Pick
from steinmetz.engine.lcurve import Point as Network
from steinmetz.paper.records import Timed


class Curve(NamedTuple):
    """Test R² of one method and noise against the penalty; `r2` has the restarts of each.

    Not a number where training failed.
    """

    method: str
    noise: float
    penalties: np.ndarray
    r2: list[np.ndarray]

    @property
    def median(self) -> np.ndarray:
        """Over restarts that did not fail."""
        return np.array([float(np.nanmedian(values)) for values in self.r2])


class CurveRows(Timed):
    """L-curves: every trained network, the penalty picked for each curve, and all weights.

    `memory` is the most gigabytes that the process held meanwhile.
    """

    networks: list[Network]
    picks: list[Pick]
    full: int
    memory: float

    def curves(self) -> list[Curve]:
        """By method and noise, in the order in which they were trained."""
        table: dict[tuple[str, float], dict[float, list[float | None]]] = {}
        for network in self.networks:
            curve = table.setdefault((network.method, network.noise), {})
            curve.setdefault(network.penalty, []).append(network.r2)
        every = [(key, sorted(curve.items())) for key, curve in table.items()]
        return [
            Curve(*key, np.array([x for x, _ in curve]), [np.array(r2, float) for _, r2 in curve])
            for key, curve in every
        ]

    def by_method(self) -> dict[str, list[Curve]]:
        """The curves of every way to sparsify, a curve per noise."""
        table: dict[str, list[Curve]] = {}
        for curve in self.curves():
            table.setdefault(curve.method.upper(), []).append(curve)
        return table
