"""Functions that processes are told to do, by name; a task's text is JSON."""

import json
import os
import signal
from pathlib import Path
from typing import NoReturn

from steinmetz.errors import InputError
from steinmetz.workers import tasks
from steinmetz.workers.tasks import Task, Work


def noted(text: str) -> None:
    """Write who does it, on which cores and with which settings."""
    said = json.loads(text)
    about = {"process": os.getpid(), "cores": sorted(os.sched_getaffinity(0))}
    about["flags"] = os.environ.get("XLA_FLAGS", "")
    (Path(said["folder"]) / said["name"]).write_text(json.dumps(about))


def refused(text: str) -> NoReturn:
    """A task that fails."""
    raise InputError("no such thing")


def lost(text: str) -> NoReturn:
    """A task that no process survives; each leaves a line."""
    with (Path(json.loads(text)["folder"]) / "tried").open("a", encoding="utf-8") as stream:
        stream.write("tried\n")
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still there")


def lost_once(text: str) -> None:
    """A process that ends while it works on one task, the first time."""
    said = json.loads(text)
    begun = Path(said["folder"]) / "begun"
    if said["name"] == "point1" and not begun.exists():
        begun.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    noted(text)


def some(work: Work, count: int, folder: Path) -> list[Task]:
    """Tasks of one function."""
    names = [f"point{number}" for number in range(count)]
    return [tasks.task(name, work, {"name": name, "folder": str(folder)}) for name in names]
