"""Tasks in several processes, each on processor cores of its own.

A task is worked on by one process and kept whole or not at all, so that any of them may be killed
at any moment: what is finished stays, and the next call does the rest. Nothing heavy is imported
here: a process takes its cores before it loads jax, whose threads are as many as the cores it sees.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
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


def each_again(
    work: Work[T], tasks: Sequence[T], folder: Path, jobs: int, told: Told, tries: int
) -> list[T]:
    """Do all tasks as `each` does; a process that is lost costs its task alone, which is retried.

    Every process has a pool of its own, so that the others do not hear of it. Returns the tasks
    whose process was lost `tries` times.
    """
    waiting = deque((task, 1) for task in tasks)
    given_up: list[T] = []
    with _seats(jobs) as free:
        under_way: dict[Future[None], tuple[_Seat, T, int]] = {}
        while waiting or under_way:
            while waiting and free:
                seat, (task, tried) = free.pop(), waiting.popleft()
                under_way[seat.submit(work, task, folder)] = seat, task, tried
            names = [task.label for _, task, _ in under_way.values()]
            told(len(tasks) - len(waiting) - len(under_way), names)
            for future in wait(under_way, _PATIENCE, return_when=FIRST_COMPLETED)[0]:
                seat, task, tried = under_way.pop(future)
                free.append(seat)
                if isinstance(future.exception(), BrokenProcessPool):
                    again = tried < tries
                    waiting.extend([(task, tried + 1)] if again else [])
                    given_up.extend([] if again else [task])
                else:
                    future.result()
    return given_up


class _Seat:
    """A pool of one process with its share of the cores, made anew when the process is lost."""

    def __init__(self, share: list[int]) -> None:
        self.share, self.pool = share, _opened([share])

    def submit(self, work: Work[T], task: T, folder: Path) -> "Future[None]":
        """Hand over a task."""
        try:
            return self.pool.submit(work, task, folder)
        except BrokenProcessPool:
            _end(self.pool)
            self.pool = _opened([self.share])
            return self.pool.submit(work, task, folder)


@contextmanager
def _seats(jobs: int) -> Iterator[list[_Seat]]:
    """Processes that can be lost one by one; they end with this one, however it ends."""
    seats = [_Seat(share) for share in shares(jobs)]
    try:
        yield list(seats)
    except BaseException:
        for seat in seats:
            _end(seat.pool)
        raise
    for seat in seats:
        seat.pool.shutdown()


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
    pool = _opened(shares(jobs))
    try:
        yield pool
    except BaseException:
        _end(pool)
        raise
    pool.shutdown()


def shares(jobs: int) -> list[list[int]]:
    """Cores of each of some processes; more processes than cores share them."""
    usable = getattr(os, "sched_getaffinity", None)
    every = sorted(usable(0)) if usable else []
    return [every[number::jobs] for number in range(jobs)]


def _opened(taken: list[list[int]]) -> ProcessPoolExecutor:
    """A pool of a process per share, which each of them takes at its start."""
    context = multiprocessing.get_context("spawn")
    queue: Queue[list[int]] = context.Queue()
    for share in taken:
        queue.put(share)
    return ProcessPoolExecutor(len(taken), context, _begin, (queue, compiled()))


def _end(pool: ProcessPoolExecutor) -> None:
    """Its processes at once, whatever they do."""
    for process in list((pool._processes or {}).values()):
        process.terminate()
    pool.shutdown(wait=False, cancel_futures=True)


def compiled() -> dict[str, str]:
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
