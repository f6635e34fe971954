"""Judge what the paper claims by what was measured: every claim holds or does not, with figures.

A kind of check is a function of the check, the rows of one reading and the grid; see `_KINDS`. It
says what was measured also where the claim holds, in words that a reader can check in the tables.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from steinmetz.paper import records
from steinmetz.paper.grids import FigureCheck, Grid, ScoreCheck
from steinmetz.paper.plots.cost import Options as PaperCost
from steinmetz.paper.records import Outcome, Record, Row, grouped, numbers
from steinmetz.paper.scores import ScoreKey

# W1 at the reference counts as zero below this share of its largest value: the nearest point of the
# path need not be the reference itself.
_ZERO = 0.005
# R² this little below the best is as good: where more is lost, the L-curve rolls off.
_CORNER = 0.01

Fits = Sequence[Row[records.FitPoint]]
Points = Sequence[Row[records.SampledPoint]]
Curves = Sequence[Row[records.CurveRows]]
Flows = Sequence[Row[records.FlowSnapshots]]
Slices = Sequence[Row[records.PlaneSlices]]


class Finding(NamedTuple):
    """Whether a claim holds, and what was measured, in words."""

    holds: bool
    measured: str


@dataclass(frozen=True)
class Verdict:
    """A claim, the reading of the posterior it was judged in ('' if there is one), a finding."""

    says: str
    reading: str
    holds: bool
    measured: str


def judge(outcome: Outcome[Record]) -> list[Verdict]:
    """All verdicts of a figure; a claim about posteriors is judged in every reading."""
    verdicts = []
    for check in outcome.grid.checks:
        rows = [row for row in outcome.rows if check.source in ("", row.grid)]
        groups = grouped(rows, lambda row: row.reading)
        for reading, same in groups.items():
            if not check.readings or reading in check.readings:
                finding = _KINDS[check.kind](check, same, outcome.grid)
                shown = reading if len(groups) > 1 else ""
                verdicts.append(Verdict(check.says, shown, *finding))
    return verdicts


def _order(check: ScoreCheck, rows: Fits, grid: Grid) -> Finding:
    """Means over seeds of the arms are in the order of the arms.

    How many seeds show that order each for itself is told, and does not decide.
    """
    values = np.stack([numbers(rows, arm, check.score) for arm in check.arms], axis=1)

    def ordered(row: np.ndarray) -> bool:
        pairs = zip(row, row[1:], check.strict, strict=False)
        return all(a < b if strict else a <= b for a, b, strict in pairs)

    middle = values.mean(axis=0)
    means = ", ".join(f"{arm} {mean:.3g}" for arm, mean in zip(check.arms, middle, strict=True))
    signs = [" < " if strict else " ≤ " for strict in check.strict]
    asked = "".join(map("".join, zip(check.arms, [*signs, ""], strict=True)))
    seeds = f"{asked} in {sum(map(ordered, values))} of {len(values)} seeds"
    return Finding(ordered(middle), f"{means} (means over seeds; {seeds})")


def _bounded(check: ScoreCheck, rows: Fits, grid: Grid) -> Finding:
    """Every seed of every arm reaches the bound, or none exceeds it."""
    values = {arm: numbers(rows, arm, check.score) for arm in check.arms}
    every, least = np.concatenate(list(values.values())), check.kind == "least"
    holds = bool(np.all(every >= check.value if least else every <= check.value))
    spans = ", ".join(f"{arm} {_span(each)}" for arm, each in values.items())
    asked = f"{'at least' if least else 'at most'} {check.value:g}"
    return Finding(holds, f"{spans} over seeds; asked: {asked}")


def _span(values: np.ndarray) -> str:
    """Smallest to largest, or one number where they are the same."""
    return " to ".join(dict.fromkeys((f"{values.min():.4g}", f"{values.max():.4g}")))


def correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's rank correlation; ties share their mean rank."""

    def ranked(values: np.ndarray) -> np.ndarray:
        return np.array([np.mean(np.flatnonzero(np.sort(values) == value)) for value in values])

    a, b = ranked(x), ranked(y)
    return float(np.corrcoef(a, b)[0, 1]) if np.ptp(a) and np.ptp(b) else 0.0


def _falls(check: ScoreCheck, rows: Points, grid: Grid) -> Finding:
    """Means over seeds fall along the axis: their rank correlation and both ends say so."""
    x = np.array([row.value for row in rows], float)
    y = np.array([row.result.number(check.score) for row in rows])
    places = np.unique(x)
    means = np.array([float(y[x == place].mean()) for place in places])
    smooth = correlation(places, means)
    ends = f"from {means[0]:.3g} at {places[0]:g} to {means[-1]:.3g} at {places[-1]:g}"
    ranks = f"rank correlation {correlation(x, y):.2f} (of the means {smooth:.2f})"
    return Finding(smooth < 0 and bool(means[-1] < means[0]), f"{ends}; {ranks}")


def _steady(check: ScoreCheck, rows: Points, grid: Grid) -> Finding:
    """Means over seeds at two values of the axis differ by at most a factor."""
    means = [
        float(np.mean([row.result.number(check.score) for row in rows if row.value == value]))
        for value in check.between
    ]
    pairs = zip(means, check.between, strict=True)
    measured = ", ".join(f"{mean:.3g} with {value:g}" for mean, value in pairs)
    return Finding(max(means) / min(means) <= check.value, measured)


