"""MAP laws along the path: a column per penalty, Ψ above, the observed components by kind, the closed form below."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from steinmetz.paper.plots.common import borders, shown
from steinmetz.paper.reproduce import Outcome, Row
from steinmetz.report.style import COLOURS

_NAMES = {"S": "stress S", "mu": "chemical potential μ"}
_LINE, _MOST = 150, 6


def draw(outcome: Outcome) -> Figure:
    """The first seed; the page has all of them."""
    rows = [row for row in outcome.rows if row.seed == 0]
    kinds = list(dict.fromkeys(_kind(rows[0], index) for index in shown(rows[0])))
    text = _typeset(rows[0])
    figure = Figure(
        figsize=(3.1 * len(rows), 2.3 * (1 + len(kinds)) + 0.2 * (1 + text.count("\n"))),
        layout="constrained",
    )
    axes = figure.subplots(1 + len(kinds), len(rows), sharex=True, sharey="row", squeeze=False)
    for column, row in enumerate(rows):
        a, facts = row.found.arrays, row.found.facts
        count = facts["active"] if facts["active"] < facts["full"] else facts["nonzero"]
        top = axes[0, column]
        top.set_title(f"{row.arm}: {count} of {facts['full']} parameters", fontsize=9)
        top.plot(
            a["coordinate"],
            a["law_energy"],
            color=COLOURS[0],
            label=f"law, R² {facts['r2']['energy']:.4f}",
        )
        top.plot(a["coordinate"], a["truth_energy"], "k--", lw=1, label="truth (never observed)")
        for line, kind in enumerate(kinds):
            _observed(axes[1 + line, column], row, kind)
        for axis in axes[:, column]:
            borders(axis, row)
            axis.legend(fontsize=6.5, loc="best")
        axes[-1, column].set_xlabel(facts["label"])
    for axis, label in zip(
        axes[:, 0], ("energy Ψ", *(_NAMES.get(kind, kind) for kind in kinds)), strict=True
    ):
        axis.set_ylabel(label)
    if text:
        figure.supxlabel(text, fontsize=7.5)
    return figure


def _kind(row: Row, index: int) -> str:
    return str(row.found.facts["components"][index]).rstrip("0123456789")


def _observed(axis: Any, row: Row, kind: str) -> None:
    a, facts = row.found.arrays, row.found.facts
    every = max(1, len(a["coordinate"]) // 100)
    for colour, index in zip(
        COLOURS, (i for i in shown(row) if _kind(row, i) == kind), strict=False
    ):
        name = facts["components"][index]
        r2 = 1 - np.sum((a["law"][:, index] - a["truth"][:, index]) ** 2) / np.sum(
            (a["truth"][:, index] - a["truth"][:, index].mean()) ** 2
        )
        axis.plot(
            a["coordinate"][::every], a["noisy"][::every, index], ".", ms=2, color=colour, alpha=0.5
        )
        axis.plot(a["coordinate"], a["truth"][:, index], "k--", lw=0.8)
        axis.plot(a["coordinate"], a["law"][:, index], color=colour, label=f"{name}, R² {r2:.4f}")


def _typeset(row: Row) -> str:
    """The closed form of the first law, broken where a sum goes on; nothing where it would fill the page."""
    latex = row.found.facts.get("latex")
    if latex is None:
        return ""
    plain = latex.replace(r"\left", "").replace(r"\right", "").replace(r"\hat{\Psi}", r"\hat\Psi")
    lines, depth = [""], 0
    for piece in _pieces(plain):
        depth += piece.count("(") + piece.count("{") - piece.count(")") - piece.count("}")
        if len(lines[-1]) > _LINE and depth <= 0 and piece.strip() and piece.strip()[0] in "+-":
            lines.append("")
        lines[-1] += piece
    if len(lines) > _MOST or max(map(len, lines)) > 3 * _LINE:
        return f"{row.arm}: {row.found.facts['active']} parameters (the closed form is on the page)"
    return f"{row.arm}: " + "\n".join(f"${line.strip()}$" for line in lines)


def _pieces(text: str) -> list[str]:
    """The text cut before every sign that is no exponent's."""
    found, last = [], 0
    for place, letter in enumerate(text):
        if letter in "+-" and place and text[place - 1] == " ":
            found.append(text[last:place])
            last = place
    return [*found, text[last:]]
