"""The sparse law of the data of a study, and the random numbers of its stages."""

from pathlib import Path

from jaxtyping import Array

from steinmetz import host
from steinmetz.cache import Cache
from steinmetz.engine.problem import Problem, built, prepare
from steinmetz.errors import InputError
from steinmetz.potentials import terms
from steinmetz.records import Report, silent
from steinmetz.sparsify import carve
from steinmetz.sparsify.compose import Wanted, composed
from steinmetz.studies import config
from steinmetz.studies.study import Study


def carve_law(
    study: Study, problem: Problem, report: Report = silent, cache: Cache | None = None
) -> carve.Carved:
    """The sparse law of the data of a study."""
    made, deviation = built(study, problem.material), _refit_deviation(study)
    if isinstance(made, terms.Vocabulary):
        floor = None if study.noise.floor == "estimated" else study.noise.floor
        growth, tails = problem.material.conditions.growth, study.noise.tails == "student"
        wanted = Wanted(made.most, floor, growth, tails)
        return composed(problem.train, problem.units, wanted, study.sparsify, report)
    task = carve.Task(made, problem.train, problem.units, deviation)
    return carve.carve(stage_keys(study.seed)["carve"], task, study.sparsify, report, cache)


def recalled(folder: Path) -> tuple[Study, Problem]:
    """Study and data of a finished run; what its file says wrong is named with the file."""
    study = config.of_run(folder)
    try:
        return study, prepare(stage_keys(study.seed)["data"], study)
    except InputError as error:
        if str(folder) in str(error):
            raise
        raise InputError(f"{folder / 'study.toml'}: {error}") from None


def _refit_deviation(study: Study) -> float:
    """The deviation of the prior that holds refits; a prior that is the price needs that price."""
    if study.prior.deviation != "penalty":
        return float(study.prior.deviation)
    if not study.sparsify.gaussian_prior or study.sparsify.search:
        raise InputError(
            "prior.deviation = 'penalty' reads the price as a Gaussian prior: it needs a price "
            "that is one, such as sparsify.method = 'l2', and sparsify.search = false; else give a "
            "number"
        )
    return 1.0


def stage_keys(seed: int) -> dict[str, Array]:
    """One key per stage, so that a stage that is done again draws the same numbers."""
    names = ("data", "carve", "infer", "noise", "check", "test")
    return dict(zip(names, host.seeded(seed, len(names)), strict=True))
