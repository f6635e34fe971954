"""Whoever hands work out: the same results in this process, in others and on a cluster."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import steinmetz
from cases import QUICK
from paper.conftest import tiny
from steinmetz.api import Result
from steinmetz.cache import Cache, ContentCache
from steinmetz.calibrate import work as calibration
from steinmetz.calibrate.judged import DataSet
from steinmetz.engine.lcurve import LCurve, Plan, lcurve
from steinmetz.fe import draws, shared, written
from steinmetz.fe.result import Asked
from steinmetz.paper import grids, reproduce, sent
from steinmetz.paper.points import content_of
from steinmetz.records import silent
from steinmetz.studies import config, study
from steinmetz.workers import tasks
from steinmetz.workers.engines import Choice
from steinmetz.workers.tasks import Engine, Task, Told

CURVE = Plan(("l0", "l1"), (0.0, 0.1), 3, 4)
PART = Asked("cook", cells=2, steps=2, draws=5, limit=0.1)


class Here:
    """An engine that does everything in this process, and remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[Task] = []

    def __call__(self, given: Sequence[Task], told: Told) -> list[Task]:
        """All tasks."""
        for done, one in enumerate(given):
            told(done, [one.label])
            json.loads(one.text)
            tasks.do(one.work, one.text)
        self.given += given
        return []


def curve(folder: Path, engine: Engine | None) -> LCurve:
    chosen = steinmetz.study("hyperelasticity", {**QUICK, "sparsify.stride": 60})
    return lcurve(chosen, CURVE, silent, Cache(folder, "curve"), engine)


def part(run: Path, folder: Path, engine: Engine | None) -> dict[str, bytes]:
    """What the command writes."""
    cache = shared.cache_of(run, PART, folder)
    helpers = shared.helpers(run, PART, cache, engine, silent)
    written.carried_out(run, PART, folder, silent, helpers)
    return {name: (folder / name).read_bytes() for name in ("fe.json", "fields.vtu")}


def data(folder: Path, engine: Engine | None) -> list[DataSet]:
    """Two data sets, but for their seconds."""
    given = calibration.Plan(("mooney_rivlin",), (0.1,), 2).tasks()
    found = calibration.calibrate(given, folder, engine=engine)
    return [one.model_copy(update={"seconds": 0.0}) for one in found]


def figure(folder: Path, engine: Engine | None) -> list[dict[str, list[float]]]:
    """Laws and scores of a figure on tiny settings."""
    grid = tiny("hyper-comparison", arms=("L2+SVGD", "L0+SVGD"), readings=("proper",), reference={})
    load = grids.load
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grids, "load", lambda name: grid if name == grid.id else load(name))
        (outcome,) = reproduce.reproduce([grid.id], "quick", 1, folder, engine=engine)
    rows = [row.result.model_dump(exclude={"spent"}) for row in outcome.rows]
    return [json.loads(json.dumps(row, default=np.ndarray.tolist)) for row in rows]


def test_blocks_of_an_l_curve_are_tasks(tmp_path: Path) -> None:
    engine = Here()
    assert curve(tmp_path / "here", engine).points == curve(tmp_path / "alone", None).points
    assert [task.label for task in engine.given] == [
        f"{method}, block {number}" for method in ("l0", "l1") for number in (0, 1)
    ]
    again = Here()
    curve(tmp_path / "here", again)
    assert again.given == []


def test_pieces_of_draws_are_tasks(
    quick: Result, quick_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draws, "_PIECE", 2)
    engine = Here()
    assert part(quick_folder, tmp_path / "a", engine) == part(quick_folder, tmp_path / "b", None)
    assert len(engine.given) >= 3
    again = Here()
    part(quick_folder, tmp_path / "a", again)
    assert again.given == []


def test_a_mesh_that_has_changed_is_another_problem(quick_folder: Path, tmp_path: Path) -> None:
    mesh = tmp_path / "own.msh"
    mesh.write_text("a")
    mesh.with_suffix(".toml").write_text("")
    asked = PART._replace(problem=str(mesh))
    before = shared.cache_of(quick_folder, asked, tmp_path / "out").fingerprint
    mesh.write_text("b")
    assert shared.cache_of(quick_folder, asked, tmp_path / "out").fingerprint != before
    assert shared.cache_of(quick_folder, PART, tmp_path / "out").fingerprint != before


def test_points_of_every_figure_are_the_same_when_they_arrive() -> None:
    for name in grids.titles():
        for point in grids.points(grids.load(name), "quick", range(1)):
            said = json.loads(json.dumps(sent.plain(point)))
            arrived = sent.point(said)
            assert arrived == point
            assert content_of(arrived) == content_of(point)


def test_studies_are_the_same_when_they_arrive() -> None:
    for name in config.names():
        chosen = config.load(name)
        assert config.build(json.loads(json.dumps(study.plain(chosen)))) == chosen


@pytest.mark.long
def test_points_of_a_figure_are_tasks(tmp_path: Path) -> None:
    """Laws in one round, points in the next; then nothing is left to do here."""
    engine = Here()
    assert figure(tmp_path / "here", engine) == figure(tmp_path / "alone", None)
    assert len(engine.given) == 4
    assert len(list((tmp_path / "here" / "results").glob("*.npz"))) == len(
        list((tmp_path / "alone" / "results").glob("*.npz"))
    )


@pytest.mark.long
@pytest.mark.filterwarnings("default")  # of the other package's own
@pytest.mark.parametrize("work", [curve, data, figure])
def test_any_engine_finds_the_same(
    work: Callable[[Path, Engine | None], object], tmp_path: Path
) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    alone = work(tmp_path / "alone", None)
    assert work(tmp_path / "local", Choice("local", 2).engine()) == alone
    assert work(tmp_path / "dask", Choice("dask", 2).engine()) == alone


@pytest.mark.long
@pytest.mark.filterwarnings("default")  # of the other package's own
def test_any_engine_solves_the_same(
    quick: Result, quick_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr(draws, "_PIECE", 2)
    alone = part(quick_folder, tmp_path / "alone", None)
    assert part(quick_folder, tmp_path / "local", Choice("local", 2).engine()) == alone
    assert part(quick_folder, tmp_path / "dask", Choice("dask", 2).engine()) == alone


def test_what_one_engine_began_another_ends(tmp_path: Path) -> None:
    """A data set that is there is not drawn again, whoever asks."""
    engine = Here()
    calibration.calibrate(calibration.Plan(("gent",), (0.1,), 1).tasks(), tmp_path, engine=engine)
    assert engine.given == []  # one task needs no other process
    more = calibration.Plan(("gent",), (0.1,), 3).tasks()
    calibration.calibrate(more, tmp_path, engine=engine)
    assert [task.label for task in engine.given] == [task.label for task in more[1:]]
    kept = ContentCache(tmp_path / calibration.RESULTS)
    assert all(kept.find(task.content, DataSet) is not None for task in more)
