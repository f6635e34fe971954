"""The first thing in a worker of Dask: its cores, and only then jax, which counts them once."""

import os
import sys

from steinmetz import workers


def seated(text: str, seats: int) -> str:
    """A run in one of some workers of a machine; of others (`seats` = 0) the cores are theirs."""
    from distributed import get_worker

    if seats and "jax" not in sys.modules:
        share = workers.shares(seats)[int(get_worker().name) % seats]
        if share:
            os.sched_setaffinity(0, share)
    from steinmetz.campaign.work import carry_out

    return carry_out(text)
