"""Laws along the path: a column per penalty, Ψ above, observed components below.

Ψ is never observed; only its slopes are, through the stress. Under the figure stands the closed
form of the first law, where it can be typeset.
"""

from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steinmetz.assess.measures import r2_per_component
from steinmetz.paper import grids, points
from steinmetz.paper.plots import common
from steinmetz.paper.records import Details, FitPoint, Outcome, Row, Table
from steinmetz.paper.scores import R2_PARTS, component_kind
from steinmetz.report.style import COLOURS

_LABELS = {"S": "stress S", "mu": "chemical potential μ"}
# About so many noisy data are drawn.
_DOTS = 100
# Letters of LaTeX after which a closed form is broken at the next sign.
_LINE = 150
# Lines of the longest closed form that is typeset under the figure.
_MOST_LINES = 6
# Parameters of the longest law whose closed form is printed on the page.
_PRINTED = 40
_HEAD = (
    "weights", "not zero", "parameters", "paper", "R² path", "in range", "extrapolated", "test",
    "Ψ on path",
)  # fmt: skip
_NOTE = (
    "R² against the clean truth; test and components: 2000 fresh states of the sampled domain. "
    "Not zero: weights after training; parameters: of the law that predicts, after pruning and "
    "refit (L2 keeps its network)."
)

measure = points.fitted


class Options(grids.Options):
    """How many parameters the paper has, by arm."""

    paper: dict[str, int]


def draw(outcome: Outcome[FitPoint]) -> Figure:
    """The first seed; the page has all of them."""
    rows = outcome.first
    first = rows[0].result
    kinds = list(dict.fromkeys(component_kind(first.components[i]) for i in common.shown(first)))
    text, lines = _typeset(rows[0]), 1 + len(kinds)
    size = 3.1 * len(rows), 2.3 * lines + 0.2 * (1 + text.count("\n"))
    figure, axes = common.panels((lines, len(rows)), size, sharex=True, sharey="row")
    for column, row in zip(axes.T, rows, strict=True):
        _column(column, row, kinds)
    for axis, label in zip(axes[:, 0], ("energy Ψ", *kinds), strict=True):
        axis.set_ylabel(_LABELS.get(label, label))
    if text:
        figure.supxlabel(text, fontsize=7.5)
    return figure


def _column(axes: np.ndarray, row: Row[FitPoint], kinds: list[str]) -> None:
    """One law: Ψ, and below it a panel per kind of component."""
    point, top = row.result, axes[0]
    top.set_title(f"{row.arm}: {point.count} of {point.full} parameters", fontsize=9)
    label = f"law, R² {point.r2['energy']:.4f}"
    top.plot(point.coordinate, point.energy, color=COLOURS[0], label=label)
    top.plot(point.coordinate, point.truth_energy, "k--", lw=1, label="truth (never observed)")
    for axis, kind in zip(axes[1:], kinds, strict=True):
        _observed(axis, point, kind)
    for axis in axes:
        common.borders(axis, point)
        axis.legend(fontsize=6.5, loc="best")
    axes[-1].set_xlabel(point.label)


def _observed(axis: Axes, point: FitPoint, kind: str) -> None:
    """Law, truth and noisy data of the components of a kind."""
    x, dots = point.coordinate, common.every(len(point.coordinate), _DOTS)
    r2 = r2_per_component(point.predicted, point.truth, point.components)
    chosen = [i for i in common.shown(point) if component_kind(point.components[i]) == kind]
    for colour, index in zip(COLOURS, chosen, strict=False):
        label = f"{point.components[index]}, R² {r2[point.components[index]]:.4f}"
        axis.plot(x[dots], point.noisy[dots, index], ".", ms=2, color=colour, alpha=0.5)
        axis.plot(x, point.truth[:, index], "k--", lw=0.8)
        axis.plot(x, point.predicted[:, index], color=colour, label=label)


def _typeset(row: Row[FitPoint]) -> str:
    """The closed form, broken where a sum goes on; a few words where it would fill the page.

    Lines are broken outside of all brackets only, because each is typeset on its own.
    """
    latex = row.result.latex
    if latex is None:
        return ""
    plain = latex.replace(r"\left", "").replace(r"\right", "").replace(r"\hat{\Psi}", r"\hat\Psi")
    lines, depth = [""], 0
    for term in _terms(plain):
        if len(lines[-1]) > _LINE and depth == 0 and term.startswith(("+", "-")):
            lines.append("")
        lines[-1] += term
        depth += term.count("(") + term.count("{") - term.count(")") - term.count("}")
    if len(lines) > _MOST_LINES or max(map(len, lines)) > 3 * _LINE:
        return f"{row.arm}: {row.result.active} parameters (the closed form is on the page)"
    return f"{row.arm}: " + "\n".join(f"${line.strip()}$" for line in lines)


def _terms(text: str) -> list[str]:
    """The text cut before every sign that is no exponent's."""
    signs = [i for i, letter in enumerate(text) if letter in "+-" and i and text[i - 1] == " "]
    return [text[a:b] for a, b in pairwise((0, *signs, len(text)))]


def details(outcome: Outcome[FitPoint]) -> Details:
    """Closed forms of the first seed where they can be read, and the table of all seeds.

    Counts are of weights in the network, of weights left by training, of parameters in the law that
    predicts, and the paper's.
    """
    short = [row for row in outcome.first if row.result.active <= _PRINTED]
    laws = [f"{row.arm}: {row.result.closed_form}" for row in short]
    names = list(outcome.rows[0].result.r2_components)
    paper = outcome.grid.of(Options).paper
    lines: list[list[str | int]] = []
    for row in outcome.rows:
        point = row.result
        counts = point.full, point.nonzero, point.active, paper[row.arm]
        r2 = [point.r2[part] for part in R2_PARTS]
        r2 += [point.r2_components.get(name) for name in names]
        digits = ["–" if value is None else f"{value:.4f}" for value in r2]
        seconds = f"{point.spent.carve:.0f}"
        lines.append([f"{row.arm}, seed {row.seed}", *counts, *digits, seconds])
    return Details(laws, [Table(["", *_HEAD, *names, "seconds"], lines, _NOTE)])
