"""W1 against data or particles: along the path for every value, and its mean over the path.

The rank correlation with the axis stands in the legend: it says whether W1 falls, without a model
of how.
"""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steinmetz.paper import grids, points, tables
from steinmetz.paper.claims import correlation
from steinmetz.paper.plots import common
from steinmetz.paper.records import Outcome, SampledPoint, grouped
from steinmetz.report.style import COLOURS

Options = grids.Panels
measure = points.sampled
details = tables.scores
# Points of all seeds at every value of the axis.
ByValue = dict[float, list[SampledPoint]]


def draw(outcome: Outcome[SampledPoint]) -> Figure:
    """A row per reading: along the path (left), the mean over the path (right).

    Left only the first panel of the grid, a line per value; right all of them, a line per panel.
    """
    shown, groups = outcome.grid.of(Options).panels, grouped(outcome.rows, lambda row: row.reading)
    label = "" if outcome.grid.axis is None else outcome.grid.axis.label
    figure, axes = common.panels((len(groups), 2), (7.4, 2.7 * len(groups) + 0.2))
    for (left, right), (reading, rows) in zip(axes, groups.items(), strict=True):
        by_value = sorted(grouped(rows, lambda row: row.value or 0.0).items())
        every = {value: [row.result for row in same] for value, same in by_value}
        _along(left, every, shown[0])
        title, x = f"{shown[0].title}, {grids.READINGS[reading]}", rows[0].result.label
        common.named(left, title, x, "Wasserstein-1")
        common.borders(left, rows[0].result)
        _means(right, every, shown)
        right.set(xlabel=label, ylabel="Wasserstein-1, path mean")
        right.legend(fontsize=7)
    axes[0, 0].legend(fontsize=6.5, title=label, title_fontsize=6.5, ncols=2)
    return figure


def _along(axis: Axes, every: ByValue, panel: grids.Panel) -> None:
    """Mean over seeds, a line per value."""
    colours = matplotlib.colormaps["viridis"](np.linspace(0, 0.9, len(every)))
    for colour, (value, same) in zip(colours, every.items(), strict=True):
        along = np.mean([point.score_along(panel.score) for point in same], axis=0)
        axis.plot(same[0].coordinate, along, color=colour, lw=1.2, label=f"{value:g}")


def _means(axis: Axes, every: ByValue, shown: tuple[grids.Panel, ...]) -> None:
    """Mean over the path against the value; the band is the range of the seeds."""
    x = np.array(list(every))
    for colour, panel in zip(COLOURS, shown, strict=False):
        seeds = [[point.number(panel.score) for point in same] for same in every.values()]
        scores = [np.array(each) for each in seeds]
        rho = correlation(np.repeat(x, list(map(len, scores))), np.concatenate(scores))
        low, middle, high = np.array([(each.min(), each.mean(), each.max()) for each in scores]).T
        common.shade(axis, x, (low, high), (colour, 0.15))
        label = f"{panel.title}, rank correlation {rho:.2f}"
        axis.plot(x, middle, "o-", ms=3, color=colour, label=label)
    axis.set(xscale="log", yscale="log")
    common.plain_ticks(axis.yaxis)
    axis.set_xticks(x, [f"{value:g}" for value in x])
    axis.minorticks_off()
