"""Laws of several runs over each other, wherever they share a test."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import matplotlib
import numpy as np
import xarray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steinmetz.experiments import base as experiments
from steinmetz.report.style import COLOURS, STYLE, distinct, focus
from steinmetz.report.summary import Summary
from steinmetz.studies.study import Study

Panel = tuple[str, str]
"""An experiment and a component."""


Data = tuple[tuple[str, ...], np.ndarray, np.ndarray, np.ndarray]
"""Components, states, stresses and their deviations, as fitted."""


class Entry(NamedTuple):
    """A run with what is compared of it: numbers, settings, fitted data and the law on its path."""

    name: str
    summary: Summary
    study: Study
    data: Data
    path: xarray.Dataset


def shared(entries: Sequence[Entry]) -> list[Panel]:
    """Tests and components that at least two runs have, in the order in which they occur.

    A run in another unit than the first has nothing to share.
    """
    alike = [each for each in entries if each.summary.data.unit == entries[0].summary.data.unit]
    every = [panel for each in alike for panel in _panels(each)]
    return [panel for panel in dict.fromkeys(every) if every.count(panel) > 1]


def _panels(each: Entry) -> list[Panel]:
    """Components that vary in every test of a run."""
    found = []
    for test in dict.fromkeys(map(str, each.path["experiment"].values)):
        points = each.path["experiment"].values == test
        names = each.path["component"].values
        seen = np.flatnonzero(each.path["observed"].values[points].any(axis=0))
        moving = seen[distinct(each.path["law"].values[points][:, seen])]
        found += [(test, str(names[index])) for index in moving]
    return found


def figure(entries: Sequence[Entry]) -> Figure:
    """A panel per component of every shared test; none where runs share no test."""
    panels = shared(entries)
    columns = min(3, max(len(panels), 1))
    lines = -(-max(len(panels), 1) // columns)
    with matplotlib.rc_context(STYLE):
        made = Figure(figsize=(3.8 * columns + 0.6, 3.2 * lines + 0.6), layout="constrained")
        axes = made.subplots(lines, columns, squeeze=False).ravel()
        for axis, panel in itertools.zip_longest(axes, panels):
            if panel is None:
                axis.set_axis_off()
            else:
                _draw(axis, entries, panel)
    return made


def _draw(axis: Axes, entries: Sequence[Entry], panel: Panel) -> None:
    """The law of every run that has this test, with its 95 % band."""
    (test, component), unit = panel, entries[0].summary.data.unit
    for number, each in enumerate(entries):
        if each.summary.data.unit != unit or panel not in _panels(each):
            continue
        points = each.path["experiment"].values == test
        part = each.path.isel(point=points).sel(component=component)
        x, colour = _coordinate(part), COLOURS[number % len(COLOURS)]
        low, high = (part["push_forward"].sel(quantile=q).values for q in (0.025, 0.975))
        axis.fill_between(x, low, high, color=colour, alpha=0.2, lw=0)
        axis.plot(x, part["law"].values, color=colour, label=each.name)
        if number == 0:
            focus(axis, part["sampled"].values.astype(bool), low, high, part["law"].values)
    axis.set_title(f"{component}, {test.replace('_', ' ')}", fontsize=9)
    axis.set_xlabel(experiments.build(experiments.load(test).Config(name=test)).columns[0])
    axis.set_ylabel(f"stress ({unit})" if unit else "stress")
    axis.legend(fontsize=7)


def _coordinate(part: xarray.Dataset) -> np.ndarray:
    """What a path is drawn over: its only coordinate that is a number per point."""
    known = ("experiment", "component", "quantile")
    name = next(str(n) for n in part.coords if n not in known)
    return np.asarray(part[name].values)
