"""How far data reach: whether a state lies among those that were measured.

A law is a function of its inputs, such as I1, I2 and J, so what was learned in one test holds in
another that passes the same inputs. A state is covered if its inputs lie in the convex hull of
those of the data and of the undeformed state, where the stress is known.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy.spatial import ConvexHull, QhullError

Inputs = Float[np.ndarray, "states inputs"]
# Distance from the hull that is none, as a share of its size: curves are drawn by chords.
_NEAR = 1e-3
# Directions shorter than this share of the longest are none: all states of simple shear have
# I1 = I2.
_FLAT = 1e-9
# Inputs beyond which a hull takes too long, and a box is taken.
_MOST = 4


class Reach(NamedTuple):
    """Where data are: a centre, axes with lengths, and half-spaces n·y + d ≤ 0 along the axes.

    Axes of no length are those along which data do not vary at all.
    """

    centre: Float[np.ndarray, "inputs"]
    axes: Float[np.ndarray, "kept inputs"]
    flat: Float[np.ndarray, "left inputs"]
    normals: Float[np.ndarray, "faces kept"]
    offsets: Float[np.ndarray, "faces"]

    def covers(self, inputs: Inputs) -> Bool[np.ndarray, "states"]:
        """Which states lie among the data, to within a thousandth of their size."""
        away = np.asarray(inputs) - self.centre
        beside = np.abs(away @ self.flat.T).max(axis=1, initial=0.0)
        outside = (away @ self.axes.T) @ self.normals.T + self.offsets
        return np.asarray((beside <= _NEAR) & (outside.max(axis=1, initial=-np.inf) <= _NEAR))


def reach(data: Inputs) -> Reach:
    """Where some states are: every input in units of its own range, then the hull of them."""
    centre = data.mean(axis=0)
    spans = np.ptp(data, axis=0)
    unit = np.where(spans > 0, spans, 1.0)
    triangle = np.linalg.qr((data - centre) / unit, mode="r")
    _, lengths, directions = np.linalg.svd(triangle, full_matrices=True)
    lengths = np.append(lengths, np.zeros(len(directions) - len(lengths)))
    kept = lengths > _FLAT * max(lengths.max(), 1.0)
    axes = directions / unit
    normals, offsets = _faces((data - centre) @ axes[kept].T)
    return Reach(centre, axes[kept], axes[~kept], normals, offsets)


def _faces(
    points: Float[np.ndarray, "states kept"],
) -> tuple[Float[np.ndarray, "faces kept"], Float[np.ndarray, "faces"]]:
    """Normals and offsets of the convex hull; those of the box where there is no better."""
    if 1 < points.shape[1] <= _MOST:
        try:
            equations = ConvexHull(points).equations
            return equations[:, :-1], equations[:, -1]
        except QhullError:
            pass
    one = np.eye(points.shape[1])
    normals = np.concatenate([one, -one])
    return normals, -(points @ normals.T).max(axis=0)
