"""What the seeds show of each kind of claim: a function per kind of check, by its name in `KINDS`.

It takes the check, a score (None where the claim is not about one) and the rows of one reading.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from steinmetz.paper import records, verdicts
from steinmetz.paper.curves import Curve, CurveRows
from steinmetz.paper.records import Row, grouped, numbers
from steinmetz.paper.scores import ScoreKey
from steinmetz.paper.statements import FigureCheck, ScoreCheck
from steinmetz.paper.verdicts import Comparison, Decision, Interval

# W1 at the reference counts as zero below this share of its largest value: the nearest point of the
# path need not be the reference itself.
_ZERO = 0.005
# R² this little below the best is as good: where more is lost, the L-curve rolls off.
CORNER = 0.01

Fits = Sequence[Row[records.FitPoint]]
Points = Sequence[Row[records.SampledPoint]]
Curves = Sequence[Row[CurveRows]]
Flows = Sequence[Row[records.FlowSnapshots]]
Slices = Sequence[Row[records.PlaneSlices]]


class Finding(NamedTuple):
    """What the seeds decide, in words and numbers.

    `interval` is what was compared with the bound: of a ratio, a difference, a slope or a mean.
    """

    decision: Decision
    measured: str
    interval: Interval
    per_seed: dict[str, list[float]]


def _listed(values: np.ndarray) -> list[float]:
    return [float(value) for value in values]


def _chain(
    check: ScoreCheck, score: ScoreKey, rows: Fits, rule: Callable[[Comparison], Decision]
) -> Finding:
    """Neighbouring arms compared seed by seed; the interval is that of the pair that decides."""
    values = {arm: numbers(rows, arm, score) for arm in check.arms}
    pairs = list(zip(check.arms, check.arms[1:], strict=False))
    compared = [Comparison.of(values[a], values[b], score.name != "r2") for a, b in pairs]
    decisions = [rule(each) for each in compared]
    decision = verdicts.together(decisions)
    decisive = compared[decisions.index(decision)]
    means = ", ".join(f"{arm} {np.mean(each):.3g}" for arm, each in values.items())
    against = "; ".join(
        f"{a} to {b}: {each.words()}" for (a, b), each in zip(pairs, compared, strict=True)
    )
    per_seed = {arm: _listed(each) for arm, each in values.items()}
    return Finding(decision, f"{against}; means {means}", decisive.interval, per_seed)


def _below(check: ScoreCheck, score: ScoreKey, rows: Fits) -> Finding:
    """Every arm has less than the next."""
    return _chain(check, score, rows, verdicts.below)


def _alike(check: ScoreCheck, score: ScoreKey, rows: Fits) -> Finding:
    """Every arm has what the next has, within a factor (R²: within a difference)."""
    return _chain(check, score, rows, lambda each: verdicts.alike(each, check.value))


def _bounded(check: ScoreCheck, score: ScoreKey, rows: Fits) -> Finding:
    """Every seed of every arm reaches the bound, or none exceeds it."""
    values = {arm: numbers(rows, arm, score) for arm in check.arms}
    return _bound(values, check.value, check.kind == "least")


def _bound(values: dict[str, np.ndarray], bound: float, least: bool) -> Finding:
    """The same of any numbers by arm; the interval is that of the arm that decides."""
    decisions = [verdicts.bounded(each, bound, least) for each in values.values()]
    decision = verdicts.together(decisions)
    decisive = list(values.values())[decisions.index(decision)]
    spans = ", ".join(f"{arm} {_span(each)}".strip() for arm, each in values.items())
    asked = f"{'at least' if least else 'at most'} {bound:g}"
    per_seed = {arm: _listed(each) for arm, each in values.items()}
    words = f"{spans} over seeds; asked: {asked}"
    return Finding(decision, words, Interval.of(decisive), per_seed)


def _span(values: np.ndarray) -> str:
    """Smallest to largest, or one number where they are the same."""
    return " to ".join(dict.fromkeys((f"{values.min():.4g}", f"{values.max():.4g}")))


def slopes(rows: Points, score: ScoreKey) -> np.ndarray:
    """d log score / d log axis of every seed, by least squares over all values of the axis."""
    found = []
    for _, same in sorted(grouped(rows, lambda row: row.seed).items()):
        x = np.log([row.value or 1.0 for row in same])
        y = np.log([row.result.number(score) for row in same])
        found.append(float(np.polyfit(x, y, 1)[0]))
    return np.array(found)


def _falls(check: ScoreCheck, score: ScoreKey, rows: Points) -> Finding:
    """Along the axis the score falls: the slope of its logarithm is below zero."""
    found = slopes(rows, score)
    mean, low, high = interval = Interval.of(found)
    words = f"slope of log W1 along log axis {mean:.3g} ({low:.3g} to {high:.3g})"
    decision = verdicts.below(Comparison(found, ratio=False))
    return Finding(decision, words, interval, {rows[0].arm: _listed(found)})


def _steady(check: ScoreCheck, score: ScoreKey, rows: Points) -> Finding:
    """Two values of the axis give the same, within a factor."""
    values = []
    for value in check.between:
        chosen = sorted((row for row in rows if row.value == value), key=lambda row: row.seed)
        values.append(np.array([row.result.number(score) for row in chosen]))
    compared = Comparison.of(values[1], values[0])
    first, second = check.between
    words = f"{second:g} to {first:g}: {compared.words()}; asked: within a factor {check.value:g}"
    names = f"{rows[0].arm} at {first:g}", f"{rows[0].arm} at {second:g}"
    per_seed = {name: _listed(each) for name, each in zip(names, values, strict=True)}
    return Finding(verdicts.alike(compared, check.value), words, compared.interval, per_seed)


def _zero(check: ScoreCheck, score: ScoreKey, rows: Points) -> Finding:
    """The score vanishes at the point of the path that is nearest to the reference."""
    shares: dict[int, float] = {}
    for row in rows:
        along = row.result.score_along(score)
        nearest = int(np.argmin(np.abs(row.result.coordinate - check.value)))
        share = float(along[nearest] / along.max())
        shares[row.seed] = max(share, shares.get(row.seed, 0.0))
    found = np.array(list(shares.values()))
    words = f"at most {100 * found.max():.2g} % of its largest value at the nearest point"
    decision = verdicts.bounded(found, _ZERO, least=False)
    return Finding(decision, words, Interval.of(found), {rows[0].arm: _listed(found)})


def _asked(check: FigureCheck, rows: Curves) -> Curves:
    """Rows of the cases that the claim names."""
    return [row for row in rows if row.arm in check.arms]


def _rolls_off(check: FigureCheck, _: None, rows: Curves) -> Finding:
    """On every curve R² at the largest penalty is below the best by at least the bound."""
    drops: dict[str, list[float]] = {}
    for row in _asked(check, rows):
        for method, curves in row.result.by_method().items():
            ends = [float(np.nanmax(each.median) - each.median[-1]) for each in curves]
            drops.setdefault(method, []).append(min(ends))
    return _bound({method: np.array(each) for method, each in drops.items()}, check.value, True)


def corner(curve: Curve) -> float:
    """The largest penalty at which R² is still as good as it gets: the optimum of an L-curve."""
    good = np.flatnonzero(curve.median >= np.nanmax(curve.median) - CORNER)
    return float(curve.penalties[good[-1]])


def _corner(check: FigureCheck, _: None, rows: Curves) -> Finding:
    """With the noise, the corner of a method's curves moves by at most a factor."""
    factors: dict[str, list[float]] = {}
    for row in _asked(check, rows):
        for method, curves in row.result.by_method().items():
            corners = [corner(curve) for curve in curves]
            factors.setdefault(method, []).append(max(corners) / min(corners))
    return _bound({method: np.array(each) for method, each in factors.items()}, check.value, False)


