"""Which measured rows are kept for the test: segments, whole curves, the far end, or single rows.

Neighbours on a test curve are nearly the same measurement, so a row whose neighbours are fitted
says little about how the law does elsewhere. Segments leave gaps in a curve, curves leave out a
test, the end asks for extrapolation.
"""

from typing import Literal, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Bool, Float

from steinmetz.errors import InputError

Way = Literal["segments", "curves", "end", "rows"]
Mask = Bool[np.ndarray, "rows"]

# Tables with fewer rows are not split: their test score would be luck.
FEWEST = 20
# Rows of a segment, about, and segments of a curve, at most.
_LONG = 4
_SEGMENTS = 4


class Places(NamedTuple):
    """Where the rows of a table are.

    `curve` tells test curves apart, `along` orders the rows of one, `reach` is how far a row is
    from the undeformed state.
    """

    curve: Float[np.ndarray, "rows"]
    along: Float[np.ndarray, "rows"]
    reach: Float[np.ndarray, "rows"]


class Kept(NamedTuple):
    """Rows that are held out, and how that is said; no words where none are."""

    rows: Mask
    words: str


def of_table(key: Array, places: Places, share: float, way: Way) -> Kept:
    """Rows of one table to hold out; none of a short one. Whole curves are chosen by `of_curves`.

    Segments are spread over a curve and never have its first or last row.
    """
    size = len(places.curve)
    count = round(share * size)
    if size < FEWEST or count == 0:
        return Kept(np.zeros(size, bool), "")
    rows = np.zeros(size, bool)
    if way == "rows":
        rows[np.asarray(jax.random.permutation(key, size))[:count]] = True
        return Kept(rows, f"{count} of {size} rows, drawn one by one")
    if way == "end":
        rows[np.argsort(places.reach, kind="stable")[size - count :]] = True
        return Kept(rows, f"{count} of {size} rows, those with the largest deformation")
    pieces = 0
    for number, name in enumerate(np.unique(places.curve)):
        own = np.flatnonzero(places.curve == name)
        ordered = own[np.argsort(places.along[own], kind="stable")]
        taken = _segments(jax.random.fold_in(key, number), len(ordered), share)
        rows[np.concatenate([ordered[segment] for segment in taken])] = True
        pieces += len(taken)
    return Kept(rows, f"{int(rows.sum())} of {size} rows, in {pieces} segments of neighbours")


def _segments(key: Array, size: int, share: float) -> list[slice]:
    """Runs of neighbours among the inner rows of a curve, one in each of equal parts."""
    count = min(round(share * size), size - 2)
    if count < 1:
        return [slice(0, 0)]
    pieces = int(np.clip(count // _LONG, 1, _SEGMENTS))
    borders = 1 + np.linspace(0, size - 2, pieces + 1).astype(int)
    lengths = [len(part) for part in np.array_split(np.arange(count), pieces)]
    chances = np.asarray(jax.random.uniform(key, (pieces,)))
    segments = []
    for low, high, length, chance in zip(borders[:-1], borders[1:], lengths, chances, strict=True):
        start = low + int(chance * (high - low - length + 1))
        segments.append(slice(start, start + length))
    return segments


def of_curves(key: Array, tables: list[Places], share: float) -> list[Kept]:
    """Whole curves of all tables together; a table without a column `curve` is one curve."""
    known = [(index, name) for index, t in enumerate(tables) for name in np.unique(t.curve)]
    if len(known) < 2:
        raise InputError(
            "data.hold_out = 'curves' needs several: give the table a column 'curve' that numbers "
            "them, or fit several tables; or set data.hold_out = 'segments'"
        )
    count = int(np.clip(round(share * len(known)), share > 0, len(known) - 1))
    chosen = [known[i] for i in np.asarray(jax.random.permutation(key, len(known)))[:count]]
    kept = []
    for index, table in enumerate(tables):
        names = sorted(name for at, name in chosen if at == index)
        rows = np.isin(table.curve, names)
        whole = "the whole table" if rows.all() else f"curve {', '.join(f'{n:g}' for n in names)}"
        words = f"{int(rows.sum())} of {len(rows)} rows, {whole}" if names else ""
        kept.append(Kept(rows, words))
    return kept
