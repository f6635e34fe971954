"""The median of many numbers by counting, not by sorting.

A sort is most of a Stein step at 50–1000 particles.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int8, Int32

from steinmetz.shapes import Scalar

# Share of its upper end to which a bracket is narrowed at most: the digits of single precision.
_SHARE = 2.0**-24
# Share of the largest possible value below which all is 0: distances have no digits left there.
_NOTHING = 2.0**-44
# How far thresholds are pulled towards the middle of the bracket, in squared widths over the range.
_PULL = 0.1
# Passes lost at most compared with halving.
_SPARE = 2
# Slabs of rows that are compared and added side by side.
_SLABS = 4

Values = Float[Array, "rows columns"]

# Both ends, below and above: a threshold, the number of values ≤ it, and the width allowed now. It
# is one array because at 50 particles a pass costs as much as its few operations on scalars.
_Bracket = Float[Array, "2 3"]


def ranked(values: Values, rank: Scalar, top: Scalar) -> Scalar:
    """The `rank`-th smallest of non-negative values that come in pairs, known to be at most `top`.

    Thresholds are interpolated from the counts and pulled a little towards the middle, but a
    bracket may never be wider than halving would have left it two passes ago (ITP, Oliveira &
    Takahashi 2021): some 8 passes, not 24. The last one reads the value off: exact, unless several
    different ones lie within 2⁻²⁴ of it. Below 2⁻⁴⁴ of `top`, where distances from a Gram product
    have no digits left, it is 0.
    """
    room, share = top * 2 ** (_SPARE - 1), max(_SHARE, 4 * float(np.finfo(top.dtype).eps))
    start = jnp.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], top.dtype) * top
    start = start + jnp.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]], top.dtype) * room
    start = start + np.array([[0.0, 0.0, 0.0], [0.0, values.size, 0.0]], top.dtype)

    def unsettled(bracket: _Bracket) -> Bool[Array, ""]:
        width, within = bracket[1, 0] - bracket[0, 0], bracket[1, 1] - bracket[0, 1]
        wide = width > jnp.maximum(share * bracket[1, 0], _NOTHING * top)
        return wide & (within > 2)  # the two cells of one pair of particles are equal

    def narrow(bracket: _Bracket) -> _Bracket:
        threshold = _threshold(bracket, rank, top)
        reached = count(values, threshold).astype(top.dtype)
        end = jnp.stack([threshold, reached, bracket[0, 2]])
        moved = jnp.array([[False], [True]]) == (reached >= rank)
        return jnp.where(moved, end, bracket) * np.array([1.0, 1.0, 0.5], top.dtype)

    (low, below, _), (high, reached, _) = jax.lax.while_loop(unsettled, narrow, start)
    within = jnp.where((values > low) & (values <= high), values, 0.0)
    mean = jnp.sum(jnp.ones(len(values), values.dtype) @ within) / (reached - below)
    return jnp.where(low > 0, mean, 0.0)


def _threshold(bracket: _Bracket, rank: Scalar, top: Scalar) -> Scalar:
    """Where to count next."""
    (low, below, room), (high, reached, _) = bracket
    width, middle = high - low, 0.5 * (low + high)
    aside = middle - (low + width * (rank - below - 0.5) / (reached - below))
    aside = jnp.sign(aside) * jnp.maximum(jnp.abs(aside) - _PULL * width * width / top, 0.0)
    reach = jnp.maximum(room - 0.5 * width, 0.0)
    return jnp.subtract(middle, jnp.clip(aside, -reach, reach))


def count(values: Values, threshold: Scalar) -> Int32[Array, ""]:
    """How many values are ≤ the threshold.

    Comparisons are short integers, of which a processor adds many at a time down the columns.
    """
    rows = len(values) // _SLABS
    slabs = [
        (values[k * rows : (k + 1) * rows] <= threshold).astype(jnp.int8) for k in range(_SLABS)
    ]
    rest = (values[_SLABS * rows :] <= threshold).astype(jnp.int8)
    return _total(sum(slabs[1:], start=slabs[0])) + _total(rest)


def _total(counts: Int8[Array, "rows columns"]) -> Int32[Array, ""]:
    """The sum, in two steps of growing width."""
    return jnp.sum(jnp.sum(counts.astype(jnp.int16), axis=0, dtype=jnp.int16), dtype=jnp.int32)
