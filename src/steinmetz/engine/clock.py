"""Wall-clock seconds of the stages, and the share of them spent compiling."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import jax

_compiling = 0.0


def _listen(event: str, duration_secs: float, **_: str | int) -> None:
    global _compiling
    if event.endswith("backend_compile_duration"):
        _compiling += duration_secs


jax.monitoring.register_event_duration_secs_listener(_listen)


class Clock:
    """Started when made; `with clock.stage(name)` measures a stage."""

    def __init__(self) -> None:
        self._start, self._compiled, self._stages = (
            time.perf_counter(),
            _compiling,
            dict[str, float](),
        )

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        before = time.perf_counter()
        yield
        self._stages[name] = time.perf_counter() - before

    def seconds(self) -> dict[str, float]:
        total, compiled = time.perf_counter() - self._start, _compiling - self._compiled
        return {**self._stages, "total": total, "compile": compiled}
