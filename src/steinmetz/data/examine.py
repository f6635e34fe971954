"""What is odd about a test curve that could be read: each finding a sentence with what to do.

Nothing here refuses a table: repeated rows, an offset at rest, a wrong sign, loading and unloading
in one curve, outliers and too few points are noted, and the reader decides.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from steinmetz.data import branches

Column = Float[np.ndarray, "rows"]

# Fewer rows than this hardly tell one law from another.
FEWEST = 6
# An offset at rest and the stress of a wrong sign, as shares of the largest stress.
_OFFSET = 0.03
_NEAR = 0.1
_SIGNIFICANT = 0.05
# A point is an outlier this many robust deviations, and this share of the largest stress, away.
_DEVIATIONS = 8.0
_SHARE = 0.05
_NEIGHBOURS = 8
_MOST_LINES = 5


class Curve(NamedTuple):
    """One test curve in the order of the table.

    `away` is zero at rest: the logarithm of a stretch, or a shear; `column` and `stress` are the
    names of both columns as written.
    """

    column: str
    stress: str
    away: Column
    values: Column
    lines: Int[np.ndarray, "rows"]


def listed(lines: Int[np.ndarray, "rows"]) -> str:
    """Line numbers for a message, the first few of many."""
    shown = ", ".join(str(line) for line in lines[:_MOST_LINES])
    word = "line" if len(lines) == 1 else "lines"
    return f"{word} {shown}{' …' if len(lines) > _MOST_LINES else ''}"


def repeated(rows: Float[np.ndarray, "rows columns"], lines: Int[np.ndarray, "rows"]) -> list[str]:
    """Rows that stand there more than once, to the last digit."""
    known = np.where(np.isfinite(rows), rows, np.inf)
    _, first, which, counts = np.unique(
        known, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    copies = int(np.sum(counts - 1))
    if not copies:
        return []
    most = int(np.argmax(counts))
    again = np.flatnonzero(which.ravel() == most)
    words = f"line {lines[again[0]]} stands there {counts[most]} times"
    if len(first) == 1:
        words = "all rows are the same"
    return [
        f"{copies} of {len(rows)} rows repeat an earlier one exactly ({words}); each counts as a "
        "measurement of its own, so delete copies"
    ]


def curve(given: Curve) -> list[str]:
    """Everything that is odd about one curve."""
    seen = np.isfinite(given.values) & np.isfinite(given.away)
    parts = (given.away[seen], given.values[seen], given.lines[seen])
    own = Curve(given.column, given.stress, *parts)
    if len(own.values) == 0 or not np.any(own.values):
        return []
    return [*_few(own), *_sign(own), *_offset(own), *_branches(own), *_outliers(own)]


def _few(own: Curve) -> list[str]:
    count = len(np.unique(own.away))
    if count >= FEWEST:
        return []
    return [
        f"{count} different {'value' if count == 1 else 'values'} of '{own.column}' with a stress "
        f"hardly tell laws apart; measure {FEWEST} or more"
    ]


def _sign(own: Curve) -> list[str]:
    """Tension with negative stress, or compression with positive stress, in most rows."""
    large = np.abs(own.values) > _SIGNIFICANT * np.abs(own.values).max()
    large &= np.abs(own.away) > _SIGNIFICANT * np.abs(own.away).max()
    wrong = large & (own.values * own.away < 0)
    if not large.any() or wrong.sum() <= 0.5 * large.sum():
        return []
    return [
        f"'{own.stress}' has the sign opposite to the deformation in {int(wrong.sum())} rows "
        f"({listed(own.lines[wrong])}): tension is positive, compression negative, and a stretch "
        "is 1 at rest (a strain belongs into a column 'strain')"
    ]


def _offset(own: Curve) -> list[str]:
    """The stress at rest, measured there or reached by the line of the nearest rows."""
    far, largest = np.abs(own.away).max(), np.abs(own.values).max()
    order = np.argsort(np.abs(own.away), kind="stable")
    nearest = order[0]
    if far == 0:
        return []
    if abs(own.away[nearest]) <= 0.01 * far:
        stress, allowed = own.values[nearest], _OFFSET
    else:
        near = order[:3]
        if abs(own.away[nearest]) > _NEAR * far or len(np.unique(own.away[near])) < 2:
            return []
        stress, allowed = (
            np.polynomial.polynomial.polyfit(own.away[near], own.values[near], 1)[0],
            _NEAR,
        )
    if abs(stress) <= allowed * largest:
        return []
    share = f"{100 * abs(stress) / largest:.0f} % of the largest"
    return [
        f"the curve does not pass near the origin: '{own.stress}' is {stress:.3g} at rest, {share} "
        f"(line {own.lines[nearest]}); subtract a preload, or measure the stretch from the length "
        "at zero force"
    ]


def _branches(own: Curve) -> list[str]:
    """Loading and unloading in one curve."""
    back = branches.unloading(own.away)
    if not back.any():
        return []
    gap = branches.gap(own.away, own.values, back)
    apart = "" if gap is None else f", up to {100 * gap:.0f} % of the largest stress apart"
    return [
        f"loading and unloading in one curve ({int(back.sum())} of {len(back)} rows unload, "
        f"{listed(own.lines[back])}){apart}; an elastic law goes between them: --branch loading or "
        "--branch unloading takes one"
    ]


def _outliers(own: Curve) -> list[str]:
    """Rows far from where their neighbours on the same branch point to."""
    back = branches.unloading(own.away)
    wrong = np.zeros(len(back), bool)
    for branch in (back, ~back):
        rows = np.flatnonzero(branch)
        rows = rows[np.argsort(own.away[rows], kind="stable")]
        wrong[rows] = _apart(own.away[rows], own.values[rows])
    if not wrong.any():
        return []
    several = wrong.sum() > 1
    count = f"{int(wrong.sum())} values" if several else "one value"
    return [
        f"{count} of '{own.stress}' far off {'their' if several else 'its'} neighbours "
        f"({listed(own.lines[wrong])}); check, and empty the cell if it is a slip"
    ]


def _apart(x: Column, y: Column) -> Bool[np.ndarray, "rows"]:
    """Points far from the line through both neighbours, the farthest first, each left out then.

    Distances are judged relative to the stress there, because noise often grows with it.
    """
    wrong = np.zeros(len(x), bool)
    if len(x) < _NEIGHBOURS or len(np.unique(x)) < len(x):
        return wrong
    largest = np.abs(y).max()
    for _ in range(max(1, len(x) // _NEIGHBOURS)):
        kept = np.flatnonzero(~wrong)
        before, here, after = kept[:-2], kept[1:-1], kept[2:]
        share = (x[here] - x[before]) / (x[after] - x[before])
        off = np.abs(y[here] - y[before] - share * (y[after] - y[before]))
        relative = off / (np.abs(y[here]) + 0.1 * largest)
        worst = int(np.argmax(relative))
        usual = 1.4826 * np.median(relative)
        if relative[worst] <= _DEVIATIONS * usual or off[worst] <= _SHARE * largest:
            break
        wrong[here[worst]] = True
    return wrong
