"""Processes find each other, and do not begin unless all do the same."""

import socket
import threading
from collections.abc import Mapping

import pytest

from steinmetz.errors import InputError
from steinmetz.ranks.asked import Asked
from steinmetz.ranks.greeting import differences, facts_of, greet
from steinmetz.ranks.lines import Line

from .processes import free


def greeted(*each: Mapping[str, str], count: int | None = None) -> list[dict[int, Line] | str]:
    """What processes with these facts find, or the words in which they are refused."""
    port, found = free(), dict[int, dict[int, Line] | str]()

    def one(process: int) -> None:
        who = Asked("127.0.0.1", port, process, count or len(each))
        try:
            found[process] = greet(who, each[process], 3.0)
        except InputError as error:
            found[process] = str(error)

    threads = [threading.Thread(target=one, args=(process,)) for process in range(len(each))]
    for thread in reversed(threads):
        thread.start()
    for thread in threads:
        thread.join()
    return [found[process] for process in range(len(each))]


def test_processes_find_the_first_one_and_it_finds_all() -> None:
    found = greeted({"seed": "0"}, {"seed": "0"}, {"seed": "0"})
    lines = [one for one in found if isinstance(one, dict)]
    assert [sorted(one) for one in lines] == [[1, 2], [0], [0]]
    lines[2][0].say("here", number=7)
    assert lines[0][2].next(5.0) == {"is": "here", "number": 7}
    for each in lines:
        for line in each.values():
            line.close()


def test_another_setting_is_named_in_all_processes() -> None:
    found = greeted({"infer.particles": "20", "seed": "0"}, {"infer.particles": "40", "seed": "0"})
    assert found[0] == found[1]
    assert "process 1 (process 0) was started with infer.particles = 40 (20);" in str(found[0])


def test_another_number_of_processes_is_named() -> None:
    port = free()
    refused: list[str] = []

    def second() -> None:
        with pytest.raises(InputError) as error:
            greet(Asked("127.0.0.1", port, 1, 3), {}, 3.0)
        refused.append(str(error.value))

    thread = threading.Thread(target=second)
    thread.start()
    with pytest.raises(InputError, match=r"--processes = 3 \(2\)"):
        greet(Asked("127.0.0.1", port, 0, 2), {}, 3.0)
    thread.join()
    assert "--processes = 3 (2)" in refused[0]


def test_who_does_not_come_is_named() -> None:
    found = greeted({}, {}, count=3)
    assert found[0] == found[1]
    assert "process 2 did not come" in str(found[0])


def test_a_first_process_that_does_not_answer() -> None:
    with pytest.raises(InputError, match=r"no answer in 0.3 s .* start process 0 there"):
        greet(Asked("127.0.0.1", free(), 1, 2), {}, 0.3)


@pytest.mark.parametrize("process", [0, 1])
def test_an_address_that_nobody_has(process: int) -> None:
    with pytest.raises(InputError, match=r"--coordinator nowhere\.invalid:9911: "):
        greet(Asked("nowhere.invalid", 9911, process, 2), {}, 0.3)


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = int(door.getsockname()[1])
        with pytest.raises(InputError, match="a port that is free"):
            greet(Asked("127.0.0.1", port, 0, 2), {}, 0.3)


@pytest.mark.parametrize("said", [b"GET / HTTP/1.1\r\n\r\n", b"[1]\n", b'{"is": 3}\n', b""])
def test_strangers_are_sent_away_and_the_run_begins(said: bytes) -> None:
    port = free()

    def call() -> None:
        for _ in range(100):
            try:
                with socket.create_connection(("127.0.0.1", port)) as stranger:
                    stranger.sendall(said)
                break
            except ConnectionRefusedError:
                continue
        for line in greet(Asked("127.0.0.1", port, 1, 2), {}, 5.0).values():
            line.close()

    thread = threading.Thread(target=call)
    thread.start()
    found = greet(Asked("127.0.0.1", port, 0, 2), {}, 5.0)
    thread.join()
    assert sorted(found) == [1]
    found[1].close()


def test_something_else_that_listens_is_not_taken_for_the_first_process() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = int(door.getsockname()[1])

        def answer() -> None:
            with door.accept()[0] as caller:
                caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(InputError, match="something else listens there"):
            greet(Asked("127.0.0.1", port, 1, 2), {}, 3.0)
        thread.join()


def test_facts_are_settings_by_name_without_paths_of_tables() -> None:
    content = {"seed": 3, "infer": {"particles": 20}, "data": {"table": "a.csv"}, "files": ["f0"]}
    facts = facts_of(content)
    assert facts["infer.particles"] == "20"
    assert "data.table" not in facts
    assert {"steinmetz", "jaxlib", "processor", "files"} <= set(facts)
    assert differences(1, facts, facts) == ""
    many = dict.fromkeys("abcde", "1")
    assert "and 2 more" in differences(1, many, {})
