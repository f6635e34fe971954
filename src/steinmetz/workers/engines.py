"""Engines by name: what hands tasks to processes. All do the same, and leave the same files."""

from pathlib import Path
from typing import NamedTuple

from steinmetz.errors import InputError
from steinmetz.threads import cores
from steinmetz.workers import local
from steinmetz.workers.tasks import Engine

NAMES = ("local", "dask")


class Secured(NamedTuple):
    """Files of an encrypted connection to a scheduler: authority, certificate, key."""

    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


class Choice(NamedTuple):
    """Which engine, and what it needs to know."""

    name: str = "local"
    workers: int | None = None
    scheduler: str | None = None
    secured: Secured = Secured()

    @property
    def number(self) -> int:
        """Workers on this machine."""
        return self.workers or cores()

    @property
    def words(self) -> str:
        """Who works, in words."""
        if self.scheduler is not None:
            return "workers of a Dask scheduler"
        kind = "process" if self.name == "local" else "worker"
        several = {"process": "processes", "worker": "workers"}[kind]
        return f"{self.number} {kind if self.number == 1 else several} side by side"

    def engine(self) -> Engine:
        """The engine, or one sentence about what cannot be had."""
        if self.name not in NAMES:
            raise InputError(f"--engine {self.name}: there are {' and '.join(NAMES)}")
        if self.name == "dask":
            from steinmetz.workers import cluster

            return cluster.engine(self)
        if self.scheduler is not None or any(self.secured):
            raise InputError("--scheduler and its files are for --engine dask; name that, too")
        return local.engine(self.number)

    def helpers(self) -> Engine | None:
        """The same, but none where this process alone does as well."""
        engine = self.engine()
        return None if self.name == "local" and self.number == 1 else engine
