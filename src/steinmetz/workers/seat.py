"""The first thing in a worker of Dask: its core, and only then jax, which counts cores once."""

import os
import sys

from steinmetz.workers.programs import shares
from steinmetz.workers.tasks import do


def seated(work: str, text: str, seats: int) -> None:
    """A task in one of some workers of this machine; of others (`seats` = 0) the cores are theirs.

    A worker has one thread, so one core: a scheduler counts with that.
    """
    from distributed import get_worker

    if seats and "jax" not in sys.modules:
        share = shares(seats)[int(get_worker().name) % seats]
        if share:
            os.sched_setaffinity(0, share[:1])
    do(work, text)
