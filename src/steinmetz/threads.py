"""Pieces of compiled work in two threads: on a CPU a larger batch is not faster, a second core is.

Compiled programs let go of the interpreter's lock, so threads suffice.
"""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")

# Seconds between two looks at the progress while no piece ends.
_PATIENCE = 0.2


def cores() -> int:
    """Processor cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def in_threads(
    work: Callable[[Piece], Result],
    pieces: Sequence[Piece],
    shown: Callable[[], None] = lambda: None,
    stop: threading.Event | None = None,
) -> list[Result]:
    """The results of all pieces in their order, worked on two at a time.

    `shown` is called in this thread whenever a piece ends and every moment in between. If it, a
    piece or Ctrl-C raises, `stop` is set, for pieces that look at it between their chunks, pieces
    that have not begun are dropped, and the exception is raised again.
    """
    with ThreadPoolExecutor(min(2, cores())) as pool:
        futures = [pool.submit(work, piece) for piece in pieces]
        waiting = set(futures)
        try:
            while waiting:
                finished, waiting = wait(waiting, _PATIENCE, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()
                shown()
        except BaseException:
            if stop is not None:
                stop.set()
            for future in waiting:
                future.cancel()
            raise
        return [future.result() for future in futures]


def beside(work: Callable[[], Result]) -> Callable[[], Result]:
    """Begin some work in a thread; what is returned waits for its result, or raises its error.

    The thread does not keep the process from ending.
    """
    found: Future[Result] = Future()

    def carry() -> None:
        try:
            found.set_result(work())
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=carry, daemon=True).start()
    return found.result
