"""Devices of one process or of several, in Python."""

from collections.abc import Iterator
from contextlib import contextmanager

from steinmetz.errors import RunFailure
from steinmetz.interrupts import Elsewhere
from steinmetz.ranks import greeting
from steinmetz.ranks.asked import asked
from steinmetz.ranks.session import together


@contextmanager
def devices(
    count: int = 1,
    coordinator: str | None = None,
    process_id: int | None = None,
    processes: int | None = None,
) -> Iterator[None]:
    """Particles are shared out over so many devices by what is sampled in here.

    Use it before anything is computed: once JAX has started, a CPU stays as many devices as it is.
    Draws are the same on any number of devices, to the last bit on processors of one kind.

    Several processes, each with `count` devices, say who they are: `process_id` from 0 on, of
    `processes`, the first of which listens at `coordinator`, such as "127.0.0.1:9911". All must
    sample the same; once in the life of a process.
    """
    who = asked(coordinator, process_id, processes)
    with together(who, greeting.facts_of({"devices": count})) as session:
        try:
            with session.placed(count):
                yield
            session.finished()
        except Elsewhere:
            words = "another process was stopped or is lost; start all of them again"
            raise RunFailure(words) from None
