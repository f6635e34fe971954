"""Two threads: results in order, and an end in order."""

import threading
import time

import pytest

from steinmetz.threads import beside, in_threads


def test_results_come_in_the_order_of_the_pieces() -> None:
    shown = []
    waits = [0.2, 0.0, 0.1, 0.0]

    def work(index: int) -> int:
        time.sleep(waits[index])
        return 10 * index

    assert in_threads(work, range(4), lambda: shown.append(1)) == [0, 10, 20, 30]
    assert shown
    assert in_threads(work, []) == []


def test_an_exception_stops_the_others_and_is_raised() -> None:
    stop, begun = threading.Event(), []

    def work(index: int) -> None:
        begun.append(index)
        if index == 0:
            raise KeyError("damaged")
        stop.wait(5)

    with pytest.raises(KeyError, match="damaged"):
        in_threads(work, range(9), stop=stop)
    assert stop.is_set()
    assert len(begun) < 9


def test_work_beside_goes_on_meanwhile_and_its_error_is_raised_where_it_is_waited_for() -> None:
    begun, allowed = threading.Event(), threading.Event()

    def work() -> int:
        begun.set()
        assert allowed.wait(5)
        return 7

    def fails() -> int:
        raise KeyError("damaged")

    result = beside(work)
    assert begun.wait(5)
    allowed.set()
    assert result() == 7
    failed = beside(fails)
    with pytest.raises(KeyError, match="damaged"):
        failed()