def _overlap(check: FigureCheck, _: None, rows: Points) -> Finding:
    """At least a share of the noisy data lies inside mean ± 2 standard deviations."""
    shares = []
    for point in (row.result for row in rows):
        middle, sd = point.pushed
        moving = np.isin(point.components, point.moving)
        shares.append(float((np.abs(point.noisy - middle) <= 2 * sd)[:, moving].mean()))
    return _bound({rows[0].arm: np.array(shares)}, check.value, True)


def _wells(check: FigureCheck, _: None, rows: Slices) -> Finding:
    """Some slice of the generating law has so many wells."""
    most = np.array([max(row.result.truth_wells) for row in rows], float)
    return _bound({"": most}, check.value, True)


def _same_wells(check: FigureCheck, _: None, rows: Slices) -> Finding:
    """Every slice of the law has as many wells as the truth, in every seed."""
    chosen = [row.result for row in rows if row.arm in check.arms]
    same = np.array([float(each.law_wells == each.truth_wells) for each in chosen])
    found = _bound({check.arms[0]: same}, 1.0, True)
    laws = "; ".join(str(each.law_wells) for each in chosen)
    words = f"wells per slice: {laws} by seed, truth {chosen[0].truth_wells}"
    return found._replace(measured=words)


def _sparse(check: FigureCheck, _: None, rows: Flows) -> Finding:
    """At least a share of the particles ends with a third coordinate that is exactly zero."""
    shares = [float(np.mean(row.result.particles[-1][:, 2] == 0)) for row in rows]
    return _bound({"share at zero": np.array(shares)}, check.value, True)


def _near_mean(check: FigureCheck, _: None, rows: Flows) -> Finding:
    """The first two coordinates end, in the mean, near the mean of the likelihood."""
    ends = []
    for flow in (row.result for row in rows):
        off = np.abs(flow.particles[-1].mean(axis=0) - np.array(flow.mean))
        ends.append(float(off[:2].max()))
    return _bound({"means off by": np.array(ends)}, check.value, False)


# By the `kind` of a check. Each function has its own kinds of check and row; which of them come
# together is said by the grid.
KINDS: dict[str, Callable[..., Finding]] = {
    "below": _below, "alike": _alike, "least": _bounded, "most": _bounded, "falls": _falls,
    "steady": _steady, "zero": _zero, "rolls_off": _rolls_off, "corner": _corner,
    "overlap": _overlap, "wells": _wells, "same_wells": _same_wells, "sparse": _sparse,
    "near_mean": _near_mean,
}  # fmt: skip
