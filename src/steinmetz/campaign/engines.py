"""Engines: what hands runs to processes. All do the same runs and leave the same folders.

None of them knows more than labels and texts: what is done, what failed and what is left is on the
disk.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from steinmetz import workers
from steinmetz.campaign.work import TRIES, Engine, Secured, Task, in_process
from steinmetz.errors import InputError
from steinmetz.workers import Told

NAMES = ("local", "dask")


class Choice(NamedTuple):
    """Which engine, and what it needs to know."""

    name: str = "local"
    workers: int | None = None
    scheduler: str | None = None
    secured: Secured = Secured()

    def engine(self) -> Engine:
        """The engine, or one sentence about what cannot be had."""
        if self.name not in NAMES:
            raise InputError(f"--engine {self.name}: there are {' and '.join(NAMES)}")
        if self.name == "dask":
            from steinmetz.campaign.cluster import engine

            return engine(self.workers, self.scheduler, self.secured)
        if self.scheduler is not None or any(self.secured):
            raise InputError("--scheduler and its files are for --engine dask; name that, too")
        return local(self.workers or workers.cores())


def local(count: int) -> Engine:
    """Processes of this machine, each on its share of the cores."""

    def do(tasks: Sequence[Task], told: Told) -> list[Task]:
        jobs = min(count, len(tasks))
        return workers.each_again(in_process, tasks, Path(), jobs, told, TRIES)

    return do
