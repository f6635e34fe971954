"""Test R² against the penalty: a panel per way, a line per noise level, median and range over restarts."""

import numpy as np
from matplotlib.figure import Figure

from steinmetz.paper.reproduce import Outcome
from steinmetz.report.style import COLOURS

_LEAST = -0.1


def draw(outcome: Outcome) -> Figure:
    """The first seed; the circle is the penalty that is chosen."""
    a, facts = outcome.rows[0].found
    methods = list(dict.fromkeys(a["method"].tolist()))
    figure = Figure(figsize=(3.1 * len(methods), 2.9), layout="constrained")
    axes = figure.subplots(1, len(methods), sharey=True, squeeze=False)[0]
    for axis, method in zip(axes, methods, strict=True):
        for colour, noise in zip(COLOURS, dict.fromkeys(a["noise"].tolist()), strict=False):
            here = (a["method"] == method) & (a["noise"] == noise)
            penalties = np.unique(a["penalty"][here])
            scores = [a["r2"][here & (a["penalty"] == penalty)] for penalty in penalties]
            middle = np.array([np.nanmedian(score) for score in scores])
            low = np.array([np.nanmin(score) for score in scores])
            high = np.array([np.nanmax(score) for score in scores])
            axis.fill_between(
                penalties, np.maximum(low, _LEAST), high, color=colour, alpha=0.15, lw=0
            )
            axis.plot(
                penalties,
                np.maximum(middle, _LEAST),
                color=colour,
                label=f"{100 * noise:g} % noise",
            )
            for pick in facts["picks"]:
                if pick["method"] == method and pick["noise"] == noise:
                    place = int(np.argmin(np.abs(penalties - pick["penalty"])))
                    axis.plot(
                        penalties[place],
                        max(middle[place], _LEAST),
                        "o",
                        ms=7,
                        mfc="none",
                        mec=colour,
                        mew=1.4,
                    )
        axis.set_xscale("log")
        axis.set_title(method.upper(), fontsize=9)
        axis.set_xlabel("penalty λ in units of log(n)/n")
    lowest = float(np.nanmin(a["r2"]))
    axes[0].set_ylim(
        max(_LEAST, lowest - 0.05 * (1 - lowest)), 1 + 0.03 * (1 - max(_LEAST, lowest))
    )
    axes[0].set_ylabel("test R²")
    axes[0].legend(fontsize=7, loc="lower left")
    return figure
