"""A figure of the most probable laws over the band of all of them.

Laws that fit the same data lie close together: below the stress stands how far each is from the
median of all laws, with the band around it.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steinmetz.engine.outcome import Outcome
from steinmetz.exporters.names import recognise
from steinmetz.pieces import quantiles
from steinmetz.potentials.law import Law
from steinmetz.records import Segment
from steinmetz.report.style import COLOURS, distinct, focus, mark_range

# Laws that are drawn, and columns of the figure.
_LAWS, _COLUMNS = 5, 6
# Lower border, median and upper border of the band.
_BAND = (0.025, 0.5, 0.975)
# Later lines are broken, so that earlier ones show through where they coincide.
_DASHES: tuple[str | tuple[int, tuple[int, ...]], ...] = ("-", (0, (6, 2)), (0, (4, 2)), "-.", ":")
# Characters of a name in the legend.
_NAME = 90


def laws(outcome: Outcome) -> Figure:
    """A column per component that varies and experiment: stress, and differences from the median.

    Dotted: the range of the data.
    """
    columns = [
        (segment, index)
        for segment in outcome.problem.path.segments
        for index in moving(outcome, segment.points)
    ][:_COLUMNS]
    figure = Figure(figsize=(1.4 + 3.4 * max(len(columns), 2), 7.0), layout="constrained")
    axes = figure.subplots(2, len(columns), sharex="col", squeeze=False, height_ratios=[1, 1.3])
    parts = outcome.bands.parts[:_LAWS]
    centres = outcome.bands._replace(parts=parts).centres(outcome.problem.path.map)
    for (top, bottom), (segment, index) in zip(axes.T, columns, strict=True):
        _column(top, bottom, outcome, segment, index, centres[:, segment.points, index])
    axes[0, 0].set_ylabel("stress")
    axes[1, 0].set_ylabel("difference from the median of all laws")
    handles, labels = axes[1, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", fontsize=8)
    return figure


def moving(outcome: Outcome, points: slice) -> list[int]:
    """Observed components that vary along a part of the path."""
    along, course = outcome.along, outcome.problem.path
    known = along.law if along.truth is None else along.truth
    seen = np.flatnonzero(course.observed[points].any(axis=0))
    return [int(seen[place]) for place in distinct(known[points][:, seen])]


def _column(
    top: Axes, bottom: Axes, outcome: Outcome, segment: Segment, index: int, centres: np.ndarray
) -> None:
    """One component along the path of one experiment."""
    path, along, points = outcome.problem.path, outcome.along, segment.points
    x = path.coordinate[points]
    low, middle, high = quantiles(along.pushed[:, points, index], _BAND)
    top.fill_between(x, low, high, color="0.8", lw=0)
    label = f"95 % band of all {len(outcome.bands.parts)} laws"
    bottom.fill_between(x, low - middle, high - middle, color="0.85", lw=0, label=label)
    for number, stress in enumerate(centres):
        part = outcome.bands.parts[number]
        colour, dashes = COLOURS[number], _DASHES[number]
        top.plot(x, stress, color=colour, ls=dashes, lw=1.3)
        label = f"{100 * part.weight:.0f} %  {called(part.law)}"
        bottom.plot(x, stress - middle, color=colour, ls=dashes, lw=1.3, label=label)
    if along.truth is not None:
        bottom.plot(x, along.truth[points, index] - middle, "k--", lw=0.9, label="truth")
    sampled = path.sampled[points]
    focus(top, sampled, low, high, *centres)
    focus(bottom, sampled, low - middle, high - middle)
    title = path.components[index]
    several = len(path.segments) > 1
    top.set_title(f"{title}, {segment.experiment.replace('_', ' ')}" if several else title)
    bottom.set_xlabel(segment.label)
    for axis in (top, bottom):
        mark_range(axis, x, sampled)


def called(law: Law) -> str:
    """The name of a law, or those of its terms."""
    named = recognise(law)
    if named is not None and named.whole:
        return named.name
    placed = law.terms.placed(np.asarray(law.values))
    words = " + ".join(term.label(constants) for term, _, constants in placed)
    return words if len(words) <= _NAME else f"{words[: _NAME - 1]}…"
