"""Figure by figure on tiny settings: every point is there, once, and kept."""

from pathlib import Path
from typing import NoReturn

import pytest

from steinmetz.errors import InputError
from steinmetz.paper import grids, points, reproduce
from steinmetz.paper.records import SampledPoint

from .conftest import SEED, Outcomes


def test_every_point_of_every_figure_is_there(outcomes: Outcomes) -> None:
    assert [len(outcome.rows) for outcome in outcomes] == [4, 1, 3, 1]
    assert [row.arm for row in outcomes[2].rows] == ["L0", "L1", "L2"]
    assert (outcomes[3].rows[0].arm, outcomes[3].rows[0].reading) == ("flow", "")


def test_a_second_call_computes_nothing(
    outcomes: Outcomes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **named: object) -> NoReturn:
        raise AssertionError("computed again")

    monkeypatch.setattr(points, "sample_posed", fail)
    monkeypatch.setattr(points, "carve_law", fail)
    monkeypatch.setattr(grids, "load", lambda name: outcomes[0].grid)
    again = reproduce.reproduce(["hyper-comparison"], "quick", SEED, folder)
    for first, second in zip(outcomes[0].rows, again[0].rows, strict=True):
        assert isinstance(first.result, SampledPoint)
        assert isinstance(second.result, SampledPoint)
        assert first.result.scores == second.result.scores
        assert first.result.spent == second.result.spent
    with pytest.raises(AssertionError, match="computed again"):  # another seed is missing
        reproduce.reproduce(["hyper-comparison"], "quick", 2, folder)


def test_progress_counts_all_points_and_names_the_one_under_way(
    outcomes: Outcomes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = []
    monkeypatch.setattr(grids, "load", lambda name: outcomes[2].grid)
    reproduce.reproduce(
        ["hyper-fits"], "quick", SEED, folder, lambda *a, **named: heard.append((a, named))
    )
    assert [arguments for arguments, _ in heard] == [("reproducing", n, 3) for n in range(4)]
    assert heard[1][1]["now"] == "hyper-fits L1, proper, seed 2"


def test_laws_come_first_then_references_and_nothing_twice() -> None:
    figures = [grids.load(name) for name in ("hyper-bands", "hyper-comparison", "hyper-fits")]
    tasks = [
        reproduce.Task(grid.kind, p)
        for grid in figures
        for p in grids.points(grid, "quick", range(2))
    ]
    laws, modes, references, rest = reproduce.stages(tasks)
    assert len(laws) == 6  # three penalties, two seeds: readings and samplers share them
    assert {task.point.arm for task in references} == {"L0+reference", "L1+reference", "L2+SMC"}
    assert len(modes) == 12  # of every law in both readings
    assert len(references) == 12  # as many: each is sampled at length
    shared = [task for task in rest if task.point.arm == "L0+SVGD"]
    assert len(shared) == 4  # those of the bands are those of the comparison
    assert rest[0].point.arm.startswith("L2")  # the longest first


def test_an_unknown_scale_is_one_sentence(folder: Path) -> None:
    with pytest.raises(InputError, match="possible: quick, full"):
        reproduce.reproduce(["hyper-fits"], "huge", 1, folder)
