"""A grid of four small runs, and an engine that does them in this process without computing."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from cases import CHEAP
from steinmetz.campaign import work
from steinmetz.campaign.grid import Planned, Run, plan
from steinmetz.records import Report
from steinmetz.report import summary as summaries
from steinmetz.workers.tasks import Task, Told

GRID = """
study = "hyperelasticity"
seeds = [0, 1]
[settings]
"data.count" = 12
{settings}
[axes]
"noise.relative" = [0.05, 0.1]
"""


def written(folder: Path) -> Path:
    """A file of four runs on cheap settings."""
    settings = "\n".join(f'"{name}" = {json.dumps(value)}' for name, value in CHEAP.items())
    path = folder / "grid.toml"
    path.write_text(GRID.format(settings=settings))
    return path


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    """The file."""
    return written(tmp_path)


@pytest.fixture
def planned(grid: Path) -> list[Planned]:
    """Its runs."""
    return plan(grid)


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Runs that are carried out write a folder and nothing else; here are their names."""
    names: list[str] = []

    def saved(run: Run, name: str, target: Path, report: Report) -> None:
        names.append(name)
        target.mkdir()

    def read(folder: Path) -> SimpleNamespace:
        scores = SimpleNamespace(train=0.99, test=0.98)
        size = SimpleNamespace(active=3)
        return SimpleNamespace(r2=scores, coverage={"95": 0.94}, parameters=size, law="Ψ = J, I1")

    monkeypatch.setattr(work, "_saved", saved)
    monkeypatch.setattr(summaries, "read", read)
    return names


def here(tasks: Sequence[Task], told: Told) -> list[Task]:
    """An engine that does everything in this process."""
    for done, one in enumerate(tasks):
        told(done, [one.label])
        work.carry_out(one.text)
    return []


Saved = Callable[[Run, str, Path, Report], None]
