"""Seconds of the methods beside the paper's: a panel per problem.

Nothing is computed for this figure: it looks at points of its sources. Seconds are those of the
process that did the work, on this machine; the paper's are of a graphics card.
"""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steinmetz.paper import grids, points
from steinmetz.paper.arms import Frozen
from steinmetz.paper.plots import common
from steinmetz.paper.records import Details, Outcome, SampledPoint, Table, grouped
from steinmetz.report.style import COLOURS

_HEAD = (
    "seconds here", "of them compiling", "paper's seconds", "ratio", "parameters here", "paper's",
    "particles",
)  # fmt: skip
_NOTE = "Carving and inference together, mean over seeds, proper reading."

measure = points.sampled


class Printed(Frozen):
    """What the paper prints of a method."""

    seconds: int
    parameters: int


class Options(grids.Options):
    """The paper's table: figure whose points are looked at → arm → what is printed."""

    paper: dict[str, dict[str, Printed]]


class Cost(NamedTuple):
    """One arm: what the paper prints, and what was measured here.

    `seconds` and `compiling`, which is part of them, are means over seeds; `counts` is the range of
    the number of parameters, `particles` the largest ensemble.
    """

    arm: str
    printed: Printed
    seconds: float
    compiling: float
    counts: str
    particles: int


def costs(outcome: Outcome[SampledPoint]) -> dict[str, list[Cost]]:
    """Every arm of each source, under the name of its study."""
    printed = outcome.grid.of(Options).paper
    table: dict[str, list[Cost]] = {}
    for source, rows in grouped(outcome.rows, lambda row: row.grid).items():
        by_arm = grouped(rows, lambda row: row.arm)
        costs = table.setdefault(grids.load(source).study, [])
        for arm in outcome.grid.arms:
            same = [row.result for row in by_arm[arm]]
            seconds = float(np.mean([point.seconds for point in same]))
            spent = [point.spent.carve_compile + point.spent.infer_compile for point in same]
            counts = common.span(point.active for point in same)
            particles = max(point.shape[1] for point in same)
            compiling = float(np.mean(spent))
            costs.append(Cost(arm, printed[source][arm], seconds, compiling, counts, particles))
    return table


def draw(outcome: Outcome[SampledPoint]) -> Figure:
    """Bars of the mean over seeds, on a logarithmic scale."""
    table = costs(outcome)
    figure, (axes,) = common.panels((1, len(table)), (3.7 * len(table), 2.6), sharex=True)
    for axis, (title, arms) in zip(axes, table.items(), strict=True):
        _panel(axis, arms)
        axis.set_title(title, fontsize=9)
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, fontsize=7, loc="outside lower center", ncols=2)
    return figure


def _panel(axis: Axes, arms: list[Cost]) -> None:
    """Two bars per arm, with their seconds and the ratio."""
    place = np.arange(len(arms))
    paper, ours = [cost.printed.seconds for cost in arms], [cost.seconds for cost in arms]
    axis.barh(place - 0.2, paper, 0.38, color="0.6", label="paper, RTX A6000")
    axis.barh(place + 0.2, ours, 0.38, color=COLOURS[0], label="here, processor")
    for y, (theirs, here) in enumerate(zip(paper, ours, strict=True)):
        axis.text(theirs * 1.15, y - 0.2, f"{theirs:,} s", va="center", fontsize=7)
        text = f"{here:.0f} s: {theirs / here:.0f}×"
        axis.text(here * 1.15, y + 0.2, text, va="center", fontsize=7)
    axis.set_yticks(place, [f"{cost.arm}\n{cost.particles} particles" for cost in arms])
    axis.invert_yaxis()
    axis.set(xscale="log", xlim=(1, 3e6), xlabel="seconds of optimisation and inference")


def details(outcome: Outcome[SampledPoint]) -> Details:
    """The table of all sources and arms."""
    lines: list[list[str | int]] = []
    for title, arms in costs(outcome).items():
        for arm, printed, seconds, compiling, counts, particles in arms:
            here = f"{title}, {arm}", f"{seconds:.1f}", f"{compiling:.1f}"
            paper = f"{printed.seconds:,}", f"{printed.seconds / seconds:.0f}×"
            lines.append([*here, *paper, counts, printed.parameters, particles])
    return Details(tables=[Table(["", *_HEAD], lines, _NOTE)])
