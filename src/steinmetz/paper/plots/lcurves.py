"""Test R² against the penalty λ: a panel per way to sparsify, a line per noise.

With a small penalty nothing is sparse, with a large one nothing is left; between them lies the
corner, up to which R² costs nothing.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steinmetz.cache import Cache, ContentCache
from steinmetz.engine import lcurve
from steinmetz.engine.clock import Clock
from steinmetz.paper import grids
from steinmetz.paper.arms import Frozen
from steinmetz.paper.curves import Curve, CurveRows
from steinmetz.paper.findings import CORNER, corner
from steinmetz.paper.memory import peak
from steinmetz.paper.plots import common
from steinmetz.paper.records import Details, Outcome, Table, grouped
from steinmetz.records import Report
from steinmetz.report.style import COLOURS

# R² below this is drawn as this: the corner is what is looked for, not how bad a law can be.
_LEAST = 0.5
_NOTE = (
    f"The corner is the largest penalty at which the median R² over restarts is within {CORNER:g} "
    "of the best of its curve. λ in units of log(n)/n."
)


class Size(Frozen):
    """What is trained: noises, values of the penalty, restarts of each."""

    noises: tuple[float, ...]
    penalties: int
    restarts: int


class Options(grids.Options):
    """The penalties that are compared, first and last λ of each, and how much is trained."""

    methods: tuple[str, ...]
    ranges: dict[str, tuple[float, float]]
    sizes: dict[str, Size]


def measure(point: grids.Point, results: ContentCache, report: Report) -> CurveRows:
    """All networks of one seed and one kind of noise.

    They depend on the study, on how much is trained, and on the range of penalties.
    """
    options, study = point.grid.of(Options), point.study
    size, additive = options.sizes[point.scale], point.arm == "additive"

    def compute(cache: Cache) -> CurveRows:
        sizes = size.noises, size.penalties, size.restarts
        plan = lcurve.Plan(options.methods, *sizes, additive=additive, ranges=options.ranges)
        clock = Clock()
        with peak() as memory:
            curve = lcurve.lcurve(study, plan, report, cache)
        cost = {"seconds": clock.seconds()["total"], "memory": memory.gigabytes}
        return CurveRows(networks=curve.points, picks=curve.picks, full=curve.full, **cost)

    sizes = {"lcurve": size.model_dump(mode="json"), "ranges": options.ranges}
    content = {"study": study.content("assess"), "additive": additive, **sizes}
    return results.get(content, CurveRows, compute)


def draw(outcome: Outcome[CurveRows]) -> Figure:
    """A row per kind of noise, a panel per penalty, a line per noise: all seeds."""
    cases = grouped(outcome.rows, lambda row: row.arm)
    methods = list(outcome.rows[0].result.by_method())
    size = 3.1 * len(methods), 2.7 * len(cases) + 0.2
    figure, axes = common.panels((len(cases), len(methods)), size, sharex="col", sharey=True)
    for line, (case, rows) in zip(axes, cases.items(), strict=True):
        for axis, method in zip(line, methods, strict=True):
            _panel(axis, [row.result.by_method()[method] for row in rows])
            axis.set_title(f"{method}, {case} noise", fontsize=9)
        line[0].set_ylabel("test R²")
    for axis in axes[-1]:
        axis.set_xlabel("penalty λ in units of log(n)/n")
    axes[0, 0].set_ylim(_LEAST, 1 + 0.03 * (1 - _LEAST))
    axes[0, 0].legend(fontsize=7, loc="lower left")
    return figure


def _panel(axis: Axes, seeds: list[list[Curve]]) -> None:
    """Curves of one penalty: the median over seeds of their medians, their range as a band.

    Triangles are the corners of the seeds, at the height of the line.
    """
    for colour, same in zip(COLOURS, zip(*seeds, strict=True), strict=False):
        x, noise = same[0].penalties, 100 * same[0].noise
        every = np.maximum([curve.median for curve in same], _LEAST)
        middle = np.median(every, axis=0)
        common.shade(axis, x, (every.min(axis=0), every.max(axis=0)), (colour, 0.15))
        axis.plot(x, middle, ".-", ms=3, lw=1.1, color=colour, label=f"{noise:g} % noise")
        corners = [corner(curve) for curve in same]
        axis.plot(corners, np.interp(corners, x, middle), "v", ms=5, color=colour, alpha=0.8)
    axis.set_xscale("log")


def details(outcome: Outcome[CurveRows]) -> Details:
    """Corners of all seeds, and R² at the ends."""
    lines: list[list[str | int]] = []
    for case, rows in grouped(outcome.rows, lambda row: row.arm).items():
        for method in rows[0].result.by_method():
            seeds = [row.result.by_method()[method] for row in rows]
            for same in zip(*seeds, strict=True):
                corners = ", ".join(f"{corner(curve):.3g}" for curve in same)
                best = ", ".join(f"{np.nanmax(curve.median):.4f}" for curve in same)
                last = ", ".join(f"{curve.median[-1]:.3f}" for curve in same)
                name = f"{method}, {case} noise of {100 * same[0].noise:g} %"
                lines.append([name, corners, best, last])
    head = ["", "corner λ by seed", "best R² by seed", "R² at the largest λ"]
    return Details(tables=[Table(head, lines, _NOTE)])
