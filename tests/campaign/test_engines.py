"""Engines on real runs: the same folders whoever does them, and a lost worker costs one run."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import xarray

from steinmetz.campaign import folder as folders
from steinmetz.campaign.campaign import carry_out
from steinmetz.campaign.folder import Found
from steinmetz.campaign.grid import Planned
from steinmetz.records import Report
from steinmetz.workers import local
from steinmetz.workers.engines import Choice
from steinmetz.workers.tasks import Engine


def draws(folder: Path, planned: Sequence[Planned]) -> list[np.ndarray]:
    """The log densities of all draws of every run."""
    found = []
    for one in planned:
        path = folders.place(folder, one.name) / "posterior.nc"
        with xarray.open_datatree(path, engine="h5netcdf") as tree:
            found.append(np.asarray(tree["sample_stats"]["lp"].values))
    return found


def killer(pids: list[int]) -> Report:
    """Kills the process of a run that is under way, once."""

    def report(stage: str, done: int, total: int, **facts: object) -> None:
        if done >= 1 and not pids:
            pids.append(worker())
            os.kill(pids[0], signal.SIGKILL)

    return report


def worker() -> int:
    """A process that computes: a descendant of this one that has spent most time."""
    spent = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        spent[int(stat.parent.name)] = int(text[1]), int(text[11])
    family, grown = {os.getpid()}, True
    while grown:
        more = {pid for pid, (parent, _) in spent.items() if parent in family} - family
        family, grown = family | more, bool(more)
    return max(family - {os.getpid()}, key=lambda pid: spent[pid][1])


def killed(planned: list[Planned], folder: Path, engine: Engine) -> list[Found]:
    pids: list[int] = []
    found = carry_out(planned, folder, engine, killer(pids))
    assert pids
    return found


@pytest.mark.long
def test_a_killed_process_costs_nothing_in_the_end(planned: list[Planned], tmp_path: Path) -> None:
    found = killed(planned, tmp_path / "killed", local.engine(2))
    assert [one.state for one in found] == ["done"] * 4
    carry_out(planned, tmp_path / "whole", local.engine(2))
    for one, other in zip(
        draws(tmp_path / "killed", planned), draws(tmp_path / "whole", planned), strict=True
    ):
        assert np.array_equal(one, other)


@pytest.mark.long
@pytest.mark.filterwarnings("default")  # of the other package's own
def test_dask_leaves_what_the_local_engine_does(planned: list[Planned], tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    found = killed(planned, tmp_path / "dask", Choice("dask", 2).engine())
    assert [one.state for one in found] == ["done"] * 4
    carry_out(planned, tmp_path / "local", local.engine(2))
    for one, other in zip(
        draws(tmp_path / "dask", planned), draws(tmp_path / "local", planned), strict=True
    ):
        assert np.array_equal(one, other)
