"""Seconds of the methods beside the paper's: a panel per problem.

Nothing is computed for this figure: it looks at points of its sources. Seconds are those of the
process that did the work, on this machine; the paper's are of a graphics card.
"""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steinmetz.paper import convergence, grids, points
from steinmetz.paper.arms import Frozen
from steinmetz.paper.plots import common
from steinmetz.paper.records import Details, Outcome, SampledPoint, Table, grouped
from steinmetz.report.style import COLOURS

_HEAD = (
    "seconds here", "of them compiling", "peak memory", "particles", "steps", "parameters",
    "paper's seconds", "paper's particles", "paper's steps", "paper's parameters", "ratio", "state",
)  # fmt: skip
_NOTE = (
    "Carving and inference together, mean over seeds, proper reading; memory in GB, the most the "
    "process held at once. A ratio to the paper's seconds is given only where particles and steps "
    "are the paper's; where the paper does not say them there is none."
)

_LEGEND = "paper, RTX A6000, steps not said", "here, processor (light: not converged)"

measure = points.sampled


class Printed(Frozen):
    """What the paper prints of a method; None where it does not say."""

    seconds: int
    parameters: int
    particles: int | None = None
    steps: int | None = None


class Options(grids.Options):
    """The paper's table: figure whose points are looked at → arm → what is printed."""

    paper: dict[str, dict[str, Printed]]


class Cost(NamedTuple):
    """One arm: what the paper prints of it, if anything, and what was measured here.

    `seconds` and `compiling`, which is part of them, are means over seeds; `counts` is the range of
    the number of parameters, `particles` and `steps` those of the largest run.
    """

    arm: str
    printed: Printed | None
    seconds: float
    compiling: float
    memory: float
    particles: int
    steps: int
    counts: str
    state: str

    @property
    def ratio(self) -> float | None:
        """The paper's seconds over ours, only for the same amount of work."""
        paper = self.printed
        if paper is None or (paper.particles, paper.steps) != (self.particles, self.steps):
            return None
        return paper.seconds / self.seconds


def costs(outcome: Outcome[SampledPoint]) -> dict[str, list[Cost]]:
    """Every arm of each source, under the name of its study."""
    printed = outcome.grid.of(Options).paper
    table: dict[str, list[Cost]] = {}
    for source, rows in grouped(outcome.rows, lambda row: row.grid).items():
        by_arm = grouped(rows, lambda row: row.arm)
        costs = table.setdefault(grids.load(source).study, [])
        for arm in outcome.grid.arms:
            same = [row.result for row in by_arm[arm]]
            costs.append(_cost(arm, printed[source].get(arm), same))
    return table


def _cost(arm: str, printed: Printed | None, same: list[SampledPoint]) -> Cost:
    """One arm over all its seeds."""
    runs, spent = [point.inference for point in same], [point.spent for point in same]
    return Cost(
        arm, printed, seconds=float(np.mean([point.seconds for point in same])),
        compiling=float(np.mean([each.carve_compile + each.infer_compile for each in spent])),
        memory=max(max(each.carve_memory, each.infer_memory) for each in spent),
        particles=max(run.particles for run in runs), steps=max(run.steps for run in runs),
        counts=common.span(point.active for point in same), state=convergence.health(same).state,
    )  # fmt: skip


def draw(outcome: Outcome[SampledPoint]) -> Figure:
    """Bars of the mean over seeds, on a logarithmic scale."""
    table = costs(outcome)
    figure, (axes,) = common.panels((1, len(table)), (3.9 * len(table), 3.4), sharex=True)
    for axis, (title, arms) in zip(axes, table.items(), strict=True):
        _panel(axis, arms)
        axis.set_title(title, fontsize=9)
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, fontsize=7, loc="outside lower center", ncols=2)
    return figure


def _panel(axis: Axes, arms: list[Cost]) -> None:
    """A bar per arm with its seconds, beside the paper's where it has one."""
    for y, cost in enumerate(arms):
        paper, ours = _LEGEND if y == 0 else ("", "")
        colour = COLOURS[0] if cost.state != "not converged" else "0.8"
        axis.barh(y + 0.2, cost.seconds, 0.38, color=colour, label=ours)
        ratio = "" if cost.ratio is None else f": {cost.ratio:.0f}×"
        text = f"{cost.seconds:.0f} s{ratio}"
        axis.text(cost.seconds * 1.15, y + 0.2, text, va="center", fontsize=7)
        if cost.printed is not None:
            seconds = cost.printed.seconds
            axis.barh(y - 0.2, seconds, 0.38, color="0.6", hatch="//", label=paper)
            axis.text(seconds * 1.15, y - 0.2, f"{seconds:,} s", va="center", fontsize=7)
    names = [f"{cost.arm}\n{cost.particles} × {cost.steps} steps" for cost in arms]
    axis.set_yticks(range(len(arms)), names, fontsize=7)
    axis.invert_yaxis()
    axis.set(xscale="log", xlim=(1, 3e6), xlabel="seconds of optimisation and inference")


def details(outcome: Outcome[SampledPoint]) -> Details:
    """The table of all sources and arms."""
    lines: list[list[str | int]] = []
    for title, arms in costs(outcome).items():
        for cost in arms:
            paper, ratio = cost.printed, cost.ratio
            theirs: tuple[int | None, ...] = (None,) * 4
            if paper is not None:
                theirs = paper.seconds, paper.particles, paper.steps, paper.parameters
            lines.append([
                f"{title}, {cost.arm}", f"{cost.seconds:.1f}", f"{cost.compiling:.1f}",
                f"{cost.memory:.2f}", cost.particles, cost.steps, cost.counts,
                *("–" if value is None else f"{value:,}" for value in theirs),
                "–" if ratio is None else f"{ratio:.0f}×", cost.state,
            ])  # fmt: skip
    return Details(tables=[Table(["", *_HEAD], lines, _NOTE)])
