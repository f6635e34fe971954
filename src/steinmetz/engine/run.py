"""Run a study: data → sparsify → posterior → infer → push forward → assess."""

import dataclasses
from pathlib import Path

from steinmetz.cache import Cache
from steinmetz.engine import carving, fitness, judge, pareto
from steinmetz.engine.across import across
from steinmetz.engine.carved import carve_law, recalled, stage_keys
from steinmetz.engine.clock import Clock
from steinmetz.engine.mixture import bands_of
from steinmetz.engine.outcome import Outcome
from steinmetz.engine.problem import Problem, prepare, use_double
from steinmetz.engine.sample import check as check_sampler
from steinmetz.engine.sample import sample
from steinmetz.errors import InputError
from steinmetz.potentials import terms
from steinmetz.records import Report, silent
from steinmetz.sparsify import carve
from steinmetz.sparsify.base import penalty_file
from steinmetz.studies import config
from steinmetz.studies.study import Study
from steinmetz.threads import beside


def run(study: Study, report: Report = silent, cache: Cache | None = None) -> Outcome:
    """All stages of a study; the same study and seed give the same numbers on the same machine.

    What is finished is kept in `cache`, if there is one, and not done again when the run is
    continued.
    """
    use_double()
    check_sampler(study)
    check_training(study)
    check_noise(study)
    clock = Clock()
    resumed = cache is not None and cache.found
    problem = prepare(stage_keys(study.seed)["data"], study)
    with clock.stage("sparsify"):
        carved = carve_law(study, problem, report, cache)
    outcome = finish(study, problem, carved, clock, report, cache)
    return dataclasses.replace(outcome, resumed=resumed)


def check_training(study: Study) -> None:
    """Refuse settings of training where nothing is trained: they would do nothing."""
    if not isinstance(study.potential, terms.Config):
        return
    usual = penalty_file(config.PENALTY).Config(method=config.PENALTY)
    for name, value in study.sparsify:
        if name not in terms.MATTERS and value != getattr(usual, name, None):
            raise InputError(
                f"sparsify.{name} does nothing with potential 'terms', where nothing is trained; "
                f"leave it out, or set potential.name = '{terms.NETWORK}'"
            )


def check_noise(study: Study) -> None:
    """Refuse noise that is to be estimated where no law is composed of terms."""
    own, estimated = study.noise, any(source.noise.estimated for source in study.sources)
    if isinstance(study.potential, terms.Config):
        if estimated and own.unknown:
            raise InputError("noise.unknown = true is for stated noise; a block has 'estimated'")
        return
    if estimated or own.tails != "normal":
        setting = "noise.tails = 'student'" if own.tails != "normal" else "'estimated' noise"
        raise InputError(
            f"{setting} is for laws composed of terms; with potential '{study.potential.name}' "
            "state noise.relative and noise.absolute, and set noise.unknown = true to have a "
            "common factor of both sampled"
        )


def finish(
    study: Study,
    problem: Problem,
    carved: carve.Carved,
    clock: Clock,
    report: Report = silent,
    cache: Cache | None = None,
) -> Outcome:
    """All stages after carving."""
    keys, law, problem = stage_keys(study.seed), carved.law, problem.allowing(carved.noise.level)
    fresh = problem.fresh(keys["test"], study.assess.test_count)
    rows = pareto.table(problem, carved, fresh)
    with clock.stage("infer"):
        ensemble = sample(keys["infer"], carved, problem, study, report, cache)
    report("assessing", 0, 1)
    bands = bands_of(study, problem, carved, ensemble)
    key, count = keys["check"], study.assess.certificate_states
    # it is mostly compiling, which leaves a core to the rest
    proof = beside(lambda: judge.certify(key, problem, law, ensemble, bands, count))
    along = judge.along_path(keys["noise"], problem, law, bands, study.assess.noise_draws)
    judged = judge.seen(keys["test"], problem, law, bands, along)
    how_well = fitness.examine(study, problem, carved, ensemble, judged)
    measured = judge.score(problem, law, along, fresh, judged, how_well)
    fitted = judge.fitted(keys["test"], problem, law, bands)
    measured = measured.model_copy(update={"coverage_fitted": fitted})
    beyond, certified = across(study, problem, carved, bands), proof()
    report("assessing", 1, 1)
    found = rows, ensemble, bands, along, measured, certified, clock.seconds(), beyond
    return Outcome(study, problem, carved, *found)


def reselect(outcome: Outcome, row: int, report: Report = silent) -> Outcome:
    """The same with the law of another row: a new posterior, no refit."""
    carved = carving.select(outcome.carved, row)
    return finish(outcome.study, outcome.problem, carved, Clock(), report)


def select(
    folder: str | Path, row: int, report: Report = silent, cache: Cache | None = None
) -> Outcome:
    """Take another row of the table of a finished run: its law, a new posterior, no refit."""
    use_double()
    clock, folder = Clock(), Path(folder)
    study, problem = recalled(folder)
    carved = carving.read(folder / "carving.json", problem.train)
    return finish(study, problem, carving.select(carved, row), clock, report, cache)
