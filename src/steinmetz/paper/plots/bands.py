"""Mean ± 2 sd over noisy validation data: a panel per reading."""

import numpy as np
from matplotlib.figure import Figure

from steinmetz.paper.plots.common import READINGS, borders, readings, shown
from steinmetz.paper.reproduce import Outcome
from steinmetz.report.style import COLOURS


def draw(outcome: Outcome) -> Figure:
    """The first seed: push-forward dark, predictive light."""
    every = readings(outcome)
    figure = Figure(figsize=(3.7 * len(every), 3.4), layout="constrained")
    axes = figure.subplots(1, len(every), sharey=True, squeeze=False)[0]
    for axis, reading in zip(axes, every, strict=True):
        row = next(row for row in outcome.rows if row.reading == reading and row.seed == 0)
        a, facts = row.found.arrays, row.found.facts
        x, step = a["coordinate"], max(1, len(a["coordinate"]) // 130)
        for colour, index in zip(COLOURS, shown(row), strict=False):
            for mean, sd, alpha in (
                ("predictive_mean", "predictive_sd", 0.18),
                ("mean", "sd", 0.4),
            ):
                middle, width = a[mean][:, index], 2 * a[sd][:, index]
                axis.fill_between(
                    x, middle - width, middle + width, color=colour, alpha=alpha, lw=0
                )
            axis.plot(
                x,
                a["mean"][:, index],
                color=colour,
                label=f"{facts['components'][index]}, mean ± 2 sd",
            )
            axis.plot(x[::step], a["noisy"][::step, index], ".", ms=2.5, color=colour)
        axis.plot([], [], ".", ms=3, color="0.4", label="noisy validation data")
        axis.set_title(f"{READINGS[reading]}, {facts['active']} parameters", fontsize=8)
        axis.set_xlabel(facts["label"])
        low, high = np.quantile(a["noisy"], [0, 1])
        axis.set_ylim(low - 0.25 * (high - low), high + 0.35 * (high - low))
        borders(axis, row)
    axes[0].set_ylabel("stress S")
    axes[0].legend(fontsize=7)
    return figure
