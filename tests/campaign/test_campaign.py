"""A campaign: every run once, failures recorded, and anybody goes on from what is on the disk."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from campaign.conftest import Saved, here
from steinmetz import claims
from steinmetz.campaign import folder as folders
from steinmetz.campaign import work
from steinmetz.campaign.campaign import TABLE, carry_out, one_of
from steinmetz.campaign.grid import Planned, Run
from steinmetz.campaign.screen import remaining, screen
from steinmetz.errors import InputError
from steinmetz.records import Report
from steinmetz.workers.tasks import Task, Told


def test_four_runs_are_four_results(
    planned: list[Planned], noted: list[str], tmp_path: Path
) -> None:
    found = carry_out(planned, tmp_path / "out", here)
    assert [one.state for one in found] == ["done"] * 4
    assert noted == [one.name for one in planned]
    assert folders.read_plan(tmp_path / "out") == planned
    with (tmp_path / "out" / TABLE).open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["noise.relative"] for row in rows] == ["0.05", "0.05", "0.1", "0.1"]
    assert rows[0]["law"] == "Ψ = J, I1"
    assert (rows[0]["r2_test"], rows[0]["coverage"], rows[0]["parameters"]) == ("0.98", "0.94", "3")


def test_what_is_done_is_not_done_again(
    planned: list[Planned], noted: list[str], tmp_path: Path
) -> None:
    one_of(planned, 2, tmp_path / "out")
    assert noted == [planned[2].name]
    carry_out(planned, tmp_path / "out", here)
    carry_out(planned, tmp_path / "out", here)
    assert sorted(noted) == sorted(one.name for one in planned)


def test_a_folder_without_its_last_file_is_not_done(
    planned: list[Planned], noted: list[str], tmp_path: Path
) -> None:
    carry_out(planned, tmp_path / "out", here)
    kept = folders.place(tmp_path / "out", planned[0].name)
    (kept / folders.DONE).unlink()
    kept.rmdir()
    carry_out(planned, tmp_path / "out", here)
    assert noted[4:] == [planned[0].name]


def test_a_failure_is_recorded_and_stops_nobody(
    planned: list[Planned], noted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: Saved = work._saved

    def failing(run: Run, name: str, target: Path, report: Report) -> None:
        if name == planned[1].name:
            raise ArithmeticError("no\nlaw")
        saved(run, name, target, report)

    monkeypatch.setattr(work, "_saved", failing)
    found = carry_out(planned, tmp_path / "out", here)
    assert [one.state for one in found] == ["done", "failed", "done", "done"]
    assert found[1].reason == "ArithmeticError: no law"
    shown = screen(found, tmp_path)
    assert "failed      1 of 4" in shown
    assert f"{planned[1].label} ({planned[1].name}): ArithmeticError: no law" in shown
    monkeypatch.setattr(work, "_saved", saved)
    again = carry_out(planned, tmp_path / "out", here)
    assert [one.state for one in again] == ["done"] * 4


def test_runs_whose_process_is_always_lost_are_failures(
    planned: list[Planned], noted: list[str], tmp_path: Path
) -> None:
    def losing(tasks: Sequence[Task], told: Told) -> list[Task]:
        here(tasks[1:], told)
        return [tasks[0]]

    found = carry_out(planned, tmp_path / "out", losing)
    assert [one.state for one in found] == ["failed", "done", "done", "done"]
    assert "was lost 3 times" in found[0].reason


def test_a_run_that_another_process_is_at_is_left_to_it(
    planned: list[Planned], noted: list[str], tmp_path: Path
) -> None:
    with claims.claimed(folders.place(tmp_path / "out", planned[0].name)):
        found = carry_out(planned, tmp_path / "out", here)
        assert [one.state for one in found] == ["running", "done", "done", "done"]
        assert f"running     1 of 4\n              {planned[0].label}" in screen(found, tmp_path)
    assert folders.look(tmp_path / "out", planned)[0].state == "left"


def test_time_left_is_that_of_finished_runs(planned: list[Planned]) -> None:
    found = [folders.Found(planned[0], "done", seconds=60.0), folders.Found(planned[1], "running")]
    assert remaining(found) == "about 60 s, 1 at a time"
    assert remaining([*found, *found[1:]]) == "about 60 s, 2 at a time"
    assert remaining(found[:1]) == "none"
    assert remaining(found[1:]).startswith("not known")


def test_only_runs_of_the_grid(planned: list[Planned], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="runs 0 to 3"):
        one_of(planned, 4, tmp_path / "out")
