"""Processes side by side: every task once, failures in words, no process left over."""

import os
import signal
from pathlib import Path
from typing import NoReturn

import pytest

from steinmetz import workers
from steinmetz.errors import InputError, RunFailure


class Named:
    """As much of a task as a process needs."""

    def __init__(self, label: str) -> None:
        self.label = label


def noted(task: Named, folder: Path) -> None:
    (folder / task.label).write_text(f"{os.getpid()} {os.sched_getaffinity(0)}")


def refused(task: Named, folder: Path) -> NoReturn:
    raise InputError("no such thing")


def lost(task: Named, folder: Path) -> NoReturn:
    os._exit(9)


def tasks(count: int) -> list[Named]:
    return [Named(f"point{number}") for number in range(count)]


def test_every_task_is_done_in_another_process_on_its_share_of_the_cores(tmp_path: Path) -> None:
    heard = []
    workers.each(noted, tasks(4), tmp_path, 2, lambda done, under_way: heard.append(done))
    found = {path.name: path.read_text().split(" ", 1) for path in tmp_path.iterdir()}
    assert set(found) == {f"point{number}" for number in range(4)}
    assert str(os.getpid()) not in {process for process, _ in found.values()}
    if workers.cores() > 1:
        assert str(os.sched_getaffinity(0)) not in {cores for _, cores in found.values()}
    assert heard[0] == 0


def test_a_failure_of_a_task_is_heard(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such thing"):
        workers.each(refused, tasks(1), tmp_path, 1, lambda *_: None)


def test_a_process_that_is_lost_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RunFailure, match="what was finished is kept"):
        workers.each(lost, tasks(1), tmp_path, 1, lambda *_: None)


def test_an_interrupt_ends_the_processes(tmp_path: Path) -> None:
    def interrupted(done: int, under_way: list[str]) -> NoReturn:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        workers.each(noted, tasks(1), Path(tmp_path), 1, interrupted)


def lost_once(task: Named, folder: Path) -> None:
    """A process that ends while it works on one task, the first time."""
    begun = folder / f"begun-{task.label}"
    if task.label == "point1" and not begun.exists():
        begun.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    noted(task, folder)


def test_a_lost_process_costs_one_task_which_is_done_again(tmp_path: Path) -> None:
    given_up = workers.each_again(lost_once, tasks(4), tmp_path, 2, lambda *_: None, 2)
    assert given_up == []
    assert (tmp_path / "begun-point1").exists()
    assert {f"point{number}" for number in range(4)} <= {path.name for path in tmp_path.iterdir()}


def test_a_task_is_not_tried_for_ever(tmp_path: Path) -> None:
    mine = tasks(1)
    assert workers.each_again(lost, mine, tmp_path, 1, lambda *_: None, 2) == mine
