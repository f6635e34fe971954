"""Pieces of draws of a finite-element problem, solved by others: tasks by name and JSON text.

A process poses the problem again from the folder of the run; the mean draw of each law, from which
all others start, it finds on the disk.
"""

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from steinmetz import reading
from steinmetz.cache import Cache
from steinmetz.errors import RunFailure
from steinmetz.fe.draws import Helpers, Piece, keep, kept_middles
from steinmetz.fe.result import Asked, Posed, posed
from steinmetz.fe.work import Work
from steinmetz.progress import Remaining
from steinmetz.records import Report
from steinmetz.report import stored
from steinmetz.workers import tasks as each
from steinmetz.workers.tasks import Engine

# Files of a run that its draws depend on.
_FILES = ("study.toml", "carving.json", "posterior.nc")


def cache_of(run: Path, asked: Asked, folder: Path) -> Cache:
    """Where pieces are kept until the folder is written: hidden beside it, known by content."""
    mesh = Path(asked.problem)
    files = [run / name for name in _FILES]
    files += [mesh, mesh.with_suffix(".toml")] if mesh.is_file() else []
    sums = [hashlib.sha256(reading.content(file)).hexdigest() for file in files]
    text = json.dumps([metadata.version("steinmetz"), asked._asdict(), sums])
    folder = folder.absolute()
    return Cache(folder.with_name(f".{folder.name}.partial"), text)


def helpers(
    run: Path, asked: Asked, cache: Cache, engine: Engine | None, report: Report
) -> Helpers:
    """Hands pieces to an engine, where there is one, and more than one piece."""
    mesh = Path(asked.problem)
    named = asked._replace(problem=str(mesh.absolute())) if mesh.is_file() else asked
    said = {"run": str(run.absolute()), "asked": named._asdict()}
    said |= {"folder": str(cache.folder.absolute()), "fingerprint": cache.fingerprint}

    def hand_out(pieces: Sequence[Piece]) -> None:
        tasks = [each.task(one.name, solve, {**said, "piece": one}) for one in pieces]
        if engine is not None and len(tasks) > 1:
            progress = Remaining(report, "finite elements", len(tasks))
            each.every(engine, tasks, progress.following())

    return Helpers(cache, hand_out)


def solve(text: str) -> None:
    """One piece, in whatever process."""
    said = json.loads(text)
    cache, piece = Cache(Path(said["folder"]), said["fingerprint"]), Piece(*said["piece"])
    work = _work(said["run"], json.dumps(said["asked"]), piece.law)
    middles = kept_middles(cache, piece.law)
    if middles is None:
        raise RunFailure(f"{cache.folder} is damaged or gone; give the command again")
    keep(cache, piece, piece.solved(work, middles))


@lru_cache(maxsize=1)
def _posed(run: str, asked: str) -> Posed:
    """The problem of the tasks that this process is given."""
    return posed(stored.recall(Path(run)), Asked(**json.loads(asked)))


@lru_cache(maxsize=1)
def _work(run: str, asked: str, law: int) -> Work:
    """The law at hand; pieces come law by law."""
    groups, equilibrium, loads = _posed(run, asked)
    exact = not json.loads(asked)["linearised"]
    return Work(groups[law], equilibrium, loads, exact)
