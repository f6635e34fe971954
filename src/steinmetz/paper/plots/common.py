"""What the figures of the reproduction share: panels, bands, borders, ticks and counts in words.

Colours of arms are declared with the arms (`arms.toml`), the style of all figures in
`report.style`.
"""

from collections.abc import Iterable
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

from steinmetz.paper.records import FitPoint
from steinmetz.report.style import COLOURS, distinct

# Whether panels share an axis: no, all of them, or those of a row or column.
Share = bool | Literal["row", "col"]
Edges = tuple[np.ndarray, np.ndarray]


def panels(
    shape: tuple[int, int], size: tuple[float, float], sharex: Share = False, sharey: Share = False
) -> tuple[Figure, np.ndarray]:
    """A figure of `size` inches, and its axes as an array of `shape` (rows, columns)."""
    figure = Figure(figsize=size, layout="constrained")
    rows, columns = shape
    axes = figure.subplots(rows, columns, sharex=sharex, sharey=sharey, squeeze=False)
    return figure, np.asarray(axes)


def shade(axis: Axes, x: np.ndarray, edges: Edges, look: tuple[str, float]) -> None:
    """A band between two edges; `look` is its colour and opacity."""
    axis.fill_between(x, *edges, color=look[0], alpha=look[1], lw=0)


def named(axis: Axes, title: str, x: str, y: str = "") -> None:
    """A small title, and what is on the axes."""
    axis.set_title(title, fontsize=8)
    axis.set(xlabel=x, ylabel=y)


def borders(axis: Axes, point: FitPoint) -> None:
    """Green lines where the sampled range ends; beyond is extrapolation.

    With ε = 0.2 the data of the paper lie in 0.8 ≤ F11 ≤ 1.2, not where it says (see the errata).
    """
    x, inside = point.coordinate, point.coordinate[point.sampled]
    for border in (inside.min(initial=np.inf), inside.max(initial=-np.inf)):
        if x.min() < border < x.max():
            axis.axvline(border, color=COLOURS[2], lw=0.9, alpha=0.8, zorder=0)


def plain_ticks(*axes: Axis) -> None:
    """1, 2, 5, 10 … along logarithmic axes that span little.

    By default such an axis may show a single tick, or powers like 6 × 10⁻².
    """
    for axis in axes:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FormatStrFormatter("%g"))
        axis.set_minor_formatter(NullFormatter())


def shown(point: FitPoint) -> list[int]:
    """Indices of the components that vary along the path; of equal ones (S22 = S33) the first."""
    return distinct(point.truth)


def every(count: int, wanted: int) -> slice:
    """About so many of a count, evenly spaced: more dots would hide the lines."""
    return slice(None, None, max(1, count // wanted))


def span(counts: Iterable[int]) -> str:
    """4–7, or 4 where all are the same."""
    ordered = sorted(counts)
    return "–".join(dict.fromkeys((f"{ordered[0]}", f"{ordered[-1]}")))