def _zero(check: ScoreCheck, rows: Points, grid: Grid) -> Finding:
    """The score vanishes at the point of the path that is nearest to the reference.

    A law is normalised to have no stress there, and relative noise has no spread there.
    """
    shares = []
    for row in rows:
        along = row.result.score_along(check.score)
        nearest = int(np.argmin(np.abs(row.result.coordinate - check.value)))
        shares.append(float(along[nearest] / along.max()))
    share = max(shares)
    measured = f"at most {100 * share:.2g} % of its largest value at the nearest point"
    return Finding(share <= _ZERO, measured)


def _rolls_off(check: FigureCheck, rows: Curves, grid: Grid) -> Finding:
    """On every curve R² at the largest penalty is below the best by at least the bound."""
    curves = [curve for row in rows for curve in row.result.curves()]
    drops = [float(np.nanmax(curve.median) - curve.median[-1]) for curve in curves]
    worst = curves[int(np.argmin(drops))]
    where = f"{worst.method.upper()}, {100 * worst.noise:g} % noise"
    measured = f"R² falls by at least {min(drops):.2g} ({where}); asked: {check.value:g}"
    return Finding(min(drops) >= check.value, measured)


def _corner(check: FigureCheck, rows: Curves, grid: Grid) -> Finding:
    """With the noise, the corner of a method's curves moves by at most a factor.

    The corner is the largest penalty at which R² is still as good as it gets: the optimum of an
    L-curve.
    """
    factors: dict[str, list[float]] = {}
    for row in rows:
        corners: dict[str, list[float]] = {}
        for curve in row.result.curves():
            good = np.flatnonzero(curve.median >= np.nanmax(curve.median) - _CORNER)
            corners.setdefault(curve.method.upper(), []).append(float(curve.penalties[good[-1]]))
        for method, penalties in corners.items():
            factors.setdefault(method, []).append(max(penalties) / min(penalties))
    middle = {method: float(np.median(moved)) for method, moved in factors.items()}
    moves = ", ".join(f"{method} by a factor of {factor:.2g}" for method, factor in middle.items())
    asked = f"(medians over seeds); asked: at most {check.value:g}"
    measured = f"with the noise the corner moves: {moves} {asked}"
    return Finding(max(middle.values()) <= check.value, measured)


def _overlap(check: FigureCheck, rows: Points, grid: Grid) -> Finding:
    """At least a share of the noisy data lies inside mean ± 2 standard deviations."""
    shares = []
    for point in (row.result for row in rows):
        middle, sd = point.predictive if check.distribution == "predictive" else point.pushed
        moving = np.isin(point.components, point.moving)
        shares.append(float((np.abs(point.noisy - middle) <= 2 * sd)[:, moving].mean()))
    share = float(np.mean(shares))
    measured = f"{100 * share:.0f} % of the data inside (mean over seeds)"
    return Finding(share >= check.value, measured)


def _faster(check: FigureCheck, rows: Points, grid: Grid) -> Finding:
    """An arm needs fewer seconds than the paper by a factor, and no more parameters."""
    arm = check.arms[0]
    paper = grid.of(PaperCost).paper[check.source][arm]
    seconds = numbers(rows, arm, ScoreKey("seconds"))
    count = numbers(rows, arm, ScoreKey("active"))
    factor = paper.seconds / float(seconds.max())
    here = f"{_span(seconds)} s and {_span(count)} parameters"
    printed = f"the paper {paper.seconds} s and {paper.parameters}"
    holds = factor >= check.value and float(count.max()) <= paper.parameters
    return Finding(holds, f"{here}, {printed}: at least {factor:.0f} times faster")


def _wells(check: FigureCheck, rows: Slices, grid: Grid) -> Finding:
    """Some slice of the generating law has so many wells."""
    wells = rows[0].result.truth_wells
    return Finding(max(wells) >= check.value, f"wells per slice: {wells}")


def _same_wells(check: FigureCheck, rows: Slices, grid: Grid) -> Finding:
    """Every slice of the law has as many wells as the truth."""
    law, truth = rows[0].result.law_wells, rows[0].result.truth_wells
    return Finding(law == truth, f"wells per slice: {law}, truth {truth}")


def _sparse(check: FigureCheck, rows: Flows, grid: Grid) -> Finding:
    """At least a share of the particles ends with a third coordinate that is exactly zero."""
    share = min(float(np.mean(row.result.particles[-1][:, 2] == 0)) for row in rows)
    measured = f"{100 * share:.0f} % of the particles or more have exactly zero there"
    return Finding(share >= check.value, measured)


def _near_mean(check: FigureCheck, rows: Flows, grid: Grid) -> Finding:
    """The first two coordinates end, in the mean, near the mean of the likelihood."""
    flows = [row.result for row in rows]
    ends = [np.abs(flow.particles[-1].mean(axis=0) - np.array(flow.mean))[:2] for flow in flows]
    return Finding(float(np.max(ends)) <= check.value, f"means off by at most {np.max(ends):.2f}")


# By the `kind` of a check. Each function has its own kinds of check and row; which of them come
# together is said by the grid.
_KINDS: dict[str, Callable[..., Finding]] = {
    "order": _order, "least": _bounded, "most": _bounded, "falls": _falls, "steady": _steady,
    "zero": _zero, "rolls_off": _rolls_off, "corner": _corner, "overlap": _overlap,
    "faster": _faster, "wells": _wells, "same_wells": _same_wells, "sparse": _sparse,
    "near_mean": _near_mean,
}  # fmt: skip
