"""Peak of the memory that this process holds during a piece of work."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
# What sets the peak back to what is held at that moment (Linux).
_PEAK = "5"


class Peak:
    """Gigabytes at most held at once; known when the work is done.

    Where the system cannot set its count back, the peak is that of the whole process so far.
    """

    gigabytes: float = 0.0


@contextmanager
def peak() -> Iterator[Peak]:
    """Measures the work that is done in here."""
    measured, since = Peak(), _set_back()
    yield measured
    measured.gigabytes = _since_then() if since else _of_all()


def _set_back() -> bool:
    """Whether the count of the peak begins anew."""
    try:
        _CLEAR.write_text(_PEAK, encoding="ascii")
    except OSError:
        return False
    return _STATUS.exists()


def _since_then() -> float:
    lines = _STATUS.read_text(encoding="utf-8", errors="replace").splitlines()
    held = [line.split()[1] for line in lines if line.startswith("VmHWM")]
    return int(held[0]) / 1e6 if held else _of_all()


def _of_all() -> float:
    import resource  # not on every system

    unit = 1e9 if sys.platform == "darwin" else 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
