"""Tables of scores with their intervals, a table per part of the path, and of diagnostics.

They are the same for every kind of figure whose points have a posterior.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from steinmetz.paper import convergence
from steinmetz.paper.plots.common import span
from steinmetz.paper.records import Details, Outcome, Row, SampledPoint, Table, grouped
from steinmetz.paper.scores import PARTS, SCORES, ScoreKey, component_kind

_NOTE = (
    "Mean over seeds, and the range of their 95 % bootstrap intervals (over particles and noise "
    "draws for W1, over path points for CRPS and coverage). Push-forward unless it says "
    "predictive; coverage: predictive bands. W1 to reference: to the long run of the same "
    "posterior; since halfway: between a flow after half of its steps and at its end. An "
    "arm in brackets has not converged; one with an asterisk is farther from the clean truth than "
    "predicting zero, in some seed."
)
# What constant predictions are called.
PREDICTORS = {"zero": "predicting zero", "mean": "predicting the training mean"}
_HEAD = (
    "state", "checks failed", "mode slope", "R-hat", "R-hat of push-forward", "KSD over expected",
    "variance over Laplace's", "particles or chains", "steps", "rank", "largest λ left out",
    "seconds", "compiling", "peak memory",
)  # fmt: skip
_DIAGNOSTICS = (
    "The worst over seeds; seconds (of inference) and compilation, which is part of them, are "
    "means. Mode slope: largest slope of the log density at the mode that sampling starts from, in "
    "posterior standard deviations. Variance: smallest mean over coordinates. Memory: the most the "
    "process held at once, libraries included, in GB. " + convergence.RULE
)
_CLEAN = ScoreKey("w1_clean")

Points = Sequence[SampledPoint]
Line = list[str | int]
Worst = Callable[[list[float]], float]


def scores(outcome: Outcome[SampledPoint]) -> Details:
    """All scores of every arm, reading and value, and how each was sampled.

    Parts that no path has are left out.
    """
    every = [_scores(outcome.rows, part) for part in PARTS]
    return Details(tables=[*(table for table in every if table.lines), diagnostics(outcome.rows)])


def _scores(rows: Sequence[Row[SampledPoint]], part: str) -> Table:
    """A line per arm, reading and value, a column per score and kind of component.

    Where all components are of one kind, they have one column; scores that no point has, none. Last
    come predictions that know no mechanics.
    """
    kinds = list(dict.fromkeys(map(component_kind, rows[0].result.moving)))
    kinds = kinds if len(kinds) > 1 else ["all"]
    known = {name for row in rows for name in row.result.scores.root}
    keys = [ScoreKey(name, kind, part) for name in SCORES if name in known for kind in kinds]
    there = [row for row in rows if row.result.scores.get(ScoreKey("crps", "all", part))]
    lines: list[Line] = []
    for (arm, reading, value), group in _groups(there).items():
        same = [row.result for row in group]
        counts = span(point.active for point in same)
        cells = [_cell(same, key) for key in keys]
        lines.append([_name(arm, reading, value, same), counts, *cells])
    for predictor in PREDICTORS if there else ():
        every = [row.result for row in there]
        lines.append([PREDICTORS[predictor], 0, *(_constant(every, predictor, k) for k in keys)])
    heads = [f"{SCORES[key.name]} {key.component}".removesuffix(" all") for key in keys]
    return Table([PARTS[part], "parameters", *heads], lines, _NOTE)


def _groups(
    rows: Sequence[Row[SampledPoint]],
) -> dict[tuple[str, str, float | None], list[Row[SampledPoint]]]:
    return grouped(rows, lambda row: (row.arm, row.reading, row.value))


def _name(arm: str, reading: str, value: float | None, same: Points) -> str:
    """Arm, place on the axis and reading, with the marks of the note."""
    healthy = convergence.health(same).converged
    worse = any(point.number(_CLEAN) > (point.constant("zero", _CLEAN) or 0.0) for point in same)
    marked = (arm if healthy else f"({arm})") + ("*" if worse else "")
    place = "" if value is None else f" at {value:g}"
    return f"{marked}{place}, {reading}"


def _cell(same: Points, key: ScoreKey) -> str:
    """Mean over seeds and the range of their intervals; a dash where there is no such score."""
    intervals = [interval for point in same if (interval := point.scores.get(key)) is not None]
    if not intervals:
        return "–"
    values, lows, highs = zip(*intervals, strict=True)
    return f"{np.mean(values):.3g} ({min(lows):.3g}–{max(highs):.3g})"


def _constant(every: Points, predictor: str, key: ScoreKey) -> str:
    """Mean over seeds of a constant prediction; the same for all arms but to their references."""
    if key.name in ("w1_reference", "w1_halfway"):
        return "–"
    values = [point.constant(predictor, key) for point in every]
    known = [value for value in values if value is not None]
    return f"{np.mean(known):.3g}" if known else "–"


def diagnostics(rows: Sequence[Row[SampledPoint]]) -> Table:
    """How every arm was sampled: its own checks, sizes and cost."""
    lines: list[Line] = []
    for (arm, reading, value), group in _groups(rows).items():
        same = [row.result for row in group]
        lines.append([_name(arm, reading, value, same), *_sampled(same)])
    return Table(["sampling", *_HEAD], lines, _DIAGNOSTICS)


def _sampled(same: Points) -> Line:
    """State, checks, numbers and cost of one arm."""
    runs = [point.inference for point in same]
    health = convergence.health(same)
    mixed = [point.mixing.r_hat for point in same if point.mixing is not None]
    over = [run.discrepancy / run.expected for run in runs if run.discrepancy and run.expected]
    spent = [point.spent for point in same]
    return [
        health.state, health.failed,
        _worst(max, (run.mode_slope for run in runs)),
        _worst(max, (run.r_hat for run in runs), ".3f"), _worst(max, mixed, ".3f"),
        _worst(max, over), _worst(min, (run.mean_variance for run in runs)),
        span(run.particles for run in runs), span(run.steps for run in runs),
        _rank(same), _worst(max, (run.facts.get("largest discarded") for run in runs)),
        f"{np.mean([each.infer for each in spent]):.1f}",
        f"{np.mean([each.infer_compile for each in spent]):.1f}",
        _worst(max, (each.infer_memory for each in spent), ".2f"),
    ]  # fmt: skip


def _worst(of: Worst, values: Iterable[float | None], form: str = ".3g") -> str:
    """The worst of the values that are known."""
    known = [value for value in values if value is not None]
    return f"{of(known):{form}}" if known else "–"


def _rank(same: Points) -> str:
    """Directions kept of all; a dash where the method keeps all of them by design."""
    facts = [point.inference.facts for point in same if "rank" in point.inference.facts]
    if not facts:
        return "–"
    return f"{span(int(one['rank']) for one in facts)} of {int(facts[0]['dimension'])}"
