"""Work that can be interrupted at any moment.

It has a thread of its own while the main one listens for signals.

A compilation can take many seconds and hears nothing. The main thread hears Ctrl-C and SIGTERM at
once, asks the work to stop at its next report, where it keeps what it has, and gives it a few
seconds to do so. After that the process should leave without waiting: a thread that compiles cannot
be stopped.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar, runtime_checkable

from steinmetz.records import Report

T = TypeVar("T")
# Seconds the work has to come to its next report.
_PATIENCE = 4.0


class Terminated(KeyboardInterrupt):
    """SIGTERM, heard like Ctrl-C."""

    code = 143


class Elsewhere(KeyboardInterrupt):
    """Another process of the same work was stopped, or is lost; `code` is that to leave with."""

    def __init__(self, code: int) -> None:
        super().__init__("another process")
        self.code = code


def code_of(heard: KeyboardInterrupt) -> int:
    """The exit code of a process that was stopped in this way."""
    return int(getattr(heard, "code", 130))


@runtime_checkable
class Others(Protocol):
    """Other processes of the same work."""

    @property
    def held(self) -> bool:
        """Whether the work may not stop at a report, because all must stop at the same step."""

    def heard(self) -> KeyboardInterrupt | None:
        """Why this process has to stop, if another one wants it."""

    def tell(self, why: KeyboardInterrupt) -> None:
        """This process was interrupted."""


class Nobody:
    """No other processes."""

    @property
    def held(self) -> bool:
        """Never."""
        return False

    def heard(self) -> KeyboardInterrupt | None:
        """Nothing."""
        return None

    def tell(self, why: KeyboardInterrupt) -> None:
        """To nobody."""


NOBODY = Nobody()


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM raises `Terminated` in here, if signals can be heard: in the main thread."""

    def raise_it(*_: object) -> None:
        raise Terminated("terminated")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, raise_it)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def watched(work: Callable[[Report], T], report: Report, others: Others = NOBODY) -> T:
    """work(report) in a thread of its own.

    KeyboardInterrupt here becomes one at its next report. Other processes of the same work are
    told, and an interrupt of theirs is heard like one of this process.
    """
    stop, ended = threading.Event(), threading.Event()
    results: list[T] = []
    errors: list[BaseException] = []

    def reporting(stage: str, done: int, total: int, **facts: object) -> None:
        if stop.is_set() and not others.held:
            raise KeyboardInterrupt
        report(stage, done, total, **facts)

    def carry() -> None:
        try:
            results.append(work(reporting))
        except BaseException as error:
            errors.append(error)
        ended.set()

    try:
        threading.Thread(target=carry, daemon=True).start()  # an interrupt may come meanwhile
        while not ended.wait(
            0.1
        ):  # not join, which takes a thread for ended when a signal interrupts it
            why = others.heard()
            if why is not None:
                raise why
    except KeyboardInterrupt as why:
        others.tell(why)
        stop.set()
        ended.wait(_PATIENCE)
        raise
    if errors:
        raise errors[0]
    return results[0]
