"""The processes of a run from their first word to their last: one that is alone, or one of several.

The first process decides where chunks end, keeps checkpoints and writes what is found. All carve
and judge for themselves, with the same result; only particles are shared out.
"""

import math
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from steinmetz.cache import Cache, Copied
from steinmetz.errors import InputError, RunFailure
from steinmetz.infer import placement
from steinmetz.interrupts import Elsewhere, Nobody, code_of
from steinmetz.ranks import greeting
from steinmetz.ranks.asked import Asked, joined
from steinmetz.ranks.lines import Closed, Line, Message, number, words
from steinmetz.ranks.watch import SILENCE, Watch

# Bytes of all checkpoints above which they are hardly ours.
_LARGEST = 64_000_000_000
# Seconds for the connections of JAX, once all processes are there.
_JAX = 60
# Seconds that a process may come later than the first one to the end of a chunk in which both have
# exchanged particles. The first one may come later: it keeps checkpoints, which can be large.
LATE = 40.0


class Alone(Nobody):
    """The only process of a run."""

    first = True

    def kept(self, opened: Callable[[], Cache]) -> Cache:
        """The checkpoints of the run."""
        return opened()

    @contextmanager
    def placed(self, devices: int | None) -> Iterator[None]:
        """What is sampled in here is shared out over so many devices, if a number is given."""
        if devices is None:
            yield
            return
        with placement.devices(devices):
            yield

    def finished(self) -> None:
        """Nobody else has to be done."""


class Session(Alone):
    """One of several processes: `Partners` to what is sampled, `Others` to what hears signals."""

    def __init__(self, asked: Asked, lines: dict[int, Line]) -> None:
        self.asked, self.lines = asked, lines
        self.watch = Watch(asked.process, lines)
        self.first = asked.first
        self._since: float | None = None

    def kept(self, opened: Callable[[], Cache]) -> Cache:
        """The checkpoints of the first process, in every process.

        So all go on from the same step, whatever else lies on their disks.
        """
        if not self.first:
            return Copied(_received(self.lines[0]))
        cache = opened()
        pieces = cache.packed()
        for process, line in self.lines.items():
            try:
                line.say("kept", pieces=[[name, len(pieces[name])] for name in pieces])
                for content in pieces.values():
                    line.send(content)
            except Closed:
                raise RunFailure(f"process {process} left before the start") from None
        return cache

    @contextmanager
    def placed(self, devices: int | None) -> Iterator[None]:
        """What is sampled in here is shared out over so many devices of every process."""
        self.watch.start()
        with self.lockstep():
            port = self.agreed(-1, _free(self.asked.host) if self.first else 0, 0)
            place = _connected(self.asked, port, devices or 1, self)
        with placement.over(place):
            yield

    @property
    def held(self) -> bool:
        """Whether this process is in lockstep with the others."""
        return self.watch.held

    def heard(self) -> KeyboardInterrupt | None:
        """That another process was stopped, or is lost."""
        with self.watch.changed:
            if self.watch.lost is not None:
                return Elsewhere(1)
            return None if self.watch.stopped is None else Elsewhere(self.watch.stopped)

    def tell(self, why: KeyboardInterrupt) -> None:
        """This process was interrupted."""
        if self.heard() is None:
            self.watch.stop(code_of(why))

    @contextmanager
    def lockstep(self) -> Iterator[None]:
        """In here a stop is heard by `agreed` alone; an exchange that fails names who is lost."""
        self.watch.held, self._since = True, None
        try:
            yield
        except Exception as error:
            if "Gloo" not in str(error):
                raise
            self._explained(error)
        finally:
            self.watch.held = False

    def _explained(self, error: Exception) -> None:
        """Raise what the watch has to say about an exchange that failed."""
        with self.watch.changed:
            self.watch.changed.wait_for(lambda: self.watch.over, SILENCE + 5)
        first = str(error).partition("\n")[0]
        raise self.heard() or RunFailure(f"processes could not exchange particles ({first})")

    def agreed(self, number: int, last: int, mark: int) -> int:
        """What the first process has for `last`, once all are at this number with this mark."""
        watch, mine = self.watch, {"number": number, "mark": mark}
        if not self.first:
            watch.tell("at", **mine)
        with watch.changed:
            self._wait()
            why = self.heard()
            if why is not None and watch.going is None:
                raise why
            if self.first:
                _same(watch.arrived, mine)
                watch.arrived.clear()
                watch.tell("go", last=last)
            else:
                going, watch.going = watch.going or {}, None
                last = _last(going)
            self._since = time.monotonic()
        return last

    def _wait(self) -> None:
        """For the others at the end of a chunk; who does not come after it was exchanged hangs.

        Before the first chunk they may carve and compile for as long as they need.
        """
        watch, limited = self.watch, self.first and self._since is not None
        spent = time.monotonic() - (self._since or 0.0)
        patience = LATE + 4 * spent if limited else math.inf
        if not watch.until(lambda: watch.going is not None or self._complete(), patience):
            missing = min(set(range(1, self.asked.processes)) - set(watch.arrived))
            late = f"its share of the work is {patience:.0f} s late"
            watch.lose(missing, f"process {missing} hangs: {late}")

    def _complete(self) -> bool:
        """Whether the first process has heard from all others."""
        return self.first and len(self.watch.arrived) == self.asked.processes - 1

    def finished(self) -> None:
        """Wait until all are done; raises in the others where the first one does not come to it."""
        watch = self.watch
        if not self.first:
            watch.tell("done")
        with watch.changed:
            others = set(range(1, self.asked.processes)) if self.first else {0}
            watch.until(lambda: others <= watch.done)
            missed = not self.first and not others <= watch.done
        if self.first:
            watch.tell("done")
        if missed:
            raise self.heard() or Elsewhere(1)


