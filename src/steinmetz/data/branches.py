"""Loading and unloading: which rows of a curve go back towards rest."""

from itertools import pairwise
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

Branch = Literal["loading", "unloading", "both"]
Column = Float[np.ndarray, "rows"]
Mask = Bool[np.ndarray, "rows"]

# A turn smaller than this share of the range is jitter of the measured stretch.
_JITTER = 0.02
# A way back of fewer rows is a jump to the next curve, not unloading.
_SHORTEST = 3
# With more turns per row than this, rows are in no order.
_TURNS = 0.2


def unloading(away: Column) -> Mask:
    """Rows that are reached while the deformation goes back towards rest.

    `away` is zero at rest. Nothing is marked where the rows are in no order, or where a curve only
    starts again.
    """
    back = np.zeros(len(away), bool)
    turns = _turns(away)
    if len(turns) <= 2 or len(turns) - 2 > max(1, _TURNS * len(away)):
        return back
    for start, end in pairwise(turns):
        if end - start < _SHORTEST:
            continue
        rows = np.arange(start + 1, end + 1)
        rising = np.sign(away[end] - away[start])
        back[rows] = rising * away[rows - 1] < 0
    return back


def _turns(away: Column) -> list[int]:
    """First and last row, and every row where the direction changes for more than jitter."""
    if len(away) < 2:
        return [0] if len(away) else []
    enough = _JITTER * max(float(np.ptp(away)), 1e-12)
    turns, best, direction = [0], 0, 0.0
    for row in range(1, len(away)):
        step = away[row] - away[best]
        if direction == 0:
            if abs(step) > enough:
                direction, best = float(np.sign(step)), row
        elif direction * step >= 0:
            best = row
        elif abs(step) > enough:
            turns.append(best)
            direction, best = -direction, row
    if turns[-1] != len(away) - 1:
        turns.append(len(away) - 1)
    return turns


def gap(away: Column, values: Column, back: Mask) -> float | None:
    """Largest distance of both branches where they overlap, as a share of the largest stress."""
    parts = []
    for mask in (~back, back):
        order = np.argsort(away[mask], kind="stable")
        parts.append((away[mask][order], values[mask][order]))
    (one, up), (two, down) = parts
    low, high = max(one[0], two[0]), min(one[-1], two[-1])
    largest = np.abs(values).max()
    if not low < high or largest == 0:
        return None
    between = np.linspace(low, high, 50)
    apart = np.abs(np.interp(between, one, up) - np.interp(between, two, down))
    return float(apart.max() / largest)
