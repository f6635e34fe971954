"""Figures of a run.

Path with bands, the laws behind them, gates over training or the sizes of laws, marginals, and
predicted against measured.

A figure is a function of an outcome, listed with its caption in `FIGURES`; `applies` says whether
it has anything to show.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import jax
import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from steinmetz.engine.outcome import Outcome
from steinmetz.pieces import quantiles
from steinmetz.predict.push_forward import predictive
from steinmetz.records import Segment, spaced
from steinmetz.report.laws import laws
from steinmetz.report.planes import planes
from steinmetz.report.style import COLOURS, STYLE, distinct, focus, mark_range
from steinmetz.report.trust import trust

# Histograms of the first parameters only; nobody reads a thousand.
_MARGINALS = 48
# Rows that are drawn against their predictions, at most.
_PARITY = 500
# Measured values of a curve that are drawn, at most.
_MEASURED = 2000
# Ends of the central 95 % band.
_BAND = (0.025, 0.975)


class Plot(NamedTuple):
    """A figure, its caption, and which outcomes it is drawn for."""

    draw: Callable[[Outcome], Figure]
    caption: str
    applies: Callable[[Outcome], bool] = lambda outcome: True


def draw(outcome: Outcome, folder: Path) -> dict[str, Path]:
    """Draw everything as PNG and PDF; returns captions and pictures, in the order of reading."""
    drawn = {}
    with matplotlib.rc_context(STYLE):
        for name, plot in FIGURES.items():
            if plot.applies(outcome):
                file = folder / f"{name}.png"
                figure = plot.draw(outcome)
                figure.savefig(file)
                figure.set_layout_engine("none")  # what was laid out once stays
                figure.savefig(file.with_suffix(".pdf"))
                drawn[plot.caption] = file
    return drawn


def in_unit(label: str, unit: str) -> str:
    """The label of an axis with its unit, where there is one."""
    return f"{label} ({unit})" if unit else label


def path(outcome: Outcome) -> Figure:
    """Ψ (never observed) above, stress below, a column per experiment.

    Dotted: the sampled range.
    """
    segments = outcome.problem.path.segments
    figure = Figure(figsize=(2.6 + 3.8 * len(segments), 6.4), layout="constrained")
    axes = figure.subplots(2, len(segments), sharex="col", height_ratios=[1, 1.6], squeeze=False)
    for (top, bottom), segment in zip(axes.T, segments, strict=True):
        _energy(top, outcome, segment.points)
        _stress(bottom, outcome, segment)
        if len(segments) > 1:
            top.set_title(segment.experiment.replace("_", " "), fontsize=9)
        course = outcome.problem.path
        for axis in (top, bottom):
            mark_range(axis, course.coordinate[segment.points], course.sampled[segment.points])
    kinds = {name.rstrip("0123456789") for name in outcome.problem.path.components}
    unit = outcome.problem.unit
    axes[0, 0].set_ylabel(in_unit("energy Ψ", unit))
    axes[0, 0].legend()
    axes[1, 0].set_ylabel(in_unit(", ".join(sorted(kinds)), unit))
    return figure


def _energy(axis: Axes, outcome: Outcome, points: slice) -> None:
    along, x = outcome.along, outcome.problem.path.coordinate[points]
    low, high = quantiles(along.pushed_energy[:, points], _BAND)
    axis.fill_between(x, low, high, color=COLOURS[0], alpha=0.3, lw=0, label="95 % push-forward")
    label = f"law, {outcome.law.graph.size} parameters"
    axis.plot(x, along.law_energy[points], color=COLOURS[0], label=label)
    focus(axis, outcome.problem.path.sampled[points], low, high, along.law_energy[points])
    if along.truth_energy is not None:
        truth = along.truth_energy[points]
        axis.plot(x, truth, "k--", lw=1, label="truth (never observed)")


def _stress(axis: Axes, outcome: Outcome, segment: Segment) -> None:
    """Components that vary, each with the band of the law (inner) and of data (outer)."""
    along, course, points = outcome.along, outcome.problem.path, segment.points
    x, every = course.coordinate[points], max(1, (points.stop - points.start) // 100)
    known = along.law if along.truth is None else along.truth
    seen = np.flatnonzero(course.observed[points].any(axis=0))
    moving = seen[distinct(known[points][:, seen])]
    shown = []
    for colour, index in zip(COLOURS, moving, strict=False):
        name = course.components[index]
        for samples, alpha in ((along.predictive, 0.15), (along.pushed, 0.4)):
            low, high = quantiles(samples[:, points, index], _BAND)
            axis.fill_between(x, low, high, color=colour, alpha=alpha, lw=0)
            shown += [low, high]
        inner = "law" if len(outcome.bands.parts) == 1 else "laws"
        label = f"{name} law (inner band: {inner}, outer: data)"
        axis.plot(x, along.law[points, index], color=colour, label=label)
        if along.truth is not None and along.noisy is not None:
            noisy = along.noisy[0, points, index][::every]
            label = f"{name} noisy validation"
            axis.plot(x[::every], noisy, ".", ms=3, color=colour, label=label)
            axis.plot(x, along.truth[points, index], "k--", lw=1)
        _measured(axis, outcome, segment, name, colour)
    focus(axis, course.sampled[points], *shown)
    axis.set_xlabel(segment.label)
    axis.legend(loc="best")


def _measured(axis: Axes, outcome: Outcome, segment: Segment, name: str, colour: str) -> None:
    """Measured values of a component; nothing where data are synthetic, or on no curve."""
    if outcome.problem.truth is not None:
        return
    for block in outcome.problem.blocks:
        test, rows = block.experiment, block.train
        if test.name != segment.experiment or name not in rows.components:
            continue
        if len(test.columns) == 1:
            place = rows.components.index(name)
            every = np.flatnonzero(np.asarray(rows.observed)[:, place])
            seen = every[spaced(len(every), _MEASURED)]
            values = np.asarray(rows.values)[seen, place]
            axis.plot(block.rows[seen, 0], values, "o", ms=3.5, mfc="none", color=colour)


def gates(outcome: Outcome) -> Figure:
    """Left: weights left at test time, a line per restart. Right: BIC of the best of each size."""
    carved = outcome.carved
    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(carved.steps, np.maximum(carved.active, 1), lw=1)
    left.set_yscale("log")
    left.set_xlabel("step")
    left.set_ylabel("weights left")
    _sizes(right, outcome)
    return figure


def sizes(outcome: Outcome) -> Figure:
    """BIC of the best law of each size."""
    figure = Figure(figsize=(3.8, 3.2), layout="constrained")
    _sizes(figure.subplots(), outcome)
    return figure


def _sizes(axis: Axes, outcome: Outcome) -> None:
    """The table of laws as a curve, the chosen one ringed."""
    carved = outcome.carved
    active, criteria = zip(*((row.active, row.criterion) for row in carved.table), strict=True)
    axis.plot(active, criteria, "o-", color=COLOURS[0], ms=4)
    chosen, ring = carved.chosen, COLOURS[1]
    axis.plot(
        chosen.active, chosen.criterion, "o", label="chosen", ms=9, mfc="none", mec=ring, mew=2
    )
    axis.set_yscale("log" if min(criteria) > 0 else "linear")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set_xlabel("active parameters")
    axis.set_ylabel("BIC (lower is better)")
    axis.legend()


def marginals(outcome: Outcome) -> Figure:
    """Histogram of the draws, MAP marked."""
    shown = slice(None, _MARGINALS)
    names, values = outcome.law.names()[shown], np.asarray(outcome.law.values)[shown]
    draws = outcome.particles[:, shown]
    columns = min(4, len(names))
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(2.0 * columns + 0.6, 1.8 * rows + 0.4), layout="constrained")
    axes = np.atleast_1d(figure.subplots(rows, columns)).ravel()
    for axis, name, value, column in zip(axes, names, values, draws.T, strict=False):
        axis.hist(column, bins=min(30, max(5, len(draws) // 10)), color=COLOURS[0], alpha=0.7)
        axis.axvline(value, color=COLOURS[1], lw=1.5)
        axis.set_title(name, fontsize=9)
        axis.set_yticks([])
    for axis in axes[len(names) :]:
        axis.set_axis_off()
    figure.supxlabel("parameter (line: MAP)", fontsize=9)
    return figure


def parity(outcome: Outcome) -> Figure:
    """Measured rows, held-out ones where there are any, and what the law leaves of them."""
    problem = outcome.problem
    shown = (problem.held_out or problem.train).spread(_PARITY)
    pushed = outcome.bands.push(shown.map)[0]
    key, deviations = jax.random.key(outcome.study.seed), (shown.relative, shown.absolute)
    drawn = predictive(key, pushed, deviations, problem.floor, outcome.bands.noise)
    low, high = quantiles(drawn, _BAND)
    predicted, values = np.asarray(outcome.law.stress(shown.map)), np.asarray(shown.values)
    figure = Figure(figsize=(9.0, 4.4), layout="constrained")
    axis, rest = figure.subplots(1, 2)
    for index, name in enumerate(shown.components):
        seen = np.asarray(shown.observed)[:, index]
        y = predicted[seen, index]
        bars = np.maximum([y - low[seen, index], high[seen, index] - y], 0.0)
        colour = COLOURS[index % len(COLOURS)]
        x = values[seen, index]
        axis.errorbar(x, y, bars, fmt=".", ms=4, lw=0.6, color=colour, label=name)
        rest.vlines(x, low[seen, index] - y, high[seen, index] - y, colour, lw=0.6, alpha=0.5)
        rest.plot(x, x - y, ".", ms=4, color=colour)
    ends = axis.get_xlim()
    axis.plot(ends, ends, "k--", lw=1)
    rows = "fitted" if problem.held_out is None else "held-out"
    rest.axhline(0, color="k", ls="--", lw=1)
    for each in (axis, rest):
        each.set_xlabel(in_unit(f"measured stress of {rows} rows", problem.unit))
    axis.set_ylabel(in_unit("predicted stress", problem.unit))
    rest.set_ylabel(in_unit("measured less predicted", problem.unit))
    axis.legend(ncols=2, fontsize=7)
    return figure


FIGURES = {
    "path": Plot(
        path, "Energy and stress along the validation path, with 95 % bands of law and of data"
    ),
    "laws": Plot(
        laws,
        "The five most probable laws over the 95 % band of all laws",
        lambda outcome: len(outcome.bands.parts) > 1,
    ),
    "trust": Plot(
        trust,
        "Where to trust the law: width of the 95 % band over the stress, states of the data, and "
        "where laws lose stability",
        lambda outcome: outcome.trust is not None,
    ),
    "gates": Plot(
        gates,
        "Weights left over training, and what the law was chosen from",
        lambda outcome: outcome.carved.steps.size > 0,
    ),
    "sizes": Plot(
        sizes,
        "What the law was chosen from: the best law of each size",
        lambda outcome: outcome.carved.steps.size == 0,
    ),
    "marginals": Plot(marginals, "Posterior of the parameters"),
    "parity": Plot(
        parity,
        "Predicted against measured stress, and what is left of it, with 95 % bands of data",
        lambda outcome: outcome.along.truth is None,
    ),
    "planes": Plot(
        planes,
        "Slices of Ψ through the reference, with the minima of each slice",
        lambda outcome: bool(outcome.problem.material.planes),
    ),
}
