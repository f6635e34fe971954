"""Cores of a process and compiled programs in it.

Nothing heavy is imported here: a process takes its cores before it loads jax, whose threads are as
many as the cores it sees.
"""

import os
import sys
from collections.abc import Callable

# Regions of mapped memory above which compiled programs are let go (Linux allows 65 530).
_MAX_MAPS = 20_000
# Where they cannot be counted: let go after so many tasks.
_LET_GO_EVERY = 25
# Libraries of linear algebra that have threads of their own.
_THREADED = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# One thread in programs and while they are compiled: others have the other cores, and no digit can
# depend on how many workers there are.
_ALONE = "--xla_cpu_multi_thread_eigen=false --xla_cpu_parallel_codegen_split_count=1"


def shares(count: int) -> list[list[int]]:
    """Cores of each of some processes; more processes than cores share them."""
    usable = getattr(os, "sched_getaffinity", None)
    every = sorted(usable(0)) if usable else list[int]()
    if not every:
        return [[] for _ in range(count)]
    return [every[number::count] or [every[number % len(every)]] for number in range(count)]


def environment() -> dict[str, str]:
    """What a worker of this machine has to know before it begins.

    To compute with one thread, and where compiled programs are kept, in the words in which jax is
    told at its start. All programs are kept, also those that are compiled in no time: a run has
    hundreds of them, and other processes need the same.
    """
    import jax

    folder = jax.config.values["jax_compilation_cache_dir"]
    words = {"JAX_ENABLE_X64": "true", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    words |= {"JAX_COMPILATION_CACHE_DIR": str(folder)} if folder else {}
    flags = f"{os.environ.get('XLA_FLAGS', '')} {_ALONE}".strip()
    return words | dict.fromkeys(_THREADED, "1") | {"XLA_FLAGS": flags}


def let_go_of_programs(done: int) -> None:
    """Clear compiled programs in time: each law has its own, and a process may map only so much."""
    if "jax" not in sys.modules:
        return
    import jax

    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            crowded = sum(1 for _ in maps) > _MAX_MAPS
    except OSError:  # not Linux
        crowded = done % _LET_GO_EVERY == 0
    if crowded:
        clear: Callable[[], None] = jax.clear_caches  # jax leaves the type of this one out
        clear()
