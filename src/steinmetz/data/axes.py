"""Grids of the logarithm of a size: the whole range, a step of it, and where there is weight."""

import numpy as np
from jaxtyping import Float

# The least and the largest size that is tried.
RANGE = (1e-5, 3.0)
# The grid around the likeliest reaches so many deviations, and below it further where that is wide.
_REACH, _WIDE, _BELOW = 5.0, 0.25, 5.0

Axis = Float[np.ndarray, "_"]


def step(axis: Axis) -> float:
    """Between two points; none where there is only one."""
    return float(axis[1] - axis[0]) if len(axis) > 1 else 0.0


def around(axis: Axis, centre: float, count: int) -> Axis:
    """Points within a step of one of them."""
    if len(axis) == 1:
        return axis
    wide, (first, last) = step(axis), np.log(RANGE)
    return np.linspace(max(centre - wide, first), min(centre + wide, last), count)


def window(axis: Axis, centre: float, size: float, points: int) -> Axis:
    """Points as far as there is weight: further below, where the size may be anything small."""
    if len(axis) == 1:
        return axis
    low, high = centre - _REACH * size, centre + _REACH * size
    low -= _BELOW if size > _WIDE else 0.0
    first, last = np.log(RANGE)
    return np.linspace(max(low, first), min(max(high, first + 1), last), points)
