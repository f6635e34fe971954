"""W1 against data or particles: along the path for every value (left), its mean with the spread of seeds (right)."""

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from steinmetz.paper import claims
from steinmetz.paper.plots.common import READINGS, borders, of_kind, plain_ticks, readings
from steinmetz.paper.reproduce import Outcome
from steinmetz.report.style import COLOURS


def draw(outcome: Outcome) -> Figure:
    """A row per reading."""
    every, axis_of = readings(outcome), outcome.grid.axis
    panels = outcome.grid.options["panels"]
    figure = Figure(figsize=(7.4, 2.7 * len(every) + 0.2), layout="constrained")
    axes = figure.subplots(len(every), 2, squeeze=False)
    values = sorted({row.value for row in outcome.rows if row.value is not None})
    colours = matplotlib.colormaps["viridis"](np.linspace(0, 0.9, len(values)))
    for line, reading in enumerate(every):
        rows = [row for row in outcome.rows if row.reading == reading]
        left, right = axes[line]
        for colour, value in zip(colours, values, strict=True):
            same = [row for row in rows if row.value == value]
            along = np.mean([of_kind(row, panels[0][0], panels[0][1]) for row in same], axis=0)
            left.plot(
                same[0].found.arrays["coordinate"], along, color=colour, lw=1.2, label=f"{value:g}"
            )
        left.set_title(f"{panels[0][2]}, {READINGS[reading]}", fontsize=8)
        left.set_xlabel(rows[0].found.facts["label"])
        left.set_ylabel("Wasserstein-1")
        borders(left, rows[0])
        for colour, (name, kind, title) in zip(COLOURS, panels, strict=False):
            scores = [
                [claims.score(r, f"{name}.{kind}.path") for r in rows if r.value == value]
                for value in values
            ]
            rho = claims.correlation(
                np.repeat(values, [len(some) for some in scores]),
                np.concatenate([np.array(some) for some in scores]),
            )
            middle = np.array([np.mean(some) for some in scores])
            right.fill_between(
                values,
                [min(s) for s in scores],
                [max(s) for s in scores],
                color=colour,
                alpha=0.15,
                lw=0,
            )
            right.plot(
                values,
                middle,
                "o-",
                ms=3,
                color=colour,
                label=f"{title}, rank correlation {rho:.2f}",
            )
        right.set_xscale("log")
        right.set_yscale("log")
        plain_ticks(right.yaxis)
        right.set_xticks(values, [f"{value:g}" for value in values])
        right.minorticks_off()
        right.set_xlabel("" if axis_of is None else axis_of.label)
        right.set_ylabel("Wasserstein-1, path mean")
        right.legend(fontsize=7)
    axes[0, 0].legend(
        fontsize=6.5, title="" if axis_of is None else axis_of.label, title_fontsize=6.5, ncols=2
    )
    return figure
