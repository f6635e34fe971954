"""The array job: a task per run, and a plan whose status can be asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

from steinmetz.cli import main


def called(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["steinmetz", *words])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


def test_a_job_has_a_task_per_run(
    grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    job, out = tmp_path / "job.sh", tmp_path / "all results"
    words = ("campaign", str(grid), "--out", str(out), "--emit-slurm", str(job))
    assert called(monkeypatch, *words) == 0
    text = job.read_text()
    assert text.startswith("#!/bin/sh\n")
    assert "\n#SBATCH --array=0-3\n" in text
    last = text.splitlines()[-1]
    assert last == (f"exec steinmetz campaign {grid} --only \"$SLURM_ARRAY_TASK_ID\" --out '{out}'")
    subprocess.run(["sh", "-n", str(job)], check=True)
    assert called(monkeypatch, "status", str(out)) == 0
    assert "left        4 of 4" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("status", "nowhere"), "no such folder"),
        (("status", "."), "no campaign there"),
        (("campaign", "grid.toml", "--engine", "ray"), "there are local and dask"),
        (("campaign", "grid.toml", "--scheduler", "tcp://a:1"), "are for --engine dask"),
        (("campaign", "grid.toml", "--out", "."), "holds other files"),
        (("campaign", "none.toml"), "cannot read none.toml"),
        (("campaign", "grid.toml", "--emit-slurm", "job.txt"), "written as .sh"),
    ],
)
def test_what_is_refused(
    words: tuple[str, ...],
    reason: str,
    grid: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(grid.parent)
    assert called(monkeypatch, *words) == 2
    assert reason in capsys.readouterr().err
