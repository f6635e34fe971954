"""The table a person chooses a law from: one row per number of parameters, judged in and out of range."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.assess import certificate, scores
from steinmetz.engine.problem import Problem
from steinmetz.physics import observe
from steinmetz.records import StressMap
from steinmetz.sparsify.carve import Carved
from steinmetz.sparsify.padded import many_slopes


class Row(NamedTuple):
    """The best law with `active` parameters.

    `loss` is χ²/n. `score` is the fall of log loss per parameter since the row before (as in PySR): high where a
    parameter was worth it. `spread` are the best, median and worst χ²/n that restarts reached with this many during the
    search, where the noise is judged by the pilot prediction; `loss` is after the last refit.
    """

    active: int
    loss: float
    criterion: float
    score: float | None
    r2: dict[str, Any]
    spread: dict[str, float | int]
    admissible: bool
    picked: bool


def table(key: Array, problem: Problem, carved: Carved, study: Any) -> list[Row]:
    """Judge every row without refitting: against the truth where there is one, else against held-out rows."""
    laws = [row.law for row in carved.table]
    judges = _judges(key, problem, study)
    slopes = np.asarray(
        many_slopes(laws, jnp.concatenate([at.inputs for at, _, _ in judges.values()]))
    )
    count, rows, before = problem.train.cells, [], None
    for index, choice in enumerate(carved.table):
        proof = certificate.prove(choice.law.graph, np.asarray(choice.law.values))
        loss = choice.misfit / count
        reached = np.array(choice.restarts or (choice.misfit,)) / count
        rows.append(
            Row(
                choice.active,
                loss,
                choice.criterion,
                None if before is None else _score(before, (choice.active, loss)),
                _r2(slopes[index], judges, problem),
                {
                    "restarts": len(reached),
                    "best": float(reached.min()),
                    "median": float(np.median(reached)),
                    "worst": float(reached.max()),
                },
                certificate.admissible(proof, problem.physics.conditions),
                choice.active == carved.law.graph.size,
            )
        )
        before = (choice.active, loss)
    return rows


def _score(before: tuple[int, float], now: tuple[int, float]) -> float:
    """−Δ log loss / Δ parameters."""
    tiny = np.finfo(float).tiny
    return float(-(np.log(now[1] + tiny) - np.log(before[1] + tiny)) / (now[0] - before[0]))


def _judges(
    key: Array, problem: Problem, study: Any
) -> dict[str, tuple[StressMap, np.ndarray, np.ndarray]]:
    """What laws are judged on: inputs and operator, values, and which of them count."""
    physics, names = problem.physics, problem.physics.default_components
    if problem.truth is None:
        parts = {"train": problem.train, "test": problem.held_out}
        return {
            name: (StressMap(o.inputs, o.operator), np.asarray(o.values), np.asarray(o.observed))
            for name, o in parts.items()
            if o is not None
        }
    inside = problem.path.sampled
    states = {
        "test": physics.sample(key, study.assess.test_count, study.data.spread),
        "path_sampled": problem.path.state[inside],
        "path_extrapolated": problem.path.state[~inside],
    }
    found = {}
    for name, state in states.items():
        if len(state):
            at = observe.rig(physics, state, names)
            clean = np.asarray(observe.clean_values(problem.truth, physics.reference, at))
            found[name] = (at, clean, np.ones(clean.shape, bool))
    return found


def _r2(
    slopes: Float[np.ndarray, "states inputs"],
    judges: dict[str, tuple[StressMap, np.ndarray, np.ndarray]],
    problem: Problem,
) -> dict[str, Any]:
    """R² on every part, and per component on the test (or training) part."""
    found: dict[str, Any] = {}
    start = 0
    for name, (at, values, observed) in judges.items():
        part = slopes[start : start + len(values)]
        start += len(values)
        predicted = np.asarray(at.stress(jnp.asarray(part)))
        found[name] = scores.r2(predicted, values, observed)
        if name == "test" or (name == "train" and "test" not in judges):
            components = (
                problem.physics.default_components if problem.truth else problem.train.components
            )
            found["per_component"] = scores.r2_per_component(
                predicted, values, components, observed
            )
    return found
