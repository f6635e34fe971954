"""Seconds of the methods beside the paper's: a panel per problem."""

import numpy as np
from matplotlib.figure import Figure

from steinmetz.paper import claims
from steinmetz.paper.reproduce import Outcome
from steinmetz.report.style import COLOURS

TITLES = {"hyper-comparison": "hyperelasticity", "mech-comparison": "mechanochemistry"}


def draw(outcome: Outcome) -> Figure:
    """Bars of the mean over seeds, on a logarithmic scale."""
    sources = outcome.grid.sources
    figure = Figure(figsize=(3.7 * len(sources), 2.6), layout="constrained")
    axes = figure.subplots(1, len(sources), sharex=True, squeeze=False)[0]
    for axis, source in zip(axes, sources, strict=True):
        rows = [row for row in outcome.rows if row.grid == source]
        place = np.arange(len(outcome.grid.arms))
        paper = [outcome.grid.options["paper"][source][arm]["seconds"] for arm in outcome.grid.arms]
        ours = [float(claims.means(rows, arm, "seconds.total").mean()) for arm in outcome.grid.arms]
        axis.barh(place - 0.2, paper, 0.38, color="0.6", label="paper, RTX A6000")
        axis.barh(place + 0.2, ours, 0.38, color=COLOURS[0], label="here, processor")
        for y, (theirs, own) in enumerate(zip(paper, ours, strict=True)):
            axis.text(theirs * 1.15, y - 0.2, f"{theirs:,} s", va="center", fontsize=7)
            axis.text(
                own * 1.15, y + 0.2, f"{own:.0f} s: {theirs / own:.0f}×", va="center", fontsize=7
            )
        moved = [
            max(r.found.facts["inference"]["particles"] for r in rows if r.arm == arm)
            for arm in outcome.grid.arms
        ]
        axis.set_yticks(
            place,
            [f"{arm}\n{n} particles" for arm, n in zip(outcome.grid.arms, moved, strict=True)],
        )
        axis.invert_yaxis()
        axis.set_xscale("log")
        axis.set_xlim(1, 3e6)
        axis.set_title(TITLES.get(source, source), fontsize=9)
        axis.set_xlabel("seconds of optimisation and inference")
    figure.legend(
        *axes[0].get_legend_handles_labels(), fontsize=7, loc="outside lower center", ncols=2
    )
    return figure
