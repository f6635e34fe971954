"""One run of a campaign, in whatever process on whatever machine.

What is to be done comes as a JSON text and nothing else; what is found stays on the disk.
"""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from steinmetz import claims
from steinmetz.cache import Cache
from steinmetz.campaign import folder
from steinmetz.campaign.grid import Planned, Run, name_of
from steinmetz.engine.problem import use_double
from steinmetz.engine.run import run as run_study
from steinmetz.errors import InputError, unwritten
from steinmetz.records import Report, silent
from steinmetz.report import files
from steinmetz.workers import tasks
from steinmetz.workers.tasks import LOST, Task

# Tries to claim a run, and seconds between them: somebody may only be looking.
_CLAIMS, _PAUSE = 4, 0.25

End = Literal["done", "failed", "elsewhere"]


def task(planned: Planned, where: Path) -> Task:
    """The text of a run."""
    said = {
        "name": planned.name,
        "folder": str(where.absolute()),
        "run": planned.run.model_dump(mode="json"),
    }
    return tasks.task(planned.label, carry_out, said)


def carry_out(text: str, report: Report = silent) -> End:
    """Do a run, unless it is done or another process is at it; a failure is recorded, not raised.

    An interrupt is no failure: what the run has so far is kept.
    """
    said = json.loads(text)
    run, target = Run.model_validate(said["run"]), folder.place(Path(said["folder"]), said["name"])
    if folder.is_done(target):
        return "done"
    try:
        return _claimed(target, lambda: _done(run, said["name"], target, report))
    except claims.Taken:
        return "elsewhere"


def _claimed(target: Path, work: Callable[[], End]) -> End:
    """Work that nobody else does meanwhile."""
    for _ in range(_CLAIMS - 1):
        try:
            with claims.claimed(target):
                return work()
        except claims.Taken:
            time.sleep(_PAUSE)
    with claims.claimed(target):
        return work()


def _done(run: Run, name: str, target: Path, report: Report) -> End:
    """The run, with everything that can go wrong in it recorded."""
    if folder.is_done(target):
        return "done"
    folder.forget_failure(target)
    begun = time.monotonic()
    try:
        _saved(run, name, target, report)
    except Exception as error:
        if not threading.main_thread().is_alive():  # the process is ending: no fault of the run
            raise
        folder.fail(target, _reason(error))
        return "failed"
    folder.finish(target, time.monotonic() - begun)
    return "done"


def _saved(run: Run, name: str, target: Path, report: Report) -> None:
    """Compute and write a run directory; unfinished work is kept beside it, and used."""
    use_double()
    study = run.build()
    if name_of(study) != name:
        raise InputError("its tables or study have changed; give the command again")
    cache = Cache(target.with_name(f".{name}.partial"), name)
    files.save(run_study(study, report, cache), target)
    cache.clear()


def _reason(error: Exception) -> str:
    """Why a run failed, in one line."""
    if isinstance(error, OSError):
        return unwritten(error)
    words = " ".join(str(error).split()) or "no reason given"
    kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
    return f"{kind}{words}"


def give_up(one: Task) -> None:
    """Record a run whose process was lost every time it was tried."""
    said = json.loads(one.text)
    target = folder.place(Path(said["folder"]), said["name"])
    if not folder.is_done(target):
        folder.fail(target, LOST)
