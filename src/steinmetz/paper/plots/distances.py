"""W1 along the path, method by method: a row per reading, a panel per kind of data; and W1 against seconds."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from steinmetz.paper import claims
from steinmetz.paper.plots.common import LOOKS, READINGS, borders, of_kind, plain_ticks, readings
from steinmetz.paper.reproduce import Outcome, Row

_CHAINS = 8


def draw(outcome: Outcome) -> Figure:
    """Mean over seeds, with their range as a band."""
    rows = [row for row in outcome.rows if row.value is None]
    timed = [row for row in outcome.rows if row.value is not None]
    panels, every = outcome.grid.options["panels"], readings(outcome)
    lines = len(every) + bool(timed)
    figure = Figure(figsize=(7.4, 2.6 * lines + 0.4), layout="constrained")
    axes = figure.subplots(lines, len(panels), squeeze=False)
    for line, reading in enumerate(every):
        for column, (name, kind, title) in enumerate(panels):
            axis = axes[line, column]
            _curves(axis, [row for row in rows if row.reading == reading], name, kind)
            axis.set_title(f"{title}, {READINGS[reading]}", fontsize=8)
            axis.set_ylabel("Wasserstein-1")
            borders(axis, rows[0])
            axis.set_xlabel(rows[0].found.facts["label"])
    if timed:
        _against_time(axes[-1], timed)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=7)
    return figure


def _curves(axis: Any, rows: list[Row], name: str, kind: str) -> None:
    for arm in dict.fromkeys(row.arm for row in rows):
        colour, style = LOOKS[arm]
        same = [row for row in rows if row.arm == arm]
        values = np.stack([of_kind(row, name, kind) for row in same])
        x, floor = same[0].found.arrays["coordinate"], 1e-5
        active = sorted({row.found.facts["active"] for row in same})
        count = f"{active[0]}" if len(active) == 1 else f"{active[0]}–{active[-1]}"
        particles = same[0].found.facts["inference"]["particles"]
        axis.fill_between(
            x, np.maximum(values.min(axis=0), floor), np.maximum(values.max(axis=0), floor), color=colour, alpha=0.12,
            lw=0,
        )  # fmt: skip
        word = "chain" if particles == 1 else "chains" if particles < _CHAINS else "particles"
        label = f"{arm} ({count} parameters, {particles} {word})"
        axis.plot(
            x, np.maximum(values.mean(axis=0), floor), ls=style, color=colour, lw=1.3, label=label
        )
    axis.set_yscale("log")
    top = max(float(of_kind(row, name, kind).max()) for row in rows)
    axis.set_ylim(max(top * 1e-5, 1e-4), 1.5 * top)


def _against_time(axes: Any, rows: list[Row]) -> None:
    """The same samplers stopped early: W1 to the long NUTS run (left) and to the noisy data (right)."""
    for axis, name, title in (
        (axes[0], "w1_reference", "to the long NUTS run, at equal time"),
        (axes[1], "w1_noisy", "to the noisy data, at equal time"),
    ):
        for arm in dict.fromkeys(row.arm for row in rows):
            colour, style = LOOKS[arm]
            same = [row for row in rows if row.arm == arm]
            lengths = sorted({row.value for row in same if row.value is not None})
            x = [
                np.mean([seconds(row) for row in same if row.value == length]) for length in lengths
            ]
            y = [
                np.mean(
                    [claims.score(row, f"{name}.all.path") for row in same if row.value == length]
                )
                for length in lengths
            ]
            axis.plot(x, y, ls=style, marker="o", ms=3, color=colour)
        axis.set_xscale("log")
        axis.set_yscale("log")
        plain_ticks(axis.xaxis)
        plain_ticks(axis.yaxis)
        axis.set_xlabel("seconds of sampling, without compilation")
        axis.set_ylabel("Wasserstein-1, mean")
        axis.set_title(f"{title}, proper posterior", fontsize=8)


def seconds(row: Row) -> float:
    """Sampling without compilation."""
    spent = row.found.facts["seconds"]
    return max(float(spent["infer"] - spent["infer_compile"]), 1e-3)
