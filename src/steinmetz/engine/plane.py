"""The plane of two stretches in which a map shows where a law can be trusted."""

import numpy as np
from jaxtyping import Float

from steinmetz.engine.problem import Problem
from steinmetz.materials.stretches import Stretches

# States along an axis of the map, and along a test.
SIDE, _STEPS = 41, 60
# How much further than the data the map goes, in strain; and its least and largest stretches.
_BEYOND, _LEAST, _MOST = 1.2, 1.25, 20.0
# In plane stress, and with sides that are stretched alike.
_PLANE_STRESS = {
    "uniaxial tension": (1.0, -0.5),
    "equibiaxial tension": (1.0, 1.0),
    "planar tension": (1.0, 0.0),
    "uniaxial compression": (0.5, -1.0),
}
_HELD = {
    "tension, sides held": (1.0, 0.0),
    "compression, sides held": (-1.0, 0.0),
    "swelling": (1.0, 1.0),
    "uniform compression": (-1.0, -1.0),
}

Pairs = Float[np.ndarray, "states 2"]


def tests(flat: bool) -> dict[str, tuple[float, float]]:
    """Tests from rest on, by exponents of the two stretches."""
    return _PLANE_STRESS if flat else _HELD


def measured(problem: Problem) -> dict[str, Pairs]:
    """The two stretches of every fitted row, by test."""
    found: dict[str, Pairs] = {}
    for block in problem.blocks:
        F = np.asarray(block.train.state).reshape(-1, 3, 3)
        pairs = _loaded(F, block.experiment.free) if block.experiment.free else _axial(F)
        name = block.experiment.name
        found[name] = np.concatenate([found[name], pairs]) if name in found else pairs
    return found


def _loaded(F: Float[np.ndarray, "states 3 3"], free: str) -> Pairs:
    """The stretches in the plane of the loaded faces, the larger first."""
    kept = [axis for axis in range(3) if axis != int(free[0]) - 1]
    return np.asarray(np.linalg.svd(F[:, kept][:, :, kept], compute_uv=False))


def _axial(F: Float[np.ndarray, "states 3 3"]) -> Pairs:
    """The principal stretch furthest from the others, and the mean of those."""
    high, middle, low = np.linalg.svd(F, compute_uv=False).T
    upper = high * low > middle**2
    axis, other = np.where(upper, high, low), np.where(upper, low, high)
    return np.stack([axis, np.sqrt(middle * other)], axis=1)


def axis(data: Pairs) -> Float[np.ndarray, "side"]:
    """Equal steps of log λ through the range of the data and a bit beyond."""
    high = 1 + _BEYOND * max(data.max() - 1, 0.0)
    low = 1 + _BEYOND * max(1 / data.min() - 1, 0.0)
    return np.geomspace(1 / np.clip(low, _LEAST, _MOST), np.clip(high, _LEAST, _MOST), SIDE)


def course(powers: tuple[float, float], axis: Float[np.ndarray, "side"]) -> Pairs:
    """States of a test from rest to the border of the map."""
    borders = np.log(axis[[-1, 0]])
    end = min(borders[0] / p if p > 0 else borders[1] / p for p in powers if p)
    return np.asarray(np.exp(np.linspace(0, end, _STEPS + 1)[1:, None] * np.array(powers)))


def stretches(pairs: Pairs, flat: bool) -> Stretches:
    """All three: the volume is kept, or both sides are stretched alike."""
    third = 1 / pairs.prod(axis=1) if flat else pairs[:, 1]
    return np.column_stack([pairs, third])
