"""Laws of tables with many rows: sought with some of them, fitted to all of them (method §4).

Which terms a law has is decided by `SEARCHED` rows, evenly spread: so many hardly leave that open.
Coefficients, free constants, the level of the noise and the choice among the laws that may hold are
those of all rows. Nothing that is as long as the table is as wide as the number of laws: normal
equations are added up block by block.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from steinmetz.data import noise, student
from steinmetz.data.estimate import Estimate, Noise
from steinmetz.data.linear import Linear
from steinmetz.data.quadratic import Quadratic, compress
from steinmetz.data.scoring import Score
from steinmetz.records import Observations, Reference
from steinmetz.shapes import Cells
from steinmetz.sparsify.judge import Judge
from steinmetz.sparsify.written import Problem, Written

# Rows with which laws are sought, and with which bands are made.
SEARCHED = 5000
# Rows of a block.
_AT_ONCE = 20_000
# Gauss–Newton steps from the law of some rows to that of all, and a change that is none.
_STEPS, _STILL = 4, 1e-9
# Steps towards the likeliest noise of all rows, a relative change that is none, and a size that is.
_SCORED, _SETTLED, _TINY = 8, 1e-5, 1e-5


class Whole(NamedTuple):
    """Laws fitted to all rows, the best first, and the noise of all rows under which it is."""

    laws: list[Written]
    deviation: Cells
    noise: Estimate


def completed(
    judge: Judge, reference: Reference, laws: Sequence[Written], found: Estimate
) -> Whole:
    """Laws of some rows, the best first, as those of all rows, the best of all rows first.

    The judge has all rows. A law that has a negative coefficient by all rows is left out, unless it
    is the best.
    """
    observations = judge.observations
    deviation, first = judged(observations, reference, laws[0], found)
    parts = blocks(compress(observations, first.weighted(deviation)), reference)
    fitted = [refitted(parts, law) for law in laws]
    kept = [law for law in fitted if min(law.coefficients) > 0] or [laws[0]]
    under = [_under(observations, reference, law, deviation) for law in kept]
    count = observations.cells
    best = min(under, key=lambda law: law.score(count))
    found = found._replace(level=_level(judge, reference, best, found.level))
    deviation, last = judged(observations, reference, best, found)
    # Ranked under the noise that is told: laws that are nearly equal may change places by it.
    under = [_under(observations, reference, law, deviation) for law in under]
    return Whole(sorted(under, key=lambda law: law.score(count)), deviation, last)


def judged(
    observations: Observations, reference: Reference, law: Written, found: Estimate
) -> tuple[Cells, Estimate]:
    """The noise of all rows at the prediction of a law, its level as it was found with some."""
    prediction = law.law(reference).stress(observations.map)
    filled = noise.filled(observations, found.level)
    deviation = noise.deviation(filled, prediction, found.level.floor)
    if found.weights is None:
        return deviation, found
    squares = np.asarray((observations.values - prediction) / deviation) ** 2
    return deviation, found._replace(weights=jnp.asarray(student.information(squares)))


def _level(judge: Judge, reference: Reference, law: Written, level: noise.Level) -> noise.Level:
    """Noise that is estimated, by all rows: the likeliest near what was found with some."""
    if judge.unknown is None:
        return level
    every, unknown = judge.observations, judge.unknown
    constant = level.absolute / unknown.scale if unknown.absolute else level.floor
    sizes = np.log([max(level.relative, _TINY), max(constant, _TINY)])
    for _ in range(_SCORED):
        step = Score.summed(
            _score(judge, every.rows(np.arange(first, last)), (reference, law), sizes)
            for first, last in _borders(len(every.state))
        ).step
        sizes = sizes + step
        if np.abs(step).max() < _SETTLED:
            break
    return unknown.level(float(np.exp(sizes[0])), float(np.exp(sizes[1])))


def _score(
    judge: Judge, rows: Observations, law: tuple[Reference, Written], sizes: Float[np.ndarray, "2"]
) -> Score:
    """What some rows say of the size of the noise, at the prediction of a law."""
    assert judge.unknown is not None
    noise = Noise.of(rows, judge.floor, judge.tails).free._replace(scale=judge.unknown.scale)
    seen, prediction = np.asarray(rows.observed), np.asarray(_stress(rows, *law))
    left = (np.asarray(rows.values) - prediction)[seen]
    return Score.of(noise, Linear(left, prediction[seen], np.empty((len(left), 0))), sizes)


def _stress(rows: Observations, reference: Reference, law: Written) -> Cells:
    """That of a law at some rows."""
    problem = Problem(np.asarray(rows.inputs), np.empty((0, 0, 0)), np.empty(0), 0.0, reference)
    return problem.stress(law, np.asarray(rows.operator))


def _borders(count: int) -> list[tuple[int, int]]:
    """First row of every block, and the row after its last."""
    return [(first, min(first + _AT_ONCE, count)) for first in range(0, count, _AT_ONCE)]


def blocks(quadratic: Quadratic, reference: Reference) -> list[Problem]:
    """The data in blocks, none of them copied."""
    whole = Problem.of(quadratic, reference)
    rows = whole.target.reshape(len(whole.x), -1)
    return [
        Problem(
            whole.x[first:last], whole.factor[first:last], rows[first:last].ravel(), 0.0, reference
        )
        for first, last in _borders(len(whole.x))
    ]


def refitted(parts: Sequence[Problem], law: Written) -> Written:
    """A law with coefficients and free constants of all blocks, from those it has.

    A step that would make a coefficient negative is still taken, and ends the fit.
    """
    for _ in range(_STEPS if any(atom.term.free for atom in law.atoms) else 1):
        bents, pulls = zip(*(one.bent(law) for one in parts), strict=True)
        law, change = law.stepped(np.sum(bents, axis=0), np.sum(pulls, axis=0))
        if change < _STILL or min(law.coefficients) <= 0:
            break
    return law


def _under(
    observations: Observations, reference: Reference, law: Written, deviation: Cells
) -> Written:
    """A law with its χ² by all rows under a common noise."""
    total = 0.0
    for first, last in _borders(len(observations.state)):
        rows = observations.rows(np.arange(first, last))
        prediction = _stress(rows, reference, law)
        left = np.asarray((rows.values - prediction) / deviation[first:last])
        left = left[np.asarray(rows.observed)]
        total += float(left @ left)
    return law._replace(misfit=total, unlikely=None)
