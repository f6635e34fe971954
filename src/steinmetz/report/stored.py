"""A finished run from its directory: data from the study, draws and numbers from their files."""

from pathlib import Path

import numpy as np
import xarray

from steinmetz.assess.scores import Scores
from steinmetz.engine import carving, judge
from steinmetz.engine.carved import stage_keys
from steinmetz.engine.mixture import bands_of
from steinmetz.engine.outcome import Outcome
from steinmetz.engine.pareto import Row
from steinmetz.engine.problem import prepare, use_double
from steinmetz.engine.sample import Ensemble
from steinmetz.errors import InputError
from steinmetz.potentials.law import Law
from steinmetz.report import summary as summaries
from steinmetz.studies import config


def restore(folder: Path) -> Outcome:
    """The outcome that was saved; what is computed again gives the same numbers."""
    use_double()
    summary = summaries.read(folder)
    study = config.load(str(folder / "study.toml"))
    keys = stage_keys(study.seed)
    problem = prepare(keys["data"], study)
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


def _ensemble(path: Path, law: Law, summary: summaries.Summary) -> Ensemble:
    """Draws in the order in which they were made: snapshot by snapshot."""
    shape = (summary.inference.snapshots, summary.inference.draws // summary.inference.snapshots)

    def flat(values: xarray.DataArray) -> np.ndarray:
        return values.values[0] if shape[0] == 1 else values.values.T.ravel()

    try:
        with xarray.open_datatree(path, engine="h5netcdf") as tree:
            posterior = tree["posterior"].to_dataset()
            theta = np.stack([flat(posterior[name]) for name in law.names()], axis=1)
            factor = (
                flat(posterior["noise_factor"])
                if "noise_factor" in posterior
                else np.ones(len(theta))
            )
            log_density = flat(tree["sample_stats"].to_dataset()["lp"])
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f"{path} is missing or damaged: {error}; run the study again") from None
    return Ensemble(theta, log_density, factor, shape, summary.inference)
