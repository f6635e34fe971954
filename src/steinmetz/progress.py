"""Progress for people: a live display in a terminal, plain lines elsewhere.

Both go to standard error.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from steinmetz.records import Report


def _facts(facts: dict[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in facts.items() if value not in (0, ""))


@contextmanager
def shown(stream: TextIO | None = None) -> Iterator[Report]:
    """The report that suits the stream: live if it is a terminal."""
    stream = sys.stderr if stream is None else stream
    if stream.isatty():
        with _live(stream) as report:
            yield report
    else:
        yield _plain(stream)


# Stages that take long enough for a line about every step.
_LONG = {"reproducing", "calibrating", "campaign"}
# Seconds after which the time that is left can be told.
_SETTLED = 5


class Remaining:
    """How much of many tasks is done, which are under way, and how long the rest takes."""

    def __init__(self, report: Report, stage: str, total: int) -> None:
        self.done = 0
        self._report, self._stage, self._total = report, stage, total
        self._begun = time.monotonic()

    def say(self, under_way: list[str]) -> None:
        """Report it."""
        spent, left = time.monotonic() - self._begun, ""
        if self.done and spent > _SETTLED:
            left = f"{spent / self.done * (self._total - self.done) / 60:.0f} min"
        now = "; ".join(under_way)
        self._report(self._stage, self.done, self._total, now=now, left=left)

    def following(self) -> Callable[[int, list[str]], None]:
        """Hears how many of the next tasks are done, and which are under way."""
        before = self.done

        def told(done: int, under_way: list[str]) -> None:
            self.done = before + done
            self.say(under_way)

        return told


def _plain(stream: TextIO) -> Report:
    """A line when a stage starts, at each quarter (of a long stage.

    At each step) and at its end.
    """
    begun: dict[str, float] = {}
    quarters: dict[str, int] = {}

    def report(stage: str, done: int, total: int, **facts: object) -> None:
        begun.setdefault(stage, time.perf_counter())
        quarter = done if stage in _LONG else 4 * done // max(total, 1)
        if quarter == quarters.get(stage) or (done == 0 and stage in quarters):
            return
        quarters[stage] = quarter
        seconds = time.perf_counter() - begun[stage]
        tail = _facts(facts)
        line = f"{stage}: {done}/{total}, {seconds:.1f} s" + (f" ({tail})" if tail else "")
        print(line, file=stream, flush=True)

    return report


@contextmanager
def _live(stream: TextIO) -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description:>15}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[facts]}"),
    )
    with Progress(*columns, console=Console(file=stream)) as progress:
        tasks: dict[str, TaskID] = {}

        def report(stage: str, done: int, total: int, **facts: object) -> None:
            if stage not in tasks:
                tasks[stage] = progress.add_task(stage, total=total, facts="")
            progress.update(tasks[stage], completed=done, total=total, facts=_facts(facts))

        yield report
