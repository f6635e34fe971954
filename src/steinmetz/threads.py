"""Pieces of compiled work in two threads.

On a CPU a larger batch is not faster, a second core is.
"""

import os
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait


def in_threads(
    work: Callable[[int], None], pieces: list[int], stop: threading.Event, shown: Callable[[], None]
) -> None:
    """Two pieces at a time; Ctrl-C ends them after their current chunk."""
    if not pieces:
        return
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        waiting = {pool.submit(work, index) for index in pieces}
        try:
            while waiting:
                finished, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()
                shown()
        except BaseException:
            stop.set()
            for future in waiting:
                future.cancel()
            raise
