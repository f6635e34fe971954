"""Write a run directory as a whole.

Everything goes to a hidden folder beside it, which is then renamed.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import xarray

from steinmetz import claims
from steinmetz.data import formats, noise
from steinmetz.engine import carving
from steinmetz.engine.fitness import fitted
from steinmetz.engine.outcome import Outcome
from steinmetz.errors import InputError
from steinmetz.exporters import json as law_json
from steinmetz.exporters.base import About
from steinmetz.pieces import quantiles
from steinmetz.potentials.law import structure
from steinmetz.predict.bands import Bands
from steinmetz.records import spaced
from steinmetz.report import figures, page
from steinmetz.report.sealed import SUMS, sums
from steinmetz.report.summary import MARKER, Summary, summarise
from steinmetz.report.whole import whole, writable
from steinmetz.studies.study import Study, to_toml

# Draws along the path that are kept one by one; of the others there are quantiles.
_KEPT_DRAWS = 100
# What groups of the posterior are draws of.
_PRINTED = "the printed law alone; where bands are those of several laws, see group 'mixture'"
_BANDS = (
    "all laws that may hold: draw i is of structure law[i], its parameters are theta[i] in the "
    "order of parameter[law[i]]; fitted has every structure as law.json has the printed law"
)
_QUANTILES = (0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975)


def check_target(folder: Path, marker: str = MARKER) -> None:
    """Refuse, before anything is computed.

    A folder that cannot be written or holds something else.
    """
    claims.check_name(folder)
    with writable(folder):
        _check_links(folder)
        if folder.exists() and not folder.is_dir():
            raise InputError(f"--out {folder}: there is a file of that name; name a folder")
        if folder.is_dir() and any(folder.iterdir()) and not (folder / marker).is_file():
            words = "the folder holds other files; name a new one or an earlier run"
            raise InputError(f"--out {folder}: {words}")
        nearest = next(parent for parent in folder.absolute().parents if parent.exists())
        # nothing is left behind: a run that is refused later must not leave an empty folder
        with tempfile.TemporaryDirectory(dir=nearest, prefix=".steinmetz-"):
            pass


def _check_links(folder: Path) -> None:
    """Refuse a link in place of the folder, and one that leads nowhere on the way to it."""
    if folder.is_symlink():
        raise InputError(f"--out {folder}: a link to {os.readlink(folder)}; name the folder itself")
    for parent in folder.absolute().parents:
        if parent.is_symlink() and not parent.exists():
            words = f"{parent} is a link to {os.readlink(parent)}, which is not there"
            raise InputError(f"--out {folder}: {words}")


def save(outcome: Outcome, folder: str | Path) -> Summary:
    """All files of method §8; returns the summary."""
    folder = Path(folder).absolute()
    check_target(folder)
    summary = summarise(outcome)
    about = About(outcome.study.material.name, outcome.study.name, outcome.problem.unit)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with whole(folder) as work:
        _draw(outcome, summary, work)
        write(work / "law.json", law_json.export(outcome.law, about))
        write(work / "carving.json", carving.to_json(outcome.carved))
        write(work / "study.toml", to_toml(_with_tables(outcome.study, work)))
        posterior(outcome).to_netcdf(work / "posterior.nc", engine="h5netcdf")
        predictions(outcome).to_netcdf(work / "predictions.nc", engine="h5netcdf")
        write(work / MARKER, summary.model_dump_json(indent=2))
        write(work / SUMS, sums(work))
    return summary


def _draw(outcome: Outcome, summary: Summary, folder: Path) -> None:
    """Figures and page."""
    (folder / "figures").mkdir(exist_ok=True)
    drawn = figures.draw(outcome, folder / "figures")
    write(folder / "report.html", page.render(outcome, summary, drawn))


def redraw(outcome: Outcome, summary: Summary, folder: Path) -> None:
    """Figures and page of a finished run anew, all of them or none; other files stay."""
    folder = folder.resolve()
    check_target(folder)
    with whole(folder) as work:
        shutil.copytree(folder, work, dirs_exist_ok=True)
        for name in figures.FIGURES:
            (work / "figures" / f"{name}.png").unlink(missing_ok=True)
        _draw(outcome, summary, work)


def _with_tables(study: Study, work: Path) -> Study:
    """The study with its tables beside it, so that the folder can be moved and read elsewhere."""
    tables = [source.table for source in study.sources if source.table is not None]
    if not tables:
        return study
    (work / "tables").mkdir()
    copied: dict[str, str] = {}
    for number, table in enumerate(dict.fromkeys(tables)):
        name = f"tables/{number}-{Path(table).name}"
        file = formats.file_of(table)
        shutil.copyfile(file, work / "tables" / f"{number}-{file.name}")
        copied[table] = name
    blocks = tuple(
        block.model_copy(update={"table": copied.get(block.table or "")})
        for block in study.data.blocks
    )
    here = {"table": copied.get(study.data.table or ""), "blocks": blocks}
    return study.model_copy(update={"data": study.data.model_copy(update=here)})


def write(path: Path, text: str) -> None:
    """A text file that is on the disk when this returns."""
    with path.open("w", encoding="utf-8") as stream:
        stream.write(text + "\n")
        stream.flush()
        os.fsync(stream.fileno())


def posterior(outcome: Outcome) -> xarray.DataTree:
    """Draws in the groups ArviZ expects: a chain per particle that moves, else one chain of all."""
    ensemble, dims = outcome.ensemble, ("chain", "draw")
    snapshots, particles = ensemble.shape

    def arranged(values: np.ndarray) -> np.ndarray:
        return values[None] if snapshots == 1 else values.reshape(snapshots, particles).T

    names = enumerate(outcome.law.names())
    group = xarray.Dataset({n: (dims, arranged(ensemble.theta[:, i])) for i, n in names})
    if outcome.study.noise.unknown:
        group["noise_factor"] = (dims, arranged(ensemble.factor))
    chains, draws = group.sizes["chain"], group.sizes["draw"]
    group = group.assign_coords(chain=np.arange(chains), draw=np.arange(draws))
    stats = xarray.Dataset({"lp": (dims, arranged(ensemble.log_density))}, coords=group.coords)
    each = fitted(outcome.problem, outcome.carved, ensemble)
    pointwise = np.stack([arranged(column) for column in each.T], axis=-1)
    likelihood = xarray.Dataset({"stress": ((*dims, "datum"), pointwise)}, coords=group.coords)
    observed, constant = _fitted(outcome)
    if "datum" in observed.coords:
        likelihood = likelihood.assign_coords(datum=observed["datum"])
    groups = {
        "posterior": group,
        "sample_stats": stats,
        "log_likelihood": likelihood,
        "observed_data": observed,
        "constant_data": constant,
    }
    if len(outcome.bands.parts) > 1:
        groups["mixture"] = mixture(outcome.bands)
    tree = xarray.DataTree.from_dict(groups)
    tree["posterior"].attrs.update(draws_of=_PRINTED)
    study = outcome.study
    tree.attrs.update(study=study.name, seed=study.seed, inference_library="steinmetz")
    return tree


def _fitted(outcome: Outcome) -> tuple[xarray.Dataset, xarray.Dataset]:
    """Fitted data and their noise; of very many the rows that `datum` names, counted from 0."""
    problem, cells = outcome.problem, ("datum", "component")
    train, count = problem.left_out, len(problem.train.state)
    rows = spaced(count, len(train.state))
    values = np.where(np.asarray(train.observed), np.asarray(train.values), np.nan)
    coords: dict[str, object] = {"component": list(train.components)}
    coords |= {"datum": rows} if len(rows) < count else {}
    constant = {
        "state": (("datum", "state_column"), train.state),
        "inputs": (("datum", "input"), np.asarray(train.inputs)),
        "deviation": (cells, np.asarray(outcome.carved.deviation)[rows]),
    }
    columns = list(problem.material.state)
    return (
        xarray.Dataset({"stress": (cells, values)}, coords=coords),
        xarray.Dataset(constant, coords={**coords, "state_column": columns}),
    )


def mixture(bands: Bands) -> xarray.Dataset:
    """The draws that make the bands: the law of each and its parameters, in the order of names."""
    parts, most = bands.parts, max(part.theta.shape[1] for part in bands.parts)
    theta = np.concatenate([_padded(part.theta, most) for part in parts])
    names = [[*part.law.names(), *[""] * (most - part.theta.shape[1])] for part in parts]
    structures = [json.dumps(structure(part.law)) for part in parts]
    found = xarray.Dataset(
        {
            "law": ("draw", bands.owner),
            "theta": (("draw", "place"), theta),
            "noise_factor": ("draw", bands.noise.factor),
            **{f"noise_{part}": ("draw", values) for part, values in _estimated(bands.noise)},
            "weight": ("structure", np.array([part.weight for part in parts])),
            "parameters": ("structure", np.array([part.theta.shape[1] for part in parts])),
            "parameter": (("structure", "place"), np.array(names, dtype=object)),
            "fitted": ("structure", np.array(structures, dtype=object)),
        },
        coords={"draw": np.arange(len(theta)), "structure": np.arange(len(parts))},
    )
    found.attrs.update(draws_of=_BANDS)
    if bands.discrepancy is not None:
        found.attrs.update({f"discrepancy_{k}": v for k, v in bands.discrepancy._asdict().items()})
    return found


def _estimated(drawn: noise.Draws) -> list[tuple[str, np.ndarray]]:
    """Parts of the noise that were estimated, with a value per draw."""
    names = ("relative", "absolute", "discrepancy")
    every = [(name, getattr(drawn, name)) for name in names]
    return [(name, values) for name, values in every if values is not None]


def _padded(theta: np.ndarray, most: int) -> np.ndarray:
    """Rows as long as the longest, not a number where a law has no such parameter."""
    left = np.full((len(theta), most - theta.shape[1]), np.nan)
    return np.concatenate([theta, left], axis=1)


def predictions(outcome: Outcome) -> xarray.Dataset:
    """Law, bands of both distributions, truth and some draws along the validation path."""
    along, path = outcome.along, outcome.problem.path
    dims, levels = ("point", "component"), list(_QUANTILES)

    data = {
        "law": (dims, along.law),
        "energy": ("point", along.law_energy),
        "push_forward": (("quantile", *dims), quantiles(along.pushed, levels)),
        "posterior_predictive": (("quantile", *dims), quantiles(along.predictive, levels)),
        "energy_push_forward": (("quantile", "point"), quantiles(along.pushed_energy, levels)),
        "draws": (("draw", *dims), along.pushed[:_KEPT_DRAWS].astype(np.float32)),
        "sampled": ("point", path.sampled),
        "observed": (dims, path.observed),
    }
    if along.truth is not None and along.truth_energy is not None and along.noisy is not None:
        data["truth"] = (dims, along.truth)
        data["truth_energy"] = ("point", along.truth_energy)
        data["noisy"] = (dims, along.noisy[0])
    names = np.concatenate(
        [[s.experiment] * (s.points.stop - s.points.start) for s in path.segments]
    )
    label = path.segments[0].label if len(path.segments) == 1 else "coordinate"
    coords = {
        "component": list(path.components),
        "quantile": levels,
        "experiment": ("point", names),
        label: ("point", path.coordinate),
    }
    return xarray.Dataset(data, coords=coords)
