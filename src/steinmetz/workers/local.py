"""The engine of this machine: processes that live as long as there is work, each on its cores.

Every process has a pool of its own, so that the others do not hear when it is lost.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from steinmetz.workers import tasks as each
from steinmetz.workers.programs import environment, shares
from steinmetz.workers.tasks import TRIES, Engine, Task, Told

# Seconds between two looks at what is finished.
_PATIENCE = 0.5


def engine(count: int) -> Engine:
    """So many processes at most."""

    def do(tasks: Sequence[Task], told: Told) -> list[Task]:
        return _done(tasks, min(count, len(tasks)), told)

    return do


def _done(tasks: Sequence[Task], count: int, told: Told) -> list[Task]:
    """Do all tasks; one whose process is lost is tried again later, or given up."""
    waiting = deque((task, 1) for task in tasks)
    given_up: list[Task] = []
    with _seats(count) as free:
        under_way: dict[Future[None], tuple[_Seat, Task, int]] = {}
        while waiting or under_way:
            while waiting and free:
                seat, (task, tried) = free.pop(), waiting.popleft()
                under_way[seat.submit(task)] = seat, task, tried
            labels = [task.label for _, task, _ in under_way.values()]
            told(len(tasks) - len(waiting) - len(under_way), labels)
            for future in wait(under_way, _PATIENCE, return_when=FIRST_COMPLETED)[0]:
                seat, task, tried = under_way.pop(future)
                free.append(seat)
                if not isinstance(future.exception(), BrokenProcessPool):
                    future.result()
                elif tried < TRIES:
                    waiting.append((task, tried + 1))
                else:
                    given_up.append(task)
    return given_up


class _Seat:
    """A pool of one process with its share of the cores, made anew when the process is lost."""

    def __init__(self, share: list[int], settings: dict[str, str]) -> None:
        self.begin, self.pool = (share, settings), _opened(share, settings)

    def submit(self, task: Task) -> "Future[None]":
        """Hand over a task."""
        try:
            return self.pool.submit(each.do, task.work, task.text)
        except BrokenProcessPool:
            _end(self.pool)
            self.pool = _opened(*self.begin)
            return self.pool.submit(each.do, task.work, task.text)


@contextmanager
def _seats(count: int) -> Iterator[list[_Seat]]:
    """Processes that can be lost one by one; they end with this one, however it ends."""
    settings = environment()
    seats = [_Seat(share, settings) for share in shares(count)]
    try:
        yield list(seats)
    except BaseException:
        for seat in seats:
            _end(seat.pool)
        raise
    for seat in seats:
        seat.pool.shutdown()


def _opened(share: list[int], settings: dict[str, str]) -> ProcessPoolExecutor:
    """A pool of one process, which knows its place before it does anything else."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, context, _begin, (share, settings))


def _end(pool: ProcessPoolExecutor) -> None:
    """Its process at once, whatever it does."""
    for process in list((pool._processes or {}).values()):
        process.terminate()
    pool.shutdown(wait=False, cancel_futures=True)


def _begin(share: list[int], settings: dict[str, str]) -> None:
    """First thing in a process: its cores, no ears for Ctrl-C, and an end with its parent."""
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
