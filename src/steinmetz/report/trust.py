"""A figure of where a law can be trusted: the plane of two stretches (`engine.trust`)."""

import numpy as np
from jaxtyping import Float
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from steinmetz.engine.outcome import Outcome
from steinmetz.engine.trust import KNOWN, Map
from steinmetz.report.style import COLOURS

# Widths between which shading changes, and those that are drawn as lines.
_SHADES, _LINES = (0.01, 10.0), (KNOWN, 1.0)
# Share of laws behind the band from which on a loss of stability is drawn.
_SOME = 0.05
# What is lost: colour, and hatching where the law itself has lost it.
_LOST = {"stability (Drucker)": ("#B00020", "////"), "ellipticity": ("black", "xxxx")}
_MARKS = "os^Dv*"
# Ticks where stretches go further than this ratio; evenly spaced ones where they do not.
_TICKS, _WIDE = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0), 4.0

Field = Float[np.ndarray, "side side"]


def trust(outcome: Outcome) -> Figure:
    """Shading: the band; points: data; hatched: the law is not stable; dashed: some laws are."""
    found = outcome.trust
    assert found is not None
    figure = Figure(figsize=(6.4, 5.2), layout="constrained")
    axis = figure.subplots()
    width = np.clip(found.width, *_SHADES)
    shades = axis.pcolormesh(
        found.axis, found.axis, width, norm=LogNorm(*_SHADES), cmap="YlGnBu", shading="nearest"
    )
    bar = figure.colorbar(shades, ax=axis, extend="both")
    bar.set_label("width of the 95 % band over the stress")
    lines = axis.contour(
        found.axis, found.axis, width, levels=_LINES, colors=("0.25", "white"), linewidths=1.2
    )
    axis.clabel(lines, fmt="%g", fontsize=8)
    handles: list[Artist] = [*_lost(axis, found), *_data(axis, found)]
    _axes(axis, found)
    if found.incompressible:
        axis.legend(handles=handles, loc="upper left", fontsize=8)
    else:
        axis.legend(handles=handles, loc="best", fontsize=8, frameon=True)
    return figure


def _data(axis: Axes, found: Map) -> list[Line2D]:
    """The states of the data, by test."""
    handles = []
    for number, (name, states) in enumerate(found.measured.items()):
        colour = COLOURS[(number + 1) % len(COLOURS)]
        mark = _MARKS[number % len(_MARKS)]
        label = f"data: {name.replace('_', ' ')}"
        handles += axis.plot(*states.T, mark, ms=4, color=colour, mec="white", mew=0.5, label=label)
    return handles


def _lost(axis: Axes, found: Map) -> list[Artist]:
    """Where the law, and where some of those behind the band, have lost stability."""
    handles: list[Artist] = []
    law = (found.stable, found.elliptic), (found.unstable, found.not_elliptic)
    for (name, (colour, hatch)), holds, share in zip(_LOST.items(), *law, strict=True):
        if np.nanmin(holds) < 1:
            broken = np.where(np.isnan(holds), 0.0, 1 - holds)
            axis.contourf(
                found.axis, found.axis, broken, levels=(0.5, 1.5), colors="none", hatches=[hatch]
            )
            axis.contour(found.axis, found.axis, broken, levels=(0.5,), colors=colour)
            handles.append(Patch(fc="none", ec=colour, hatch=hatch, label=f"law without {name}"))
        if np.nanmax(share) > _SOME:
            axis.contour(
                found.axis, found.axis, share, levels=(_SOME,), colors=colour, linestyles="--"
            )
            label = f"{100 * _SOME:.0f} % of laws without {name}"
            handles.append(Line2D([], [], color=colour, ls="--", label=label))
    return handles


def _axes(axis: Axes, found: Map) -> None:
    """Logarithmic axes with plain numbers."""
    names = ("λ1 ≥ λ2", "λ2") if found.incompressible else ("λ along", "λ across")
    axis.set(xscale="log", yscale="log", xlabel=names[0], ylabel=names[1])
    axis.set_xlim(found.axis[0], found.axis[-1])
    axis.set_ylim(found.axis[0], found.axis[-1])
    axis.set_aspect("equal")
    axis.grid(visible=False)
    low, high = float(found.axis[0]), float(found.axis[-1])
    ticks = _TICKS if high / low > _WIDE else MaxNLocator(6).tick_values(low, high)
    for each in (axis.xaxis, axis.yaxis):
        each.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
        each.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        each.set_minor_locator(NullLocator())
