"""The command: what it writes, what it keeps, and what it refuses."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from steinmetz.calibrate import work
from steinmetz.calibrate.judged import DataSet, judge
from steinmetz.calibrate.page import Calibration
from steinmetz.calibrate.work import Plan
from steinmetz.cli import main
from steinmetz.errors import InputError
from steinmetz.workers import local

WORDS = ["calibrate", "--law", "mooney_rivlin", "--noise", "0.1", "--workers", "1", "--seeds", "2"]


def command(monkeypatch: pytest.MonkeyPatch, said: Path, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", ["steinmetz", *words])
    with said.open("w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        with pytest.raises(SystemExit) as left:
            main()
    assert left.value.code == 0, said.read_text()


def read(folder: Path) -> Calibration:
    return Calibration.model_validate_json((folder / "calibration.json").read_text())


def timeless(data: list[DataSet]) -> list[DataSet]:
    return [each.model_copy(update={"seconds": 0.0}) for each in data]


def test_the_command_writes_and_goes_on_with_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, counted = tmp_path / "calibration", []

    def counting(task: work.Task) -> DataSet:
        counted.append(task.study.seed)
        return judge(task)

    monkeypatch.setattr(work, "judge", counting)
    command(monkeypatch, tmp_path / "said", *WORDS, "--out", str(folder))
    assert "95 % band over 2 data sets" in capsys.readouterr().out
    assert counted == [0, 1]
    first = read(folder)
    assert [each.seed for each in first.data] == [0, 1]
    assert first.command == "steinmetz calibrate --law mooney_rivlin --noise 0.1 --seeds 2"
    page = (folder / "calibration.md").read_text()
    for name in ("bagged", "stacked", "jackknife+", "By law", "inside 95 %"):
        assert (name in page) == (name != "By law")  # one law, one noise: no such table
    assert (folder / "calibration.png").stat().st_size > 10_000
    assert [path.name for path in folder.glob("*.tmp*")] == []
    (lost, *_) = (folder / "results").glob("*.npz")
    lost.unlink()
    command(monkeypatch, tmp_path / "said", *WORDS, "--out", str(folder))
    assert len(counted) == 3
    assert timeless(read(folder).data) == timeless(first.data)
    command(monkeypatch, tmp_path / "said", *WORDS, "--out", str(folder))
    assert len(counted) == 3


def test_data_sets_of_a_run_are_judged(finished: Path, tmp_path: Path) -> None:
    (only,) = work.calibrate(Plan(run=finished, seeds=1).tasks(), tmp_path)
    assert only.law == "mooney"
    assert only.ways["oracle"].clean["in range"].width > 0


def test_nothing_is_kept_of_a_data_set_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(task: work.Task) -> NoReturn:
        raise InputError("no data")

    monkeypatch.setattr(work, "judge", fail)
    with pytest.raises(InputError, match="no data"):
        work.calibrate(Plan(("gent",), (0.1,), 1).tasks(), tmp_path)
    assert not list(tmp_path.rglob("*.npz"))


def test_plans_that_make_no_sense_are_one_sentence(finished: Path) -> None:
    with pytest.raises(InputError, match="leave --law, --noise and --set out"):
        Plan(("gent",), run=finished).tasks()
    with pytest.raises(InputError, match="name each law once"):
        Plan(("gent", "gent")).tasks()
    with pytest.raises(InputError, match="name another law or material"):
        Plan(("rudraraju",)).tasks()


@pytest.mark.long
def test_a_killed_calibration_in_two_processes_goes_on(tmp_path: Path) -> None:
    """SIGTERM after the first data set; the second call ends with the numbers of one process."""
    words = [*WORDS[:5], "--seeds", "4", "--out", str(tmp_path / "two")]
    whole = [sys.executable, "-m", "steinmetz", *words, "--workers", "2"]
    with subprocess.Popen(whole, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("calibrating: 1/"):
                process.send_signal(signal.SIGTERM)
        assert process.wait() == 143
        assert line.startswith("steinmetz: interrupted"), "nothing after that sentence"
    assert list((tmp_path / "two" / "results").glob("*.npz"))
    assert not (tmp_path / "two" / "calibration.json").exists()
    done = subprocess.run(whole, capture_output=True, text=True, check=True)
    assert "going on" in done.stderr or "calibrating: 4/4" in done.stderr
    alone = work.calibrate(Plan(("mooney_rivlin",), (0.1,), 4).tasks(), tmp_path / "one")
    assert timeless(read(tmp_path / "two").data) == timeless(alone)


@pytest.mark.long
@pytest.mark.parametrize("law", ["gent", "mooney_rivlin", "yeoh"])
def test_bands_cover_and_are_not_wide(law: str, tmp_path: Path) -> None:
    """Six data sets: the usual bands cover most of the path, at three times the oracle's width."""
    data = work.calibrate(Plan((law,), (0.05, 0.1), 3).tasks(), tmp_path, engine=local.engine(2))
    usual = [each.ways["bagged"].clean for each in data]
    assert np.mean([each["in range"].coverage[95] for each in usual]) > 0.85
    assert np.mean([each["beyond"].coverage[95] for each in usual]) > 0.85
    sure = [each.ways["oracle"].clean["in range"].width for each in data]
    ratio = [each["in range"].width / width for each, width in zip(usual, sure, strict=True)]
    assert np.mean(ratio) < 3
    assert json.loads(data[0].model_dump_json())["law"] == law
