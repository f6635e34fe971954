"""W1 against data or particles: along the path for every value, and its mean over the path.

The slope of log W1 along the logarithm of the axis stands in the legend, with its interval over
seeds: it decides whether W1 falls.
"""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steinmetz.paper import convergence, grids, points, tables
from steinmetz.paper.findings import slopes
from steinmetz.paper.plots import common
from steinmetz.paper.records import Outcome, Row, SampledPoint, grouped
from steinmetz.paper.verdicts import Interval
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
        _means(right, rows, shown)
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
    largest = axis.get_ylim()[1]
    for line, predictor in zip((":", "--"), tables.PREDICTORS, strict=True):
        known = [p.constant_along(predictor, panel.score) for same in every.values() for p in same]
        flat = np.mean([each for each in known if each is not None], axis=0)
        first = next(iter(every.values()))[0]
        axis.plot(first.coordinate, flat, ls=line, color="0.7", lw=1.0, zorder=0)
    axis.set_ylim(0, 1.3 * largest)


def _means(axis: Axes, rows: list[Row[SampledPoint]], shown: tuple[grids.Panel, ...]) -> None:
    """Mean over the path against the value, with the range of the seeds; and constant predictions.

    Points that have not converged are open.
    """
    by_value = sorted(grouped(rows, lambda row: row.value or 0.0).items())
    x = np.array([value for value, _ in by_value])
    for colour, panel in zip(COLOURS, shown, strict=False):
        states = [convergence.by_arm(same, panel.score)[same[0].arm] for _, same in by_value]
        good = np.array([state.converged for state in states])
        scores = [np.array([r.result.number(panel.score) for r in same]) for _, same in by_value]
        low, middle, high = np.array([(each.min(), each.mean(), each.max()) for each in scores]).T
        common.shade(axis, x, (low, high), (colour, 0.15))
        mean, least, most = Interval.of(slopes(rows, panel.score))
        label = f"{panel.title}: slope {mean:.2f} ({least:.2f} to {most:.2f})"
        axis.plot(x, middle, "-", color=colour, label=label)
        axis.plot(x[good], middle[good], "o", ms=3, color=colour)
        axis.plot(x[~good], middle[~good], "o", ms=3.5, mfc="white", color=colour)
    for line, predictor in zip((":", "--"), tables.PREDICTORS, strict=True):
        values = [row.result.constant(predictor, shown[0].score) for row in rows]
        known = [value for value in values if value is not None]
        axis.axhline(float(np.mean(known)), ls=line, color="0.7", lw=1.0, zorder=0)
    axis.set(xscale="log", yscale="log")
    common.plain_ticks(axis.yaxis)
    axis.set_xticks(x, [f"{value:g}" for value in x])
    axis.minorticks_off()
