"""Test R² against the penalty λ: a panel per way to sparsify, a line per noise.

With a small penalty nothing is sparse, with a large one nothing is left; between them lies the
corner, up to which R² costs nothing.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steinmetz import registry
from steinmetz.cache import Cache, ContentCache
from steinmetz.engine import lcurve
from steinmetz.paper import grids
from steinmetz.paper.arms import Frozen
from steinmetz.paper.plots import common
from steinmetz.paper.records import Curve, CurveRows, Outcome
from steinmetz.records import Report
from steinmetz.report.style import COLOURS

# R² below this is drawn as this: such a law says nothing, however bad it is.
_LEAST = -0.1


class Size(Frozen):
    """What is trained: noises, values of the penalty, restarts of each."""

    noises: tuple[float, ...]
    penalties: int
    restarts: int


class Options(grids.Options):
    """The penalties that are compared, and how much is trained at each scale."""

    methods: tuple[str, ...]
    sizes: dict[str, Size]


def measure(point: grids.Point, results: ContentCache, report: Report) -> CurveRows:
    """All networks of one seed.

    They depend on the study, on how much is trained, and on the range of penalties, which each way
    to sparsify declares.
    """
    options, study = point.grid.of(Options), point.study
    size = options.sizes[point.scale]

    def compute(cache: Cache) -> CurveRows:
        plan = lcurve.Plan(options.methods, size.noises, size.penalties, size.restarts)
        curve = lcurve.lcurve(study, plan, report, cache)
        return CurveRows(networks=curve.points, picks=curve.picks, full=curve.full)

    ranges = {method: registry.load("sparsify", method).RANGE for method in options.methods}
    content = {"study": study.content("assess"), "lcurve": size.model_dump(mode="json")}
    return results.get({**content, "ranges": ranges}, CurveRows, compute)


def draw(outcome: Outcome[CurveRows]) -> Figure:
    """The first seed; the circle is the penalty that is chosen."""
    rows = outcome.rows[0].result
    curves = rows.curves()
    methods = list(dict.fromkeys(curve.method for curve in curves))
    size = 3.1 * len(methods), 2.9
    figure, (axes,) = common.panels((1, len(methods)), size, sharey=True)
    for axis, method in zip(axes, methods, strict=True):
        same = [curve for curve in curves if curve.method == method]
        for colour, curve in zip(COLOURS, same, strict=False):
            picks = [p.penalty for p in rows.picks if (p.method, p.noise) == curve[:2]]
            _curve(axis, curve, picks, colour)
        axis.set_xscale("log")
        axis.set_title(method.upper(), fontsize=9)
        axis.set_xlabel("penalty λ in units of log(n)/n")
    lowest = min(float(np.nanmin(values)) for curve in curves for values in curve.r2)
    bottom, top = lowest - 0.05 * (1 - lowest), 1 + 0.03 * (1 - max(_LEAST, lowest))
    axes[0].set(ylim=(max(_LEAST, bottom), top), ylabel="test R²")
    axes[0].legend(fontsize=7, loc="lower left")
    return figure


def _curve(axis: Axes, curve: Curve, picks: list[float], colour: str) -> None:
    """Median and range over restarts; a circle at the penalty nearest to each pick."""
    x, median = curve.penalties, np.maximum(curve.median, _LEAST)
    low, high = np.array([(np.nanmin(values), np.nanmax(values)) for values in curve.r2]).T
    common.shade(axis, x, (np.maximum(low, _LEAST), high), (colour, 0.15))
    axis.plot(x, median, color=colour, label=f"{100 * curve.noise:g} % noise")
    for pick in picks:
        place = int(np.argmin(np.abs(x - pick)))
        axis.plot(x[place], median[place], "o", ms=7, mfc="none", mec=colour, mew=1.4)
