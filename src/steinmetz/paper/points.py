"""One point of a figure: a law is carved, sampled, pushed along the path and judged.

Every part is kept by its content: figures share laws and posteriors, and a second call computes
nothing.
"""

import json
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from steinmetz.assess import measures, scores
from steinmetz.cache import Cache, Content, ContentCache
from steinmetz.data import noise
from steinmetz.data.quadratic import compress
from steinmetz.engine import carving
from steinmetz.engine.carved import carve_law, stage_keys
from steinmetz.engine.clock import Clock
from steinmetz.engine.judge import along_path
from steinmetz.engine.problem import Problem, prepare
from steinmetz.engine.sample import sample_posed
from steinmetz.errors import InputError
from steinmetz.exporters import latex, text
from steinmetz.paper.convergence import mixing
from steinmetz.paper.grids import Point
from steinmetz.paper.judge import PathDraws, constants, judge
from steinmetz.paper.memory import peak
from steinmetz.paper.modes import posed_of
from steinmetz.paper.records import (
    CarvedLaw,
    FitPoint,
    Moments,
    PushedDraws,
    SampledPoint,
    Sampling,
    Spent,
)
from steinmetz.predict.bands import Bands
from steinmetz.predict.push_forward import push_forward
from steinmetz.records import Report, Truth
from steinmetz.sparsify.carve import Carved
from steinmetz.studies.study import Study

# Parameters of the longest law whose closed form is kept: one that fits under a figure.
_PRINTED = 60
# Draws of a reference's push-forward that are kept for others to be compared with.
_KEPT_DRAWS = 1000


class CarvedProblem(NamedTuple):
    """Data of a study, the law carved from them, and the seconds that took when it was done."""

    problem: Problem
    carved: Carved
    spent: Spent


def content_of(point: Point) -> Content:
    """What a posterior and its scores depend on: also the law's study, and the reference."""
    reference = {} if point.reference is None else {"reference": content_of(point.reference)}
    carve = point.carve.content("carve")
    return {**point.study.content("assess"), "carve": carve, **reference}


def law_of(study: Study, results: ContentCache, report: Report) -> CarvedProblem:
    """Data and carved law of a study.

    The law is kept with the seconds that it took, so that cost can be told whoever computed it.
    """
    problem = prepare(stage_keys(study.seed)["data"], study)

    def compute(cache: Cache) -> CarvedLaw:
        clock = Clock()
        with peak() as memory:
            stored = json.loads(carving.to_json(carve_law(study, problem, report, cache)))
        seconds = clock.seconds()
        spent = Spent(seconds["total"], seconds["compile"], carve_memory=memory.gigabytes)
        return CarvedLaw(carving=stored, spent=spent)

    law = results.get(study.content("carve"), CarvedLaw, compute)
    return CarvedProblem(problem, carving.from_dict(law.carving, problem.train), law.spent)


def truth_of(problem: Problem) -> Truth:
    """The generating law, which every figure of the paper has."""
    if problem.truth is None:
        raise InputError("figures of the paper need generated data: data.law, not data.table")
    return problem.truth


def fitted(point: Point, results: ContentCache, report: Report) -> FitPoint:
    """A point without a posterior."""

    def compute(_: Cache) -> FitPoint:
        return _fit(point.study, law_of(point.study, results, report))

    return results.get(content_of(point), FitPoint, compute)


def sampled(point: Point, results: ContentCache, report: Report) -> SampledPoint:
    """A point with its posterior.

    Draws of the push-forward are kept where others are compared with it; a point that was kept
    without them is sampled again.
    """
    asked = content_of(point)
    known = results.find(asked, SampledPoint)
    if known is not None and (not point.kept or results.find(asked, PushedDraws) is not None):
        return known
    result, pushed = _posterior(point, results, report)
    if point.kept:
        results.keep(asked, pushed)
    return results.keep(asked, result)


def _fit(study: Study, law_of_study: CarvedProblem) -> FitPoint:
    """The law alone: its path, R² and count.

    Everything is judged against the clean truth: along the path, of which a part lies beyond the
    sampled range, and at fresh states of the sampled domain, where every component shows.
    """
    problem, carved, spent = law_of_study
    law, path, keys = carved.law, problem.path, stage_keys(study.seed)
    truth, reference = truth_of(problem), problem.material.reference
    fresh = problem.fresh(keys["test"], study.assess.test_count)
    predicted, test = (np.asarray(law.stress(each)) for each in (path.map, fresh.map))
    clean = np.asarray(truth.stress(reference, path.map))
    energy = np.asarray(law.energy(path.map.inputs))
    truth_energy = np.asarray(truth.energies(reference, path.map.inputs))
    relative, absolute = (jnp.asarray(part) for part in problem.drawn)
    noisy = np.asarray(noise.draw(keys["noise"], jnp.asarray(clean), relative, absolute))
    inside = path.sampled
    r2 = {
        "path": measures.r2(predicted, clean),
        "path_sampled": measures.r2(predicted[inside], clean[inside]),
        "path_extrapolated": measures.r2(predicted[~inside], clean[~inside]),
        "test": scores.r2(test, fresh),
        "energy": measures.r2(energy[:, None], truth_energy[:, None]),
    }
    origin, short = carved.restarts[carved.chosen.origin], law.graph.size <= _PRINTED
    return FitPoint(
        components=path.components, label=path.segments[0].label,
        coordinate=path.coordinate, sampled=path.sampled,
        predicted=predicted, truth=clean, noisy=noisy, energy=energy, truth_energy=truth_energy,
        full=int(carved.full), nonzero=int(origin.nonzero), active=int(law.graph.size),
        penalty=float(origin.penalty), reason=carved.reason, r2=r2, spent=spent,
        r2_components=scores.per_component(test, fresh),
        closed_form=text.export(law) if short else None,
        latex=latex.export(law, digits=3) if short else None,
    )  # fmt: skip


