"""Tasks in several processes, each on processor cores of its own.

A task is worked on by one process and kept whole or not at all, so that any of them may be killed
at any moment: what is finished stays, and the next call does the rest. Nothing heavy is imported
here: a process takes its cores before it loads jax, whose threads are as many as the cores it sees.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from steinmetz.errors import RunFailure

# Seconds between two looks at what is finished.
_PATIENCE = 0.5
# Regions of mapped memory above which compiled programs are let go (Linux allows 65 530).
_MAX_MAPS = 20_000
# Where they cannot be counted: let go after so many tasks.
_LET_GO_EVERY = 25


@runtime_checkable
class Task(Protocol):
    """What a process is given to do; it is called by its label."""

    @property
    def label(self) -> str:
        """In words."""


T = TypeVar("T", bound=Task)
# Hears how many tasks are done, and the names of those under way.
Told = Callable[[int, list[str]], None]
# Does a task, with the folder where results are kept.
Work = Callable[[T, Path], None]


def cores() -> int:
    """Processor cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def each(work: Work[T], tasks: Sequence[T], folder: Path, jobs: int, told: Told) -> None:
    """Do all tasks in their order, `jobs` at a time.

    `told` hears how many are done and which are under way; what it raises ends everything.
    """
    with _pool(jobs) as pool:
        names = {pool.submit(work, task, folder): task.label for task in tasks}
        waiting: set[Future[None]] = set(names)
        while waiting:
            told(len(names) - len(waiting), [names[one] for one in waiting if one.running()])
            finished, waiting = wait(waiting, _PATIENCE, return_when=FIRST_COMPLETED)
            for future in finished:
                _result(future)


def let_go_of_programs(done: int) -> None:
    """Clear compiled programs in time: each law has its own, and a process may map only so much."""
    import jax

    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            crowded = sum(1 for _ in maps) > _MAX_MAPS
    except OSError:  # not Linux
        crowded = done % _LET_GO_EVERY == 0
    if crowded:
        clear: Callable[[], None] = jax.clear_caches  # jax leaves the type of this one out
        clear()


def _result(future: "Future[None]") -> None:
    """Nothing, or the failure of a task; a process that was lost is one sentence."""
    try:
        future.result()
    except BrokenProcessPool:
        advice = "the same command goes on from there, with less memory if --jobs is smaller"
        raise RunFailure(f"a process was lost; what was finished is kept, {advice}") from None


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes with their share of the cores; they end with this one, however it ends."""
    context = multiprocessing.get_context("spawn")
    shares: Queue[list[int]] = context.Queue()
    usable = getattr(os, "sched_getaffinity", None)
    every = sorted(usable(0)) if usable else []
    for number in range(jobs):
        shares.put(every[number::jobs])
    pool = ProcessPoolExecutor(jobs, context, _begin, (shares, _compiled()))
    try:
        yield pool
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _compiled() -> dict[str, str]:
    """Where compiled programs are kept, in the words in which jax is told at its start."""
    import jax

    folder = jax.config.values["jax_compilation_cache_dir"]
    least = jax.config.values["jax_persistent_cache_min_compile_time_secs"]
    words = {"JAX_ENABLE_X64": "true", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": str(least)}
    return words | ({"JAX_COMPILATION_CACHE_DIR": str(folder)} if folder else {})


def _begin(shares: "Queue[list[int]]", settings: dict[str, str]) -> None:
    """First thing in a process: its cores, no ears for Ctrl-C, and an end with its parent."""
    share = shares.get()
    if share:
        os.sched_setaffinity(0, share)
    os.environ.update(settings)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
