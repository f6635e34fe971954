"""Write an L-curve: a table of all points, the choices with their reasons, and a figure."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from steinmetz.engine.lcurve import LCurve, Point
from steinmetz.report.files import check_target, write
from steinmetz.report.style import COLOURS, STYLE
from steinmetz.report.whole import whole
from steinmetz.studies.study import to_toml

MARKER = "lcurve.json"
_LINES = ("-", "--", ":", "-.")


def save(curve: LCurve, folder: str | Path) -> dict[str, Any]:
    """`lcurve.csv`, `lcurve.json`, `lcurve.png` and `study.toml`.

    Returns what is in the JSON file.
    """
    folder = Path(folder).absolute()
    check_target(folder, MARKER)
    summary = {
        "study": curve.study.name,
        "seed": curve.study.seed,
        "full": curve.full,
        "networks": len(curve.points),
        "picks": [pick._asdict() for pick in curve.picks],
    }
    folder.parent.mkdir(parents=True, exist_ok=True)
    with whole(folder) as work:
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(Point._fields)
        rows.writerows(curve.points)
        write(work / "lcurve.csv", text.getvalue().rstrip("\n"))
        with matplotlib.rc_context(STYLE):
            draw(curve).savefig(work / "lcurve.png")
        write(work / "study.toml", to_toml(curve.study))
        write(work / MARKER, json.dumps(summary, indent=2, allow_nan=False))
    return summary


def draw(curve: LCurve) -> Figure:
    """Columns: against λ and against the weights left. Rows: test R² and loss.

    Line: median over restarts.
    """
    figure = Figure(figsize=(8.4, 6.0), layout="constrained")
    axes = figure.subplots(2, 2, sharey="row")
    for (method, noise), points, colour, line in _curves(curve):
        label = f"{method.upper()}, {100 * noise:g} % noise"
        penalties = sorted({point.penalty for point in points})
        groups = [[p for p in points if p.penalty == penalty] for penalty in penalties]
        for axis, x in (
            (axes[0, 0], [p.penalty for p in points]),
            (axes[0, 1], [max(1, p.nonzero) for p in points]),
        ):
            axis.plot(x, [_unexplained(p) for p in points], ".", ms=2.5, color=colour, alpha=0.35)
        r2 = [np.nanmedian([_unexplained(p) for p in group]) for group in groups]
        loss = [np.median([p.loss for p in group]) for group in groups]
        count = [max(1.0, float(np.median([p.nonzero for p in group]))) for group in groups]
        for column, x in enumerate((penalties, count)):
            for row, y in enumerate((r2, loss)):
                axes[row, column].plot(x, y, line, color=colour, lw=1.3, label=label)
        for pick in (p for p in curve.picks if (p.method, p.noise) == (method, noise)):
            index = penalties.index(pick.penalty)
            axes[0, 0].plot(pick.penalty, r2[index], "o", ms=8, mfc="none", mec=colour, mew=1.5)
    for axis in axes.ravel():
        axis.set_xscale("log")
        axis.set_yscale("log")
    axes[0, 0].set_ylabel("1 − R² on fresh states")
    axes[1, 0].set_ylabel("loss χ²/n")
    axes[1, 0].set_xlabel("penalty λ, in units of log(n)/n (circle: chosen)")
    axes[1, 1].set_xlabel("weights that are not zero")
    axes[0, 1].legend(fontsize=7)
    return figure


def _unexplained(point: Point) -> float:
    """1 − R²; NaN where there is no score."""
    return float("nan") if point.r2 is None else max(1 - point.r2, 1e-12)


def _curves(curve: LCurve) -> list[tuple[tuple[str, float], list[Point], str, str]]:
    """Points of every penalty and noise, with a colour per penalty and a line style per noise."""
    methods = list(dict.fromkeys(point.method for point in curve.points))
    noises = list(dict.fromkeys(point.noise for point in curve.points))
    curves = []
    for method in methods:
        for noise in noises:
            points = [
                p
                for p in curve.points
                if (p.method, p.noise) == (method, noise) and np.isfinite(p.loss)
            ]
            colour = COLOURS[methods.index(method) % len(COLOURS)]
            if points:
                curves.append(
                    ((method, noise), points, colour, _LINES[noises.index(noise) % len(_LINES)])
                )
    return curves


def screen(curve: LCurve, folder: Path) -> str:
    """What was chosen and why, and where the files are."""
    lines = ["", f"  {'name':<4} {'noise':>6}  {'λ':>8}  {'weights':>7}  {'median R²':>9}  reason"]
    for pick in curve.picks:
        alike = [
            p
            for p in curve.points
            if (p.method, p.noise, p.penalty) == (pick.method, pick.noise, pick.penalty)
        ]
        scores = [point.r2 for point in alike if point.r2 is not None]
        middle = f"{np.median(scores):.4f}" if scores else "–"
        head = f"  {pick.method:<4} {100 * pick.noise:>5g}%  {pick.penalty:>8.3g}"
        lines.append(f"{head}  {pick.nonzero:>7}  {middle:>9}  {pick.reason}")
    first = curve.picks[0] if curve.picks else None
    lines += [
        "",
        f"  picture     {folder / 'lcurve.png'}",
        f"  points      {folder / 'lcurve.csv'}",
    ]
    if first is not None:
        lines.append(
            f"  to use it   --set potential.name={curve.study.potential.name} "
            f"--set sparsify.method={first.method} --set sparsify.penalties=1 "
            f"--set sparsify.penalty=[{first.penalty:.4g},{first.penalty:.4g}]"
        )
    return "\n".join(lines)