@contextmanager
def together(
    asked: Asked | None, facts: greeting.Facts, patience: float = greeting.PATIENCE
) -> Iterator[Alone]:
    """This process and the others it was started with, all of which have the same facts."""
    if asked is None:
        yield Alone()
        return
    session = Session(asked, greeting.greet(asked, facts, patience))
    try:
        yield session
    except KeyboardInterrupt as why:
        session.tell(why)
        raise
    except BaseException as error:
        session.watch.tell("left", words=f"process {asked.process} ended: {error}")
        raise
    finally:
        session.watch.end()


def _received(line: Line) -> dict[str, bytes]:
    """The checkpoints that the first process sends."""
    try:
        message = line.next(greeting.PATIENCE)
        if message["is"] != "kept":
            raise RunFailure(words(message))
        listed = message.get("pieces")
        sizes = {str(name): int(size) for name, size in listed} if isinstance(listed, list) else {}
        if sum(sizes.values()) > _LARGEST or min(sizes.values(), default=0) < 0:
            raise Closed("too much")
        return {name: line.take(size, greeting.PATIENCE) for name, size in sizes.items()}
    except (Closed, TimeoutError):
        raise RunFailure("process 0 left before the start") from None


def _last(going: Message) -> int:
    return number(going, "last")


def _same(arrived: Mapping[int, Message], mine: Mapping[str, int]) -> None:
    """Refuse to go on with a process that is elsewhere, or has other particles."""
    for process, message in arrived.items():
        if any(message.get(name) != value for name, value in mine.items()):
            advice = "start all with the same study, on processors and versions of one kind"
            raise RunFailure(
                f"process {process} has other particles than process 0 at step "
                f"{mine['number']}; {advice}"
            )


def _free(host: str) -> int:
    """A free port of this machine."""
    family, *_, at = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
    with socket.create_server(at[:2], family=family) as door:
        return int(door.getsockname()[1])


def _connected(
    asked: Asked, port: int, devices: int, partners: placement.Partners
) -> placement.Placement:
    """JAX in all processes, with a mesh over their devices.

    JAX's own service is let go of as soon as every device has a connection to every other: it would
    abort this process, without a word that helps, as soon as another one is lost.
    """
    import jax

    placement.prepare(devices)
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.config.update("jax_enable_preemption_service", False)  # it would take SIGTERM from us
    at = joined(asked.host, port)
    try:
        jax.distributed.initialize(
            at,
            asked.processes,
            asked.process,
            cluster_detection_method="deactivate",
            initialization_timeout=_JAX,
            coordinator_bind_address=at,
        )
    except RuntimeError as error:
        advice = "join the others before anything is computed"
        raise InputError(f"several processes: {str(error).partition('.')[0]}; {advice}") from None
    place = placement.of_devices(devices, partners)
    with _hushed():
        place.greet()
    jax.distributed.shutdown()
    return place


@contextmanager
def _hushed() -> Iterator[None]:
    """What C++ prints about its connections goes nowhere."""
    sys.stdout.flush()
    before, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(before, 1)
        with suppress(OSError):
            os.close(before)
            os.close(nowhere)
