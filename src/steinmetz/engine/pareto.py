"""The table a person chooses a law from.

One row per number of parameters, judged in and out of range.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from pydantic import Field

from steinmetz import host
from steinmetz.assess import certificate, scores
from steinmetz.engine.problem import Problem
from steinmetz.potentials.law import Law
from steinmetz.records import Conditions, Document, Observations
from steinmetz.sparsify.carve import Carved
from steinmetz.sparsify.padded import many_slopes


class RowR2(Document):
    """R² of a row: fresh states and both parts of the path, or training and held-out rows."""

    train: float | None = None
    test: float | None = None
    path_sampled: float | None = None
    path_extrapolated: float | None = None
    per_component: dict[str, float]


class Spread(Document):
    """Best, median and worst χ²/n that restarts reached with one number of parameters."""

    restarts: int
    best: float
    median: float
    worst: float


class Row(Document):
    """The best law with `active` parameters."""

    active: int
    loss: float = Field(description="χ²/n after the last refit")
    criterion: float = Field(description="Bayesian information criterion χ² + k log n")
    gain: float | None = Field(description="fall of log loss per parameter since the row before")
    r2: RowR2
    spread: Spread | None = Field(
        description="during the search, where the noise is judged by the pilot prediction; null "
        "where nothing was trained"
    )
    admissible: bool | None = Field(
        description="signs and activations prove convexity and growth; null if not demanded"
    )
    picked: bool


class _Part(NamedTuple):
    """States that rows are judged on."""

    name: str
    known: Observations


def table(problem: Problem, carved: Carved, fresh: Observations) -> list[Row]:
    """Judge every row without refitting.

    Against the truth where there is one, else against data.
    """
    laws, parts = [row.law for row in carved.table], _parts(problem, fresh)
    inputs = host.held(np.concatenate([np.asarray(part.known.inputs) for part in parts]))
    slopes = np.asarray(many_slopes(laws, inputs))
    count, rows = problem.train.cells, list[Row]()
    for index, choice in enumerate(carved.table):
        loss = choice.misfit / count
        row = Row(
            active=choice.active,
            loss=loss,
            criterion=choice.criterion,
            gain=_gain(rows[-1], choice.active, loss) if rows else None,
            r2=_r2(slopes[index], parts),
            spread=_spread(choice.restarts, count),
            admissible=_proven(choice.law, problem.material.conditions),
            picked=choice.active == carved.law.graph.size,
        )
        rows.append(row)
    return rows


def _spread(restarts: tuple[float, ...], count: int) -> Spread | None:
    """Of the χ² that restarts reached; nothing where there were none."""
    if not restarts:
        return None
    reached = np.array(restarts) / count
    return Spread(
        restarts=len(reached),
        best=float(reached.min()),
        median=float(np.median(reached)),
        worst=float(reached.max()),
    )


def _proven(law: Law, conditions: Conditions) -> bool | None:
    """Whether the graph proves what is demanded of Ψ; None where nothing is."""
    if not conditions.convex and not conditions.increasing:
        return None
    return certificate.admissible(certificate.prove(law.graph, np.asarray(law.values)), conditions)


def _gain(before: Row, active: int, loss: float) -> float:
    """−Δ log loss / Δ parameters."""
    tiny = np.finfo(float).tiny
    return float(-(np.log(loss + tiny) - np.log(before.loss + tiny)) / (active - before.active))


def _parts(problem: Problem, fresh: Observations) -> list[_Part]:
    """Fresh states and the path where the truth is known; else training and held-out rows."""
    if problem.truth is None:
        parts = [_Part("train", problem.train)]
        return parts + ([] if problem.held_out is None else [_Part("test", problem.held_out)])
    path = problem.path
    values = problem.truth.stress(problem.material.reference, path.map)
    parts = [_Part("test", fresh)]
    for name, inside in (("path_sampled", path.sampled), ("path_extrapolated", ~path.sampled)):
        if inside.any():
            parts.append(_Part(name, path.known(values, inside)))
    return parts


def _r2(slopes: Float[np.ndarray, "states inputs"], parts: list[_Part]) -> RowR2:
    """R² on every part, and per component on the test (or training) part."""
    numbers: dict[str, float | None] = {}
    components: dict[str, float] = {}
    start = 0
    for name, known in parts:
        part = slopes[start : start + len(known.inputs)]
        start += len(known.inputs)
        predicted = np.einsum("sci,si->sc", np.asarray(known.operator), part)
        numbers[name] = scores.r2(predicted, known)
        if name == "test" or not components:
            components = scores.per_component(predicted, known)
    return RowR2(per_component=components, **numbers)
