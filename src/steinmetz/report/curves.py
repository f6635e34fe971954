"""Numbers of the interactive figures: stress along every test that was made, for `report.html`.

A figure per test and component that varies: bands of laws and of data, the most probable laws, the
printed law and what was measured, over the range of the data and a bit beyond.
"""

import numpy as np
from jaxtyping import Float

from steinmetz.engine.outcome import Outcome
from steinmetz.pieces import quantiles
from steinmetz.records import Document, Segment, spaced
from steinmetz.report.laws import called, moving
from steinmetz.report.style import limits

# Points of a curve, figures, and laws beside the printed one.
_POINTS, _FIGURES, _LAWS = 121, 12, 5
# Significant digits of every number.
_DIGITS = 5
_BAND = (0.025, 0.975)
# Measured values of a curve that are shown, at most.
_MEASURED = 2000

Numbers = list[float | None]


class Line(Document):
    """A law along a test."""

    name: str
    y: Numbers


class Curve(Document):
    """One figure; a number that is not finite is null."""

    title: str
    label: str
    stress: str
    x: Numbers
    known: tuple[float, float] | None
    view: tuple[float, float]
    laws_low: Numbers
    laws_high: Numbers
    data_low: Numbers
    data_high: Numbers
    lines: list[Line]
    points: list[tuple[float, float]]


def curves(outcome: Outcome) -> list[Curve]:
    """Every test and component that varies, in the order of the study."""
    path = outcome.problem.path
    parts = outcome.bands.parts[:_LAWS] if len(outcome.bands.parts) > 1 else ()
    centres = outcome.bands._replace(parts=parts).centres(path.map) if parts else ()
    names = [f"{100 * part.weight:.0f} % {called(part.law)}" for part in parts]
    beside = list(zip(names, centres, strict=True))
    every = [
        (segment, index) for segment in path.segments for index in moving(outcome, segment.points)
    ]
    return [_curve(outcome, segment, index, beside) for segment, index in every[:_FIGURES]]


def _curve(
    outcome: Outcome, segment: Segment, index: int, beside: list[tuple[str, np.ndarray]]
) -> Curve:
    """One component along one test."""
    path, along, points = outcome.problem.path, outcome.along, segment.points
    few = np.unique(np.linspace(points.start, points.stop - 1, _POINTS).round().astype(int))
    x, sampled, name = path.coordinate[few], path.sampled[few], path.components[index]
    low, high = quantiles(along.pushed[:, few, index], _BAND)
    least, most = quantiles(along.predictive[:, few, index], _BAND)
    lines = {"printed law": along.law[few, index]}
    lines |= {label: stress[few, index] for label, stress in beside}
    if along.truth is not None:
        lines["truth"] = along.truth[few, index]
    unit, inside = outcome.problem.unit, x[sampled]
    seen = limits(sampled, least, most, *lines.values())
    return Curve(
        title=f"{name}, {segment.experiment.replace('_', ' ')}",
        label=segment.label,
        stress=f"{name} ({unit})" if unit else name,
        x=_numbers(x),
        known=(float(inside.min()), float(inside.max())) if inside.size else None,
        view=seen or (float(np.nanmin(least)), float(np.nanmax(most))),
        laws_low=_numbers(low),
        laws_high=_numbers(high),
        data_low=_numbers(least),
        data_high=_numbers(most),
        lines=[Line(name=label, y=_numbers(y)) for label, y in lines.items()],
        points=_measured(outcome, segment, name),
    )


def _numbers(values: Float[np.ndarray, "points"]) -> Numbers:
    return [float(f"{v:.{_DIGITS}g}") if np.isfinite(v) else None for v in values]


def _measured(outcome: Outcome, segment: Segment, name: str) -> list[tuple[float, float]]:
    """What was measured of a component; nothing where a test is no curve."""
    found: list[tuple[float, float]] = []
    for block in outcome.problem.blocks:
        test, rows = block.experiment, block.train
        fits = test.name == segment.experiment and name in rows.components
        if fits and len(test.columns) == 1:
            place = rows.components.index(name)
            every = np.flatnonzero(np.asarray(rows.observed)[:, place])
            seen = every[spaced(len(every), _MEASURED)]
            y = np.asarray(rows.values)[seen, place]
            found += zip(block.rows[seen, 0].tolist(), y.tolist(), strict=True)
    return found
