"""Ranks of truths among draws: uniform, where draws are what they are taken for.

Simulation-based calibration (Talts et al. 2018); the band is that of the whole empirical
distribution at once, by simulation (as Säilynoja et al. 2022 have it).
"""

from functools import cache

import numpy as np
from jaxtyping import Float, Int

Ranks = Int[np.ndarray, "truths"]


def excess(found: Ranks, draws: int) -> float:
    """Largest distance of the empirical CDF of ranks from the uniform one, in standard errors."""
    distance, error = apart(found, draws)
    return float(np.max(np.abs(distance) / error))


def apart(
    found: Ranks, draws: int
) -> tuple[Float[np.ndarray, "places"], Float[np.ndarray, "places"]]:
    """Distance of the empirical CDF from the uniform one at every rank, and its standard error."""
    points = np.arange(draws)
    expected = (points + 1) / (draws + 1)
    cdf = np.searchsorted(np.sort(found), points, side="right") / len(found)
    return cdf - expected, np.sqrt(expected * (1 - expected) / len(found))


@cache
def limit(
    count: int, draws: int, level: float = 0.95, simulations: int = 4000, seed: int = 0
) -> float:
    """The excess that so many uniform ranks keep below with probability `level`."""
    uniform = np.random.default_rng(seed).integers(0, draws + 1, (simulations, count))
    return float(np.quantile([excess(row, draws) for row in uniform], level))
