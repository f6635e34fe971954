"""The folder of a campaign: its plan, a folder per result, and what became of each run.

DIR/campaign.json        the runs that were asked for last, in their order
DIR/runs/HASH            a run directory, as `steinmetz run` writes it, its DONE written last
DIR/runs/HASH/failed.json  of a run that failed: the reason, until it is tried again
DIR/campaign.csv         a line per run
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import pydantic
from pydantic import Field

from steinmetz import claims, reading
from steinmetz.campaign.grid import Planned, Run
from steinmetz.errors import InputError
from steinmetz.records import Document
from steinmetz.report import whole

PLAN, DONE, FAILED = "campaign.json", "DONE", "failed.json"

State = Literal["done", "running", "failed", "left"]


class _Entry(Document):
    name: str = Field(pattern=r"^[0-9a-f]{16}$")
    label: str
    run: Run


class _Plan(Document):
    runs: tuple[_Entry, ...]


class _Done(Document):
    seconds: float


class _Failure(Document):
    reason: str


class Found(NamedTuple):
    """What became of a run; seconds of one that is done, the reason of one that failed."""

    planned: Planned
    state: State
    seconds: float | None = None
    reason: str = ""


def place(folder: Path, name: str) -> Path:
    """The folder of a run."""
    return folder / "runs" / name


def keep_plan(folder: Path, planned: Sequence[Planned]) -> None:
    """Write what is asked for; engines that work side by side write the same."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = tuple(_Entry(name=one.name, label=one.label, run=one.run) for one in planned)
    text = _Plan(runs=entries).model_dump_json(indent=1)
    path = folder / PLAN
    if not path.is_file() or reading.content(path).decode(errors="replace").strip() != text:
        whole.replace(path, text)


def read_plan(folder: Path) -> list[Planned]:
    """The runs that were asked for last."""
    path = folder / PLAN
    if not path.is_file():
        raise InputError(f"{folder}: no campaign there ({PLAN} is missing)")
    try:
        entries = _Plan.model_validate(reading.parsed(path)).runs
    except pydantic.ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        words = "give the command of the campaign again"
        raise InputError(f"{path} is damaged or of another version ({where}); {words}") from None
    return [Planned(one.name, one.label, one.run) for one in entries]


def is_done(run: Path) -> bool:
    """Whether a run is finished: nothing but its last file says so."""
    return (run / DONE).is_file()


def finish(run: Path, seconds: float) -> None:
    """The last file of a run."""
    whole.replace(run / DONE, _Done(seconds=seconds).model_dump_json())


def fail(run: Path, reason: str) -> None:
    """Record why a run failed; what an earlier one has left of results stays."""
    run.mkdir(parents=True, exist_ok=True)
    whole.replace(run / FAILED, json.dumps({"reason": reason}, ensure_ascii=False))


def forget_failure(run: Path) -> None:
    """Before a run is tried again: its folder is as if there had been none."""
    (run / FAILED).unlink(missing_ok=True)
    if run.is_dir() and not any(run.iterdir()):
        run.rmdir()


def look(folder: Path, planned: Sequence[Planned]) -> list[Found]:
    """What became of every run."""
    return [_found(place(folder, one.name), one) for one in planned]


def _found(run: Path, planned: Planned) -> Found:
    if is_done(run):
        return Found(planned, "done", seconds=_Done.model_validate(_parsed(run / DONE)).seconds)
    if claims.taken(run):
        return Found(planned, "running")
    if (run / FAILED).is_file():
        return Found(planned, "failed", reason=str(_parsed(run / FAILED)["reason"]))
    return Found(planned, "left")


def _parsed(path: Path) -> dict[str, object]:
    """One of the two small files of a run, checked."""
    kind = _Done if path.name == DONE else _Failure
    try:
        return kind.model_validate(reading.parsed(path)).model_dump()
    except pydantic.ValidationError:
        raise InputError(f"{path} is damaged; remove it, and that run is done again") from None
