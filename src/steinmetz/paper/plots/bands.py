"""Mean ± 2 sd over noisy validation data: a panel per reading.

The push-forward shows what the posterior leaves open, the predictive band also the noise; only the
second can be expected to hold 95 % of the data (method §6).
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steinmetz.paper import points, tables
from steinmetz.paper.grids import READINGS
from steinmetz.paper.plots import common
from steinmetz.paper.records import Outcome, SampledPoint, grouped
from steinmetz.report.style import COLOURS

# About so many noisy data are drawn.
_DOTS = 130
# Space below and above the data, as shares of their range: for the bands, and for the legend.
_BELOW = 0.25
_ABOVE = 0.35

measure = points.sampled
details = tables.scores


def draw(outcome: Outcome[SampledPoint]) -> Figure:
    """The first seed: push-forward dark, predictive light."""
    groups = grouped(outcome.first, lambda row: row.reading)
    size = 3.7 * len(groups), 3.4
    figure, (axes,) = common.panels((1, len(groups)), size, sharey=True)
    for axis, (reading, rows) in zip(axes, groups.items(), strict=True):
        _panel(axis, rows[0].result, READINGS[reading])
    axes[0].set_ylabel("stress S")
    axes[0].legend(fontsize=7)
    return figure


def _panel(axis: Axes, point: SampledPoint, reading: str) -> None:
    """Both bands, the mean and the noisy data of every component that is shown.

    The axis follows the data, not the bands, which may be far wider in the extrapolated part.
    """
    x, dots = point.coordinate, common.every(len(point.coordinate), _DOTS)
    for colour, index in zip(COLOURS, common.shown(point), strict=False):
        for moments, alpha in ((point.predictive, 0.18), (point.pushed, 0.4)):
            middle, width = moments.mean[:, index], 2 * moments.sd[:, index]
            common.shade(axis, x, (middle - width, middle + width), (colour, alpha))
        label = f"{point.components[index]}, mean ± 2 sd"
        axis.plot(x, point.pushed.mean[:, index], color=colour, label=label)
        axis.plot(x[dots], point.noisy[dots, index], ".", ms=2.5, color=colour)
    axis.plot([], [], ".", ms=3, color="0.4", label="noisy validation data")
    common.named(axis, f"{reading}, {point.active} parameters", point.label)
    low, high = np.quantile(point.noisy, [0, 1])
    axis.set_ylim(low - _BELOW * (high - low), high + _ABOVE * (high - low))
    common.borders(axis, point)
