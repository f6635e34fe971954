"""Who is lost, stopped or hangs is named, and nobody waits for it: partners here are made up."""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from steinmetz import interrupts
from steinmetz.cache import Cache
from steinmetz.errors import RunFailure
from steinmetz.ranks import session as sessions
from steinmetz.ranks import watch as watches
from steinmetz.ranks.asked import Asked
from steinmetz.ranks.lines import LONGEST, Closed, Line
from steinmetz.ranks.session import Session


def connected() -> tuple[socket.socket, socket.socket]:
    """Both ends of a connection."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        theirs = socket.create_connection(door.getsockname())
        return door.accept()[0], theirs


class Pair:
    """The first process, and the other end of its line to process 1."""

    def __init__(self, process: int = 0) -> None:
        ours, theirs = connected()
        other = 1 - process
        self.session = Session(Asked("127.0.0.1", 9911, process, 2), {other: Line(ours)})
        self.partner = Line(theirs)

    def hears(self, kind: str) -> dict[str, object]:
        """The next message of a kind that the partner gets."""
        while (message := self.partner.next(5.0))["is"] != kind:
            pass
        return message


def within(holds: Callable[[], object]) -> None:
    """Wait for what comes at once; a test that waits in vain fails."""
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    monkeypatch.setattr(watches, "BEAT", 0.05)
    made = Pair()
    made.session.watch.start()
    yield made
    made.session.watch.end()
    made.partner.close()


def test_a_partner_that_is_killed_is_named(pair: Pair, capsys: pytest.CaptureFixture[str]) -> None:
    pair.partner.close()
    within(pair.session.heard)
    heard = pair.session.heard()
    assert heard is not None
    assert interrupts.code_of(heard) == 1
    assert "process 1 was lost: its connection closed" in capsys.readouterr().err
    with pytest.raises(interrupts.Elsewhere):
        pair.session.agreed(0, 10, 3)


def test_a_partner_that_is_stopped_is_named(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(watches, "SILENCE", 0.3)
    within(pair.session.heard)
    assert "process 1 has not answered for 0 s: it is stopped or hangs" in capsys.readouterr().err


def test_a_partner_that_gives_signs_of_life_is_waited_for(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watches, "SILENCE", 1.0)
    for _ in range(20):
        pair.partner.say("here")
        time.sleep(0.1)
    assert pair.session.heard() is None


def test_a_partner_whose_work_hangs_is_named(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It came to the first chunk, and does not come to the second, signs of life or not."""
    monkeypatch.setattr(sessions, "LATE", 0.2)
    pair.partner.say("at", number=0, mark=5)
    with pair.session.lockstep():
        assert pair.session.agreed(0, 10, 5) == 10
        with pytest.raises(interrupts.Elsewhere):
            pair.session.agreed(10, 20, 5)
    assert "process 1 hangs: its share of the work is" in capsys.readouterr().err


def test_the_first_process_decides_where_chunks_end(pair: Pair) -> None:
    pair.partner.say("at", number=0, mark=5)
    assert pair.session.agreed(0, 17, 5) == 17
    assert pair.hears("go")["last"] == 17


def test_other_particles_are_refused(pair: Pair) -> None:
    pair.partner.say("at", number=0, mark=6)
    with pytest.raises(RunFailure, match="process 1 has other particles than process 0 at step 0"):
        pair.session.agreed(0, 17, 5)


