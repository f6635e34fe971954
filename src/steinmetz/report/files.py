"""Write a run directory as a whole: everything goes to a hidden folder beside it, which is then renamed."""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from steinmetz.engine.run import Result
from steinmetz.errors import InputError
from steinmetz.export import carving, law_file
from steinmetz.report import figures, page
from steinmetz.report.summary import summarise
from steinmetz.studies import config

_KEPT_DRAWS = 100
_MARKER = "summary.json"


def check_target(folder: Path, marker: str = _MARKER) -> None:
    """Refuse, before anything is computed, a folder that cannot be written or that holds something else."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out {folder}: there is a file of that name; name a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / marker).is_file():
        raise InputError(
            f"--out {folder}: the folder holds other files; name a new one or an earlier run"
        )
    nearest = next(parent for parent in folder.absolute().parents if parent.exists())
    try:  # nothing is left behind: a run that is refused later must not leave an empty folder
        with tempfile.TemporaryDirectory(dir=nearest, prefix=".steinmetz-"):
            pass
    except OSError as error:
        raise InputError(
            f"--out {folder}: cannot write there ({(error.strerror or 'error').lower()})"
        ) from None


@contextlib.contextmanager
def whole(folder: Path) -> Iterator[Path]:
    """A folder that appears complete or not at all; an earlier run of that name is replaced."""
    work = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    try:
        yield work
        work.chmod(0o755)
        old = None
        if folder.exists():
            old = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-old-"))
            os.replace(folder, old)
        os.replace(work, folder)
        if old is not None:
            shutil.rmtree(old)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def save(result: Result, folder: str | Path) -> dict[str, Any]:
    """All files of method §8; returns the summary."""
    folder = Path(folder).absolute()
    check_target(folder)
    summary = summarise(result)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with whole(folder) as work:
        (work / "figures").mkdir()
        drawn = figures.draw(result, work / "figures")
        write(
            work / "law.json",
            json.dumps(law_file.to_dict(result.law, result.study.physics), indent=2),
        )
        write(work / "carving.json", json.dumps(carving.to_dict(result.carved)))
        write(work / "study.toml", config.to_toml(result.study))
        posterior(result).to_netcdf(work / "posterior.nc", engine="h5netcdf")
        predictions(result).to_netcdf(work / "predictions.nc", engine="h5netcdf")
        write(work / "report.html", page.render(result, summary, drawn))
        write(work / _MARKER, json.dumps(summary, indent=2, allow_nan=False))
    return summary


def write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as stream:
        stream.write(text + "\n")
        stream.flush()
        os.fsync(stream.fileno())


def posterior(result: Result) -> xarray.DataTree:
    """Draws in the groups ArviZ expects: a chain per particle that keeps moving, else one chain of all particles."""
    ensemble, dims = result.ensemble, ("chain", "draw")
    snapshots, particles = ensemble.shape

    def arranged(values: np.ndarray) -> np.ndarray:
        return values[None] if snapshots == 1 else values.reshape(snapshots, particles).T

    group = xarray.Dataset(
        {
            name: (dims, arranged(ensemble.theta[:, index]))
            for index, name in enumerate(result.law.names())
        }
    )
    if result.study.noise.unknown:
        group["noise_factor"] = (dims, arranged(ensemble.factor))
    chains, draws = group.sizes["chain"], group.sizes["draw"]
    group = group.assign_coords(chain=np.arange(chains), draw=np.arange(draws))
    stats = xarray.Dataset({"lp": (dims, arranged(ensemble.log_density))}, coords=group.coords)
    train = result.problem.train
    values = np.where(np.asarray(train.observed), np.asarray(train.values), np.nan)
    cells = ("datum", "component")
    observed = xarray.Dataset(
        {"stress": (cells, values)}, coords={"component": list(train.components)}
    )
    constant = xarray.Dataset(
        {
            "state": (("datum", "state_column"), train.state),
            "inputs": (("datum", "input"), np.asarray(train.inputs)),
            "deviation": (cells, np.asarray(result.carved.deviation)),
        },
        coords={
            "component": list(train.components),
            "state_column": list(result.problem.physics.state),
        },
    )
    groups = {
        "posterior": group,
        "sample_stats": stats,
        "observed_data": observed,
        "constant_data": constant,
    }
    tree = xarray.DataTree.from_dict(groups)
    tree.attrs.update(
        study=result.study.name, seed=result.study.seed, inference_library="steinmetz"
    )
    return tree


def predictions(result: Result) -> xarray.Dataset:
    """Law, bands of both distributions, truth and some particles along the validation path."""
    along, path = result.along, result.problem.path
    dims = ("point", "component")
    levels = [0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975]
    data: dict[str, Any] = {
        "law": (dims, along.law),
        "energy": ("point", along.law_energy),
        "push_forward": (("quantile", *dims), np.quantile(along.pushed, levels, axis=0)),
        "posterior_predictive": (
            ("quantile", *dims),
            np.quantile(along.predictive, levels, axis=0),
        ),
        "energy_push_forward": (
            ("quantile", "point"),
            np.quantile(along.pushed_energy, levels, axis=0),
        ),
        "draws": (("draw", *dims), along.pushed[:_KEPT_DRAWS].astype(np.float32)),
        "sampled": ("point", path.sampled),
    }
    if along.truth is not None and along.truth_energy is not None and along.noisy is not None:
        data["truth"] = (dims, along.truth)
        data["truth_energy"] = ("point", along.truth_energy)
        data["noisy"] = (dims, along.noisy[0])
    coords = {
        "component": list(along.components),
        "quantile": levels,
        path.label: ("point", path.coordinate),
    }
    return xarray.Dataset(data, coords=coords)
