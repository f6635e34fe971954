"""W1 along the path, method by method: a row per reading, a panel per score.

Where the grid has `lengths`, a last row shows W1 against the seconds of samplers stopped early:
methods are then compared at equal time instead of at sizes someone chose.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from steinmetz.paper import convergence, grids, points, tables
from steinmetz.paper.arms import arms
from steinmetz.paper.plots import common
from steinmetz.paper.records import Outcome, Row, SampledPoint, grouped
from steinmetz.paper.scores import ScoreKey

# W1 below this is drawn as this: it is zero at the reference, which a logarithm cannot show.
_LEAST = 1e-9
# The axis ends at so many times the largest W1 of constant predictions: what lies beyond has
# learned nothing, and is named at the top.
_ABOVE = 3.0
# The axis begins at this share of the smallest median along the path.
_BELOW = 0.1
# Colour of arms that have not converged.
_LOST = "0.6"
# So many states of a sampler and more are called particles, fewer chains.
_CHAINS = 8
# Lines of constant predictions.
_CONSTANT_LINES = (":", "--")
# Seconds of sampling are at least this, for a logarithmic axis.
_SHORTEST = 1e-3

Rows = Sequence[Row[SampledPoint]]
Options = grids.Panels
measure = points.sampled
details = tables.scores


def draw(outcome: Outcome[SampledPoint]) -> Figure:
    """Mean over seeds, with their range as a band."""
    groups = grouped([r for r in outcome.rows if r.value is None], lambda row: row.reading)
    timed = [row for row in outcome.rows if row.value is not None]
    shown, lines = outcome.grid.of(Options).panels, len(groups) + bool(timed)
    figure, axes = common.panels((lines, len(shown)), (7.4, 2.6 * lines + 0.4))
    for line, (reading, rows) in zip(axes, groups.items(), strict=False):
        for axis, panel in zip(line, shown, strict=True):
            _curves(axis, rows, panel.score)
            title, x = f"{panel.title}, {grids.READINGS[reading]}", rows[0].result.label
            common.named(axis, title, x, "Wasserstein-1")
            common.borders(axis, rows[0].result)
    if timed:
        _against_time(axes[-1, 0], timed, "w1_reference", "to the reference")
        _against_time(axes[-1, 1], timed, "w1_noisy", "to the noisy data")
    handles = _legend([row for row in outcome.rows if row.value is None])
    figure.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=7)
    return figure


def _legend(rows: Rows) -> list[Line2D]:
    """A line per arm, as it is drawn where it has converged, with the sizes of laws and ensemble.

    It is made for all panels: an arm may have converged in one reading alone, or be in one alone.
    """
    handles = []
    for arm, same in grouped(rows, lambda row: row.arm).items():
        look, count = arms().look(arm), same[0].result.shape[1]
        word = "chain" if count == 1 else "chains" if count < _CHAINS else "particles"
        sizes = f"{common.span(row.result.active for row in same)} parameters, {count} {word}"
        handles.append(Line2D([], [], ls=look.line, color=look.colour, label=f"{arm} ({sizes})"))
    handles.append(
        Line2D([], [], color=_LOST, lw=0.9, label="grey in a panel: not converged there")
    )
    for line, label in zip(_CONSTANT_LINES, tables.PREDICTORS.values(), strict=True):
        handles.append(Line2D([], [], ls=line, color="0.75", label=label))
    return handles


def _curves(axis: Axes, rows: Rows, score: ScoreKey) -> None:
    """A line per arm, grey if it has not converged.

    The axis follows predictions that know no mechanics, so that a bad arm does not hide the others,
    and the medians of the arms: W1 vanishes at the reference, where every line dives.
    """
    states, medians = convergence.by_arm(rows, score), []
    top = _ABOVE * _constants(axis, rows, score)
    for arm, same in grouped(rows, lambda row: row.arm).items():
        values = np.stack([row.result.score_along(score) for row in same])
        medians.append((arm, float(np.median(values.mean(axis=0)))))
        _curve(axis, same, values, states[arm].converged)
    beyond = [arm for arm, median in medians if median > top]
    bottom = _BELOW * min(median for _, median in medians)
    axis.set(yscale="log", ylim=(max(bottom, _LEAST), top))
    if beyond:
        text = "above: " + ", ".join(beyond)
        box = {"fc": "white", "ec": "none", "pad": 1}
        label = axis.text(0.5, 0.985, text, fontsize=6, ha="center", va="top", bbox=box)
        label.set_transform(axis.transAxes)


def _curve(axis: Axes, same: Rows, values: np.ndarray, converged: bool) -> None:
    """Mean over seeds with their range."""
    look, x = arms().look(same[0].arm), same[0].result.coordinate
    colour = look.colour if converged else _LOST
    edges = np.maximum(values.min(axis=0), _LEAST), np.maximum(values.max(axis=0), _LEAST)
    common.shade(axis, x, edges, (colour, 0.1))
    mean, width = np.maximum(values.mean(axis=0), _LEAST), 1.3 if converged else 0.9
    axis.plot(x, mean, ls=look.line, color=colour, lw=width)


def _constants(axis: Axes, rows: Rows, score: ScoreKey) -> float:
    """Lines of constant predictions, means over seeds; the largest W1 of them."""
    largest = 0.0
    for line, predictor in zip(_CONSTANT_LINES, tables.PREDICTORS, strict=True):
        every = [row.result.constant_along(predictor, score) for row in rows]
        along = np.mean([each for each in every if each is not None], axis=0)
        x, shown = rows[0].result.coordinate, np.maximum(along, _LEAST)
        axis.plot(x, shown, ls=line, color="0.75", lw=1.0, zorder=0)
        largest = max(largest, float(along.max()))
    return largest


def _against_time(axis: Axes, rows: Rows, score: str, title: str) -> None:
    """The same samplers stopped early: W1 against seconds of sampling, means over seeds.

    Compilation is left out: it happens once, and a longer run does not make it longer.
    """
    for arm, same in grouped(rows, lambda row: row.arm).items():
        look, curve = arms().look(arm), []
        for _, stopped in sorted(grouped(same, lambda row: row.value or 0.0).items()):
            spent = [row.result.spent for row in stopped]
            seconds = [max(each.infer - each.infer_compile, _SHORTEST) for each in spent]
            distances = [row.result.number(ScoreKey(score)) for row in stopped]
            curve.append((np.mean(seconds), np.mean(distances)))
        axis.plot(*np.transpose(curve), ls=look.line, marker="o", ms=3, color=look.colour)
    axis.set(xscale="log", yscale="log")
    common.plain_ticks(axis.xaxis, axis.yaxis)
    x, y = "seconds of sampling, without compilation", "Wasserstein-1, mean"
    common.named(axis, f"{title}, at equal time, proper posterior", x, y)
