"""A finished run from its directory: data from the study, draws and numbers from their files."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray
from jaxtyping import Float

from steinmetz.assess.scores import Scores
from steinmetz.engine import carving, judge
from steinmetz.engine.carved import recalled, stage_keys
from steinmetz.engine.mixture import bands_of
from steinmetz.engine.outcome import Outcome
from steinmetz.engine.pareto import Row
from steinmetz.engine.problem import Problem, use_double
from steinmetz.engine.sample import Ensemble
from steinmetz.errors import InputError
from steinmetz.potentials.law import Law
from steinmetz.predict.bands import Bands
from steinmetz.report import summary as summaries
from steinmetz.report.sealed import opened
from steinmetz.report.summary import MARKER


class Recalled(NamedTuple):
    """What a run found, without what was judged of it."""

    law: Law
    problem: Problem
    bands: Bands


def recall(folder: Path) -> Recalled:
    """Law, data and draws of a run; much sooner there than its whole outcome."""
    use_double()
    study, problem = recalled(folder)
    carved = carving.read(folder / "carving.json", problem.train)
    problem = problem.allowing(carved.noise.level)
    ensemble = _ensemble(folder / "posterior.nc", carved.law, summaries.read(folder))
    return Recalled(carved.law, problem, bands_of(study, problem, carved, ensemble))


def restore(folder: Path) -> Outcome:
    """The outcome that was saved; what is computed again gives the same numbers."""
    use_double()
    summary = summaries.read(folder)
    study, problem = recalled(folder)
    keys = stage_keys(study.seed)
    carved = carving.read(folder / "carving.json", problem.train)
    problem = problem.allowing(carved.noise.level)
    ensemble = _ensemble(folder / "posterior.nc", carved.law, summary)
    count, bands = study.assess.certificate_states, bands_of(study, problem, carved, ensemble)
    return Outcome(
        study=study,
        problem=problem,
        carved=carved,
        table=[Row(**{n: getattr(row, n) for n in Row.model_fields}) for row in summary.pareto],
        ensemble=ensemble,
        bands=bands,
        along=judge.along_path(keys["noise"], problem, carved.law, bands, study.assess.noise_draws),
        scores=Scores(**{name: getattr(summary, name) for name in Scores.model_fields}),
        certificate=judge.certify(keys["check"], problem, carved.law, ensemble, bands, count),
        seconds=summary.seconds,
        across=summary.across,
        resumed=summary.resumed,
    )


def draws(folder: Path, law: Law) -> Float[np.ndarray, "draws parameters"]:
    """Parameters of every draw of the posterior of a law, in the order in which they were made."""
    return _ensemble(folder / "posterior.nc", law, summaries.read(folder)).theta


def _ensemble(path: Path, law: Law, summary: summaries.Summary) -> Ensemble:
    """Draws in the order in which they were made: snapshot by snapshot."""
    about = summary.inference
    if not 0 < about.snapshots <= about.draws:
        words = f"inference.snapshots = {about.snapshots} of {about.draws} draws"
        raise InputError(f"{path.parent / MARKER} is damaged ({words}); run the study again")
    shape = (about.snapshots, about.draws // about.snapshots)

    def flat(values: xarray.DataArray) -> np.ndarray:
        return values.values[0] if shape[0] == 1 else values.values.T.ravel()

    with opened(path) as tree:
        posterior = tree["posterior"].to_dataset()
        theta = np.stack([flat(posterior[name]) for name in law.names()], axis=1)
        ones = np.ones(len(theta))
        factor = flat(posterior["noise_factor"]) if "noise_factor" in posterior else ones
        log_density = flat(tree["sample_stats"].to_dataset()["lp"])
        if {len(theta), len(factor), len(log_density)} != {shape[0] * shape[1]}:
            raise ValueError(f"{len(theta)} draws where {MARKER} has {shape[0] * shape[1]}")
        if not np.isfinite(theta).all():
            raise ValueError("draws that are not finite")
    return Ensemble(theta, log_density, factor, shape, summary.inference)
