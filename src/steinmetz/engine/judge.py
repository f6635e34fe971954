"""Judge a law and its posterior: predictions along the path, scores and certificate."""

import dataclasses
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Float

from steinmetz import host
from steinmetz.assess import certificate, measures, scores
from steinmetz.data import noise
from steinmetz.engine.blocks import block_key
from steinmetz.engine.fitness import Fitness
from steinmetz.engine.problem import Problem
from steinmetz.engine.sample import Ensemble
from steinmetz.potentials import volume
from steinmetz.potentials.law import Law
from steinmetz.predict.bands import Bands
from steinmetz.predict.push_forward import predictive
from steinmetz.records import Observations
from steinmetz.scores import base as further

# The cross-check of the certificate also looks at states twice as far from the reference as the
# data.
_REACH = 2.0
# Fitted rows whose coverage is counted, at most.
_ROWS = 500


class PathPredictions(NamedTuple):
    """Predictions along the validation path.

    Truth and noisy validation data only where they are known.
    """

    law: Float[np.ndarray, "points components"]
    law_energy: Float[np.ndarray, "points"]
    pushed: Float[np.ndarray, "draws points components"]
    pushed_energy: Float[np.ndarray, "draws points"]
    predictive: Float[np.ndarray, "draws points components"]
    truth: Float[np.ndarray, "points components"] | None
    truth_energy: Float[np.ndarray, "points"] | None
    noisy: Float[np.ndarray, "copies points components"] | None


def along_path(
    key: Array, problem: Problem, law: Law, bands: Bands, copies: int
) -> PathPredictions:
    """Law, draws and (where known) truth with noisy copies of it along the validation path."""
    path, reference = problem.path, problem.material.reference
    pushed, energy = bands.push(path.map)
    own_key, noise_key = host.split(key)
    truth, truth_energy, noisy = None, None, None
    if problem.truth is not None:
        clean = problem.truth.stress(reference, path.map)
        truth_energy = np.asarray(problem.truth.energies(reference, path.map.inputs))
        truth = np.asarray(clean)
        many = np.broadcast_to(truth, (copies, *truth.shape))
        noisy = np.asarray(noise.draw(noise_key, many, *problem.drawn))
    drawn = predictive(own_key, pushed, (path.relative, path.absolute), problem.floor, bands.noise)
    alone, alone_energy = np.asarray(law.stress(path.map)), np.asarray(law.energy(path.map.inputs))
    return PathPredictions(alone, alone_energy, pushed, energy, drawn, truth, truth_energy, noisy)


def certify(
    key: Array, problem: Problem, law: Law, ensemble: Ensemble, bands: Bands, count: int
) -> certificate.Certificate:
    """Certificate of the law and every draw, cross-checked on states around and beyond the data."""
    material, parts = problem.material, []
    for number, block in enumerate(problem.blocks):
        at = block_key(key, number)
        wide = block.experiment.covering(block.rows).widened(_REACH)
        parts.append(wide.states(wide.fresh(at, -(-count // len(problem.blocks)))))
    experiment, free = problem.blocks[0].experiment, material.completed
    whole = dataclasses.replace(experiment, free=None) if free is not material else experiment
    at_rest = whole.map(free, np.asarray(free.undeformed)[None], experiment.observed)
    operator = host.held(np.asarray(at_rest.operator)[0])
    states, laws = np.concatenate(parts), bands.completed.parts
    theta = volume.drawn(law, ensemble.theta)
    return certificate.certify(volume.completed(law), theta, free, states, operator, laws)


def seen(
    key: Array, problem: Problem, law: Law, bands: Bands, along: PathPredictions
) -> further.Judged:
    """What predictive draws are judged by: new data along the path, or measured rows."""
    if along.truth is None or along.noisy is None:
        return _measured(key, law, bands, problem.judged, problem.floor)
    cells = scores.varying(along.truth, problem.path.observed)
    draws = along.pushed, along.predictive
    return further.Judged(along.law, *draws, along.noisy[0], along.truth, cells)


def score(
    problem: Problem,
    law: Law,
    along: PathPredictions,
    fresh: Observations,
    judged: further.Judged,
    fitness: Fitness,
) -> scores.Scores:
    """R², Wasserstein-1 and coverage: against the truth where there is one, else against data."""
    train = problem.clean(problem.train)
    test = np.asarray(law.stress(fresh.map))
    tested = problem.truth is not None or problem.held_out is not None
    r2 = scores.R2(
        train=scores.r2(np.asarray(law.stress(train.map)), train),
        test=scores.r2(test, fresh) if tested else None,
        per_component=scores.per_component(test, fresh),
    )
    if along.truth is None or along.noisy is None:
        covered = measures.coverage(judged.predictive, judged.values, judged.observed)
        other = further.every(judged)
        return scores.Scores(r2=r2, coverage=covered, other=other, **fitness._asdict())
    return _along(r2, problem, along, judged, fitness)


def fitted(key: Array, problem: Problem, law: Law, bands: Bands) -> scores.Coverage | None:
    """How many fitted values lie in the predictive bands, where other rows are held out."""
    if problem.held_out is None:
        return None
    rows = problem.train.spread(_ROWS)
    judged = _measured(host.folded(key, 1), law, bands, rows, problem.floor)
    return measures.coverage(judged.predictive, judged.values, judged.observed)


def _along(
    r2: scores.R2,
    problem: Problem,
    along: PathPredictions,
    judged: further.Judged,
    fitness: Fitness,
) -> scores.Scores:
    """Scores along the path, in the sampled range and beyond."""
    truth, noisy = np.asarray(along.truth), np.asarray(along.noisy)
    observed, inside = problem.path.observed, problem.path.sampled
    parts = {"path": observed, "path_sampled": observed & inside[:, None]}
    parts["path_extrapolated"] = observed & ~inside[:, None]
    r2 = r2.model_copy(
        update={name: measures.r2(along.law, truth, cells) for name, cells in parts.items()}
    )
    cells = judged.observed
    ensembles = scores.Ensembles(along.pushed, along.predictive, truth, noisy)
    within = measures.inside(along.predictive, noisy[0], cells)
    return scores.Scores(
        r2=r2,
        w1=scores.wasserstein(ensembles, cells, inside),
        coverage=measures.shares(within, cells),
        coverage_sampled=measures.shares(within, cells & inside[:, None]),
        coverage_extrapolated=measures.shares(within, cells & ~inside[:, None]),
        coverage_clean=measures.coverage(along.pushed, truth, cells),
        other=further.every(judged),
        **fitness._asdict(),
    )


def _measured(
    key: Array, law: Law, bands: Bands, rows: Observations, floor: float
) -> further.Judged:
    """Draws of law and data at measured rows."""
    pushed = bands.push(rows.map)[0]
    deviations = (rows.relative, rows.absolute)
    drawn = predictive(key, pushed, deviations, floor, bands.noise)
    values, seen = np.asarray(rows.values), np.asarray(rows.observed)
    return further.Judged(np.asarray(law.stress(rows.map)), pushed, drawn, values, None, seen)