def test_a_process_that_hangs_after_a_loss_is_ended(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside a collective nothing else could do it."""
    left: list[int] = []
    monkeypatch.setattr(watches, "GRACE", 0.1)
    monkeypatch.setattr(os, "_exit", left.append)
    with pair.session.lockstep():
        pair.partner.close()
        within(lambda: left)
    assert left[0] == 1


def test_an_exchange_that_fails_waits_for_the_name_of_who_is_lost(pair: Pair) -> None:
    def exchange() -> None:
        with pair.session.lockstep():
            pair.partner.close()
            raise ValueError("UNKNOWN: Gloo AllGather failed: Connection closed by peer")

    with pytest.raises(interrupts.Elsewhere):
        exchange()


def test_a_stop_of_either_stops_both_at_the_same_step(pair: Pair) -> None:
    pair.partner.say("stop", code=143)
    assert pair.hears("stop")["code"] == 143  # also to who asked: then it may leave
    with pytest.raises(interrupts.Elsewhere) as stopped:
        pair.session.agreed(0, 10, 3)
    assert interrupts.code_of(stopped.value) == 143
    pair.partner.close()  # is not missed any more
    time.sleep(0.3)
    assert pair.session.watch.lost is None


def test_work_stops_between_chunks_and_not_within_lockstep(pair: Pair) -> None:
    """A report in lockstep does not stop the work: the partner may be in the next chunk."""
    reports: list[int] = []

    def work(report: Callable[..., None]) -> None:
        with pair.session.lockstep():
            pair.partner.say("at", number=0, mark=0)
            pair.session.agreed(0, 1, 0)
            pair.partner.say("stop", code=143)
            within(pair.session.heard)
            time.sleep(0.5)
            report("sampling", 1, 2)
            reports.append(1)
            pair.session.agreed(1, 2, 0)

    with pytest.raises(interrupts.Elsewhere):
        interrupts.watched(work, lambda *_, **__: None, pair.session)
    assert reports == [1]


def test_a_failure_elsewhere_is_told(pair: Pair, capsys: pytest.CaptureFixture[str]) -> None:
    pair.partner.say("left", words="process 1 ended: no memory")
    within(pair.session.heard)
    assert "process 1 ended: no memory" in capsys.readouterr().err


def test_all_leave_together(pair: Pair) -> None:
    thread = threading.Thread(target=pair.session.finished)
    thread.start()
    time.sleep(0.2)
    assert thread.is_alive()
    pair.partner.say("done")
    pair.hears("done")
    thread.join(5.0)
    pair.partner.close()
    time.sleep(0.3)
    assert pair.session.watch.lost is None


def test_checkpoints_are_those_of_the_first_process(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "kept", "work")
    cache.put("infer-a", number=np.asarray(7), kept=np.arange(400_000.0))
    cache.put("text", letters=np.frombuffer(b"abc", np.uint8))
    first, second = Pair(0), Pair(1)
    second.session.lines[0].close()
    second.session.lines[0] = first.partner
    thread = threading.Thread(target=first.session.kept, args=(lambda: cache,))
    thread.start()
    copied = second.session.kept(lambda: pytest.fail("opens nothing of its own"))
    thread.join()
    assert copied.found
    stored = copied.get("infer-a")
    assert stored is not None
    assert int(stored["number"]) == 7
    np.testing.assert_array_equal(stored["kept"], np.arange(400_000.0))
    assert copied.get("other") is None
    copied.put("infer-a", number=np.asarray(8))
    copied.clear()
    assert cache.found
    for pair in (first, second):
        pair.session.watch.end()
        pair.partner.close()


def test_a_first_process_that_ends_before_the_start_is_told() -> None:
    pair = Pair(1)
    pair.partner.say("left", words="process 0 ended: --out run: another run is writing there")
    with pytest.raises(RunFailure, match="another run is writing there"):
        pair.session.kept(lambda: pytest.fail("opens nothing of its own"))
    pair.session.watch.end()
    pair.partner.close()


def test_a_line_without_end_is_not_read_for_ever() -> None:
    ours, theirs = connected()
    line = Line(ours)

    def pour() -> None:
        with theirs:
            try:
                theirs.sendall(b"x" * (LONGEST + 10_000_000))
            except OSError:
                return

    thread = threading.Thread(target=pour)
    thread.start()
    with pytest.raises(Closed, match="without end"):
        line.next(20.0)
    line.close()
    thread.join()
