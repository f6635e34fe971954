"""A thread that hears every other process of a run: who stops, who is lost, who does not answer.

A process that waits for particles of another hangs inside a collective and hears nothing, so the
main thread cannot do this. Every process says every few seconds that it is there. A connection that
closes is a process that was lost; one that stays silent is a process that is stopped or hangs.
"""

import math
import os
import selectors
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from steinmetz.ranks.lines import Closed, Line, Message, number, words

# Seconds between two signs of life, and those without one after which a process has stalled.
BEAT, SILENCE = 2.0, 30.0
# Seconds without a look at the others after which this process was itself stopped meanwhile.
_ASLEEP = 5.0
# Seconds that this process has to leave a collective after a loss, before it is ended.
GRACE = 8.0


class Watch:
    """What is known of the others, and what they were told; every field is read under `changed`.

    `stopped` is the exit code of a process that was interrupted, `lost` a sentence about one that
    is gone. Both are the same in all processes, because the first one alone passes them on.
    """

    def __init__(self, process: int, lines: Mapping[int, Line]) -> None:
        self.process, self.lines = process, dict(lines)
        self.changed = threading.Condition()
        self.stopped: int | None = None
        self.lost: str | None = None
        self.arrived: dict[int, Message] = {}
        self.going: Message | None = None
        self.done: set[int] = set()
        self.held = False
        self._ended = threading.Event()
        self._doomed: float | None = None
        self._thread = threading.Thread(target=self._run, daemon=True, name="ranks")

    def start(self) -> None:
        """Begin to listen."""
        for line in self.lines.values():
            line.heard = time.monotonic()
        self._thread.start()

    def end(self) -> None:
        """Listen no more."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(BEAT)
        for line in self.lines.values():
            line.close()

    def tell(self, kind: str, **facts: object) -> None:
        """A message to all that this process is connected to; who is gone is noticed elsewhere."""
        for line in list(self.lines.values()):
            with suppress(Closed):
                line.say(kind, **facts)

    def stop(self, code: int) -> None:
        """This process was interrupted: the first one hears it, and passes it on to all."""
        if self.process:
            self.tell("stop", code=code)
            return
        with self.changed:
            if self.stopped is None and self.lost is None:
                self.stopped = code
                self.tell("stop", code=code)
            self.changed.notify_all()

    def until(self, holds: Callable[[], bool], seconds: float = math.inf) -> bool:
        """Wait, under `changed`, until something holds, or all are stopped, or one is lost.

        Returns whether one of these came in time.
        """
        end = time.monotonic() + seconds
        while not (holds() or self.over):
            if time.monotonic() > end:
                return False
            self.changed.wait(0.2)
        return True

    @property
    def over(self) -> bool:
        """Whether the run ends before its time."""
        return self.stopped is not None or self.lost is not None

    def _run(self) -> None:
        """Until it is ended: hear, give a sign of life, look who is silent."""
        with selectors.DefaultSelector() as selector:
            for process, line in self.lines.items():
                selector.register(line, selectors.EVENT_READ, process)
            beat, now = 0.0, time.monotonic()
            while not self._ended.is_set():
                for key, _ in selector.select(0.2):
                    self._hear(key.data, selector)
                before, now = now, time.monotonic()
                if now - before > _ASLEEP:
                    self._awake(now)
                if now - beat > BEAT:
                    beat = now
                    self.tell("here")
                self._look(now)

    def _awake(self, now: float) -> None:
        """After a stop of this process the others were not silent: it has yet to hear them."""
        for line in self.lines.values():
            line.heard = now

    def _hear(self, process: int, selector: selectors.BaseSelector) -> None:
        """What a process says; one that has closed its connection is not listened to again."""
        line = self.lines[process]
        try:
            for message in line.ready():
                self._take(process, message)
        except (Closed, TimeoutError):
            selector.unregister(line)
            self.lines.pop(process).close()
            self.lose(process, f"process {process} was lost: its connection closed")

    def _take(self, process: int, message: Message) -> None:
        """Act on a message."""
        kind = message["is"]
        with self.changed:
            if kind == "at":
                self.arrived[process] = message
            elif kind == "go":
                self.going = message
            elif kind == "done":
                self.done.add(process)
            self.changed.notify_all()
        if kind == "stop" and self.process == 0:
            self.stop(number(message, "code"))
        elif kind == "stop":
            with self.changed:
                self.stopped = number(message, "code")
                self.changed.notify_all()
        elif kind in ("lost", "left"):
            self.lose(process, words(message))

    def _look(self, now: float) -> None:
        """Who has been silent for too long, and whether this process still hangs after a loss."""
        for process, line in self.lines.items():
            silent = now - line.heard
            if silent > SILENCE and process not in self.done:
                what = "it is stopped or hangs, or its machine cannot be reached"
                self.lose(process, f"process {process} has not answered for {silent:.0f} s: {what}")
        if self._doomed is not None and self.held and now > self._doomed:
            os._exit(1)

    def lose(self, process: int, why: str) -> None:
        """Say it once, here and in all others; nobody is missed who is done or was stopped."""
        with self.changed:
            if self.over or process in self.done:
                return
            self.lost, self._doomed = why, time.monotonic() + GRACE
            print(f"steinmetz: {why}", file=sys.stderr, flush=True)
            if self.process == 0:
                self.tell("lost", words=why)
            self.changed.notify_all()
