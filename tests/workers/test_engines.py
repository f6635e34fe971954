"""Engines on tasks of nothing: every task once, failures in words, a lost worker costs one task."""

import json
import os
from pathlib import Path
from typing import NoReturn

import pytest

from steinmetz import threads
from steinmetz.errors import InputError, RunFailure
from steinmetz.workers import cluster, local, tasks
from steinmetz.workers.engines import Choice, Secured
from steinmetz.workers.programs import environment, shares
from steinmetz.workers.tasks import TRIES

from .work import lost, lost_once, noted, refused, some

ENGINES = ["local", pytest.param("dask", marks=pytest.mark.filterwarnings("default"))]


@pytest.fixture
def choice(request: pytest.FixtureRequest) -> Choice:
    """Two workers of an engine."""
    if request.param == "dask":
        pytest.importorskip("distributed", reason="Dask is not installed")
    return Choice(request.param, 2)


@pytest.mark.parametrize("choice", ENGINES, indirect=True)
def test_every_task_is_done_elsewhere_on_its_share_of_the_cores(
    choice: Choice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=false")
    before, heard = dict(os.environ), []
    given_up = choice.engine()(some(noted, 4, tmp_path), lambda done, _: heard.append(done))
    found = {path.name: json.loads(path.read_text()) for path in tmp_path.iterdir()}
    assert given_up == []
    assert set(found) == {f"point{number}" for number in range(4)}
    assert os.getpid() not in {about["process"] for about in found.values()}
    assert heard[0] == 0
    for about in found.values():
        assert about["flags"].startswith("--xla_cpu_enable_fast_math=false --xla_cpu_multi_thread")
    mine = [name for name in environment() if os.environ.get(name) != before.get(name)]
    assert mine == []  # who asks is left as before
    if threads.cores() == 2:
        assert {len(about["cores"]) for about in found.values()} == {1}


@pytest.mark.filterwarnings("default")
def test_a_worker_of_a_cluster_has_one_core(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    assert Choice("dask", 1).engine()(some(noted, 2, tmp_path), lambda *_: None) == []
    found = [json.loads(path.read_text()) for path in tmp_path.iterdir()]
    assert [len(about["cores"]) for about in found] == [1, 1]


@pytest.mark.parametrize("choice", ENGINES, indirect=True)
def test_a_failure_of_a_task_is_raised(choice: Choice, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such thing"):
        choice.engine()(some(refused, 1, tmp_path), lambda *_: None)


@pytest.mark.parametrize("choice", ENGINES, indirect=True)
def test_a_lost_worker_costs_one_task_which_is_done_again(choice: Choice, tmp_path: Path) -> None:
    assert choice.engine()(some(lost_once, 4, tmp_path), lambda *_: None) == []
    assert (tmp_path / "begun").exists()
    assert {f"point{number}" for number in range(4)} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("choice", ENGINES, indirect=True)
def test_a_task_is_not_tried_for_ever(choice: Choice, tmp_path: Path) -> None:
    mine = some(lost, 1, tmp_path)
    assert choice.engine()(mine, lambda *_: None) == mine
    assert (tmp_path / "tried").read_text().count("tried") == TRIES


def test_a_task_that_nobody_finishes_is_one_sentence(tmp_path: Path) -> None:
    both = [*some(lost, 1, tmp_path), *some(noted, 1, tmp_path)]
    with pytest.raises(RunFailure, match=r"point0: its process was lost 3 times.*is kept"):
        tasks.every(local.engine(2), both, lambda *_: None)


@pytest.mark.parametrize(("engine", "count"), [(None, 3), (local.engine(2), 1)])
def test_one_task_or_no_engine_needs_no_other_process(
    engine: tasks.Engine | None, count: int, tmp_path: Path
) -> None:
    heard = []
    told = some(noted, count, tmp_path)
    tasks.every(engine, told, lambda done, labels: heard.append((done, labels)))
    assert heard == [(number, [f"point{number}"]) for number in range(count)]
    assert json.loads((tmp_path / "point0").read_text())["process"] == os.getpid()


def test_an_interrupt_ends_the_processes(tmp_path: Path) -> None:
    def interrupted(done: int, under_way: list[str]) -> NoReturn:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        local.engine(1)(some(noted, 1, tmp_path), interrupted)


@pytest.mark.filterwarnings("default")
def test_a_cluster_of_this_machine_is_heard_by_this_machine_alone() -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    psutil = pytest.importorskip("psutil")
    me = psutil.Process()

    def open_to() -> set[tuple[int, str, int]]:
        every = [me, *me.children(recursive=True)]
        found = {(one.pid, link) for one in every for link in one.net_connections("inet")}
        return {(pid, link.laddr.ip, link.laddr.port) for pid, link in found if not link.raddr}

    before = open_to()
    with cluster._here(1):
        opened = open_to() - before
    assert len(opened) > 1  # the scheduler and its worker
    assert {place for _, place, _ in opened} == {"127.0.0.1"}


def test_every_process_has_a_core_and_none_is_left_over() -> None:
    every = threads.cores()
    for count in (1, every, every + 1):
        given = shares(count)
        assert len(given) == count
        assert all(given)
        assert len({core for share in given for core in share}) == every


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (Choice("dask", 2, "tcp://127.0.0.1:9"), "a scheduler has its own workers"),
        (Choice("dask", 2, None, Secured(Path("ca.pem"))), "are for --scheduler"),
        (Choice("dask", None, "tls://a:1", Secured(Path("ca.pem"))), "belong together"),
        (Choice("ray"), "there are local and dask"),
        (Choice("local", None, "tcp://127.0.0.1:9"), "are for --engine dask"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(choice: Choice, words: str) -> None:
    if choice.name == "dask":
        pytest.importorskip("distributed", reason="Dask is not installed")
    with pytest.raises(InputError, match=words):
        choice.engine()


def test_who_works_is_said_in_words() -> None:
    assert Choice("local", 1).words == "1 process side by side"
    assert Choice("local", 3).words == "3 processes side by side"
    assert Choice("dask", 2).words == "2 workers side by side"
    assert Choice("dask", None, "tcp://a:1").words == "workers of a Dask scheduler"
    assert Choice("local", 1).helpers() is None
    assert Choice("local", 2).helpers() is not None