def fitted_to(carved: Carved, problem: Problem, floor: float) -> Carved:
    """The same law before other data: deviation and quadratic form of the loss are theirs.

    Noise that is a share of the stress is judged at the prediction of the law, as in carving.
    """
    train = problem.train
    deviation = noise.deviation(train, carved.law.stress(train.map), floor)
    return carved._replace(deviation=deviation, quadratic=compress(train, deviation))


def _constants(problem: Problem, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Predictions that know no mechanics: zero, and the mean of the noisy training data."""
    train = problem.train
    values = np.where(np.asarray(train.observed), np.asarray(train.values), np.nan)
    means = dict(zip(train.components, np.nanmean(values, axis=0), strict=True))
    return {"zero": np.zeros(len(names)), "mean": np.array([means[name] for name in names])}


def _law_before_data(point: Point, results: ContentCache, report: Report) -> CarvedProblem:
    """The law of a point and the data of its study, which need not be those it was carved from."""
    study, law = point.study, law_of(point.carve, results, report)
    if point.carve == study:
        return law
    problem = prepare(stage_keys(study.seed)["data"], study)
    carved = fitted_to(law.carved, problem, study.noise.allowed)
    return CarvedProblem(problem, carved, law.spent)


def posed(point: Point, results: ContentCache, report: Report) -> None:
    """Find the modes of a point's posterior, and keep them for all who sample it."""
    law = _law_before_data(point, results, report)
    posed_of(point, law.problem, law.carved, results)


def _posterior(
    point: Point, results: ContentCache, report: Report
) -> tuple[SampledPoint, PushedDraws]:
    """The point with its posterior, and draws of its push-forward.

    Where the law comes from another study, its structure and parameters stay and the data are
    those of this one. The reference, if there is one, is sampled too unless it is kept.
    """
    study, keys = point.study, stage_keys(point.study.seed)
    law = _law_before_data(point, results, report)
    fit, cache = _fit(study, law), results.unfinished(content_of(point))
    with peak() as memory:
        posterior, sought = posed_of(point, law.problem, law.carved, results)
        clock = Clock()
        ensemble = sample_posed(keys["infer"], posterior, law.carved, study, report, cache)
    seconds = clock.seconds()
    copies = study.assess.noise_draws
    bands = Bands.of(law.carved.law, ensemble.theta, noise.Draws(ensemble.factor))
    along = along_path(keys["noise"], law.problem, law.carved.law, bands, copies)
    longest, compared = None, None
    if point.reference is not None:
        reference = sampled(point.reference, results, report)
        longest = Sampling(reference.inference, reference.mixing)
        pushed = results.find(content_of(point.reference), PushedDraws)
        compared = None if pushed is None else pushed.values
    halfway = None
    if ensemble.halfway is not None:
        halfway, _ = push_forward(law.carved.law, ensemble.halfway, law.problem.path.map)
    draws = PathDraws.of(along, law.problem.path, ensemble.shape[1], halfway)
    mixed = mixing(draws.pushed, ensemble.shape, ensemble.inference.capabilities.groups)
    per_point, table = judge(point.seed, draws, compared)
    spent = fit.spent._replace(
        infer=sought.total + seconds["total"],
        infer_compile=sought.compile + seconds["compile"],
        infer_memory=memory.gigabytes,
    )
    result = SampledPoint(
        **{**dict(fit), "spent": spent}, moving=draws.names, along=per_point, scores=table,
        pushed=Moments.of(along.pushed), predictive=Moments.of(along.predictive),
        pushed_energy=Moments.of(along.pushed_energy), shape=ensemble.shape,
        inference=ensemble.inference, mixing=mixed, reference=longest,
        constants=constants(draws, _constants(law.problem, draws.names), compared),
    )  # fmt: skip
    every = max(1, len(draws.pushed) // _KEPT_DRAWS)
    return result, PushedDraws(values=draws.pushed[::every][:_KEPT_DRAWS].astype(np.float32))
