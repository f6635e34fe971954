"""How a law and its posterior fit the data they come from: residuals, coverage, left-out data."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from steinmetz import host
from steinmetz.assess import fit, loo
from steinmetz.data import noise, student
from steinmetz.engine.problem import Problem
from steinmetz.engine.sample import Ensemble
from steinmetz.predict.log_likelihood import log_likelihood
from steinmetz.records import spaced
from steinmetz.scores.base import Judged
from steinmetz.sparsify.carve import Carved
from steinmetz.studies.study import Study


class Fitness(NamedTuple):
    """Residuals beside the stated noise, and densities of data that were left out."""

    fit: fit.Fit
    elpd: loo.Density


def examine(
    study: Study, problem: Problem, carved: Carved, ensemble: Ensemble, judged: Judged
) -> Fitness:
    """Everything that says whether law, posterior and stated noise fit the data."""
    factor = float(ensemble.factor.mean())
    left = _residuals(problem, carved, factor, study.noise.tails == "student")
    quality = fit.examine(left, carved.law.graph.size, _seen(study, problem, judged))
    temperature = study.prior.tempered(problem.train.cells)
    density = loo.summed(
        fitted(problem, carved, ensemble), _test(problem, carved, ensemble), temperature
    )
    return Fitness(quality, density)


def fitted(problem: Problem, carved: Carved, ensemble: Ensemble) -> Float[np.ndarray, "draws data"]:
    """Log likelihood under every draw of every fitted datum, or of `Problem.left_out`."""
    rows = problem.left_out
    deviation = np.asarray(carved.deviation)[spaced(len(carved.deviation), len(rows.state))]
    parts = ensemble.theta, ensemble.factor, rows, deviation
    return log_likelihood(carved.law, *parts, carved.noise.weights is not None)


def _test(problem: Problem, carved: Carved, ensemble: Ensemble) -> np.ndarray | None:
    """The same of held-out rows, whose noise is judged at the prediction of the law."""
    rows = problem.tested
    if rows is None:
        return None
    known = problem.noisy(rows)
    deviation = noise.stated(known, carved.law.stress(rows.map), problem.floor)
    tails = carved.noise.weights is not None
    return log_likelihood(carved.law, ensemble.theta, ensemble.factor, rows, deviation, tails)


def _residuals(problem: Problem, carved: Carved, factor: float, tails: bool) -> fit.Residuals:
    """What the law leaves of the fitted data, in units of the deviation it was fitted with."""
    train = problem.noisy(problem.train)
    prediction = np.asarray(carved.law.stress(train.map))
    deviation, observed = np.asarray(carved.deviation), np.asarray(train.observed)
    whole = np.where(observed, deviation, 1.0)
    share = np.asarray(noise.stated(train, host.held(prediction), 0.0)) ** 2 / whole**2
    columns = {fit.PREDICTION: prediction}
    for name, column in zip(problem.material.inputs, np.asarray(train.inputs).T, strict=True):
        columns[name] = np.broadcast_to(column[:, None], prediction.shape)
    left = (np.asarray(train.values) - prediction) / (whole * factor)
    return fit.Residuals(
        student.normal_scores(left) if tails else left,
        np.minimum(share, 1.0),
        observed,
        train.components,
        columns,
        left if tails else None,
        tuple(place for block in problem.blocks for place in block.places),
    )


def _seen(study: Study, problem: Problem, judged: Judged) -> fit.Seen:
    """What the predictive band is judged by: the path where data were, or measured rows."""
    path, floor = problem.path, problem.floor
    if problem.truth is not None:
        relative, absolute = problem.path_noise
        variance = absolute**2 + (relative * judged.law) ** 2
        observed, of = judged.observed & path.sampled[:, None], "new data along the path, in range"
    else:
        rows = problem.noisy(problem.judged)
        variance = np.asarray(noise.stated(rows, host.held(judged.law), 0.0)) ** 2
        observed, of = judged.observed, _of(study, problem)
    share = variance / np.maximum(variance + floor**2, np.finfo(float).tiny)
    return fit.Seen(judged.predictive, judged.values, share, observed, of)


def _of(study: Study, problem: Problem) -> str:
    """Which measured rows are judged, in words."""
    every, some = problem.held_out or problem.train, len(problem.judged.state)
    count = "" if some == len(every.state) else f"{some} of {len(every.state)} "
    if problem.held_out is None:
        return f"{count}fitted rows"
    extrapolated = ", extrapolated" if study.data.hold_out == "end" else ""
    return f"{count}held-out rows{extrapolated}"
