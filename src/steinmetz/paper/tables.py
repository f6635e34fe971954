"""Tables of scores with their intervals, a table per part of the path.

They are the same for every kind of figure whose points have a posterior.
"""

from collections.abc import Sequence

import numpy as np

from steinmetz.paper.plots.common import span
from steinmetz.paper.records import Details, Outcome, Row, SampledPoint, Table, grouped
from steinmetz.paper.scores import PARTS, SCORES, ScoreKey, component_kind

_NOTE = (
    "Mean over seeds, and the range of their 95 % bootstrap intervals (over particles and noise "
    "draws for W1, over path points for CRPS and coverage). Push-forward unless it says "
    "predictive; coverage: predictive bands."
)


def scores(outcome: Outcome[SampledPoint]) -> Details:
    """All scores of every arm, reading and value; parts that no path has are left out."""
    every = [_scores(outcome.rows, part) for part in PARTS]
    return Details(tables=[table for table in every if table.lines])


def _scores(rows: Sequence[Row[SampledPoint]], part: str) -> Table:
    """A line per arm, reading and value, a column per score and kind of component.

    Where all components are of one kind, they have one column; scores that no point has, none.
    """
    kinds = list(dict.fromkeys(map(component_kind, rows[0].result.moving)))
    kinds = kinds if len(kinds) > 1 else ["all"]
    known = {name for row in rows for name in row.result.scores.root}
    keys = [ScoreKey(name, kind, part) for name in SCORES if name in known for kind in kinds]
    lines: list[list[str | int]] = []
    groups = grouped(rows, lambda row: (row.arm, row.reading, row.value))
    for (arm, reading, value), group in groups.items():
        same = [row.result for row in group]
        if same[0].scores.get(ScoreKey("crps", "all", part)) is not None:
            place = "" if value is None else f" at {value:g}"
            counts = span(point.active for point in same)
            seconds = f"{np.mean([point.seconds for point in same]):.0f}"
            cells = [_cell(same, key) for key in keys]
            lines.append([f"{arm}{place}, {reading}", counts, *cells, seconds])
    heads = [f"{SCORES[key.name]} {key.component}".removesuffix(" all") for key in keys]
    return Table([PARTS[part], "parameters", *heads, "seconds"], lines, _NOTE)


def _cell(same: list[SampledPoint], key: ScoreKey) -> str:
    """Mean over seeds and the range of their intervals; a dash where there is no such score."""
    intervals = [interval for point in same if (interval := point.scores.get(key)) is not None]
    if not intervals:
        return "–"
    values, lows, highs = zip(*intervals, strict=True)
    return f"{np.mean(values):.3g} ({min(lows):.3g}–{max(highs):.3g})"
