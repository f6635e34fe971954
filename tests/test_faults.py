"""What machines and people do to a command: no room, no home, Ctrl-C twice, two at once."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NoReturn

import jax
import numpy as np
import pytest

from steinmetz import claims, commands, interrupts
from steinmetz.cache import Cache
from steinmetz.cli import main
from steinmetz.errors import RunFailure
from steinmetz.records import Report

# A run whose work hears nothing, as a compilation does, and that would be waited for ten minutes.
DEAF = """import sys, time
from steinmetz import cli, interrupts
from steinmetz.engine import run

def deaf(study, report, cache):
    report("composing", 0, 1)
    time.sleep(600)

interrupts._PATIENCE, run.run = 600, deaf
sys.argv = ["steinmetz", "run", "hyperelasticity", "--out", "run"]
cli.main()
"""
# A command that may write no more than ten bytes to any file.
NO_ROOM = """import resource, sys
from steinmetz import cli
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
sys.argv = ["steinmetz", "template", "uniaxial", "--out", "a.csv"]
cli.main()
"""


def test_a_second_interrupt_does_not_wait_for_work_that_hears_nothing(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # else children ignore it
    command = [sys.executable, "-c", DEAF]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        signal.signal(signal.SIGINT, before)
        assert process.stderr is not None
        assert any("composing: 0/1" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        time.sleep(2)
        assert process.poll() is None  # the first waits for what is under way
        process.send_signal(signal.SIGINT)
        try:
            code = process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        assert (code, process.stderr.read()) == (
            130,
            "steinmetz: interrupted; nothing was written\n",
        )
    assert os.listdir(tmp_path) == []


def test_an_interrupt_while_work_begins_is_waited_for_as_any_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else what the first step has finished is not kept."""
    real, kept = threading.Thread.start, []

    def interrupted(thread: threading.Thread) -> NoReturn:
        real(thread)
        raise KeyboardInterrupt

    def work(report: Report) -> None:
        while True:
            try:
                report("composing", 0, 1)
            except KeyboardInterrupt:
                kept.append("first step")
                raise

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        interrupts.watched(work, lambda *_, **__: None)
    assert kept == ["first step"]


def test_where_there_is_no_room_it_is_one_sentence_and_nothing_is_left(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    done = subprocess.run(
        [sys.executable, "-c", NO_ROOM], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 1, done.stderr
    assert "steinmetz: " in done.stderr.splitlines()[-1]
    assert "file too large" in done.stderr.splitlines()[-1].lower()
    assert "Traceback" not in done.stderr
    assert os.listdir(tmp_path) == []


def test_results_that_cannot_be_written_are_a_failure_that_says_what_is_kept(
    tmp_path: Path,
) -> None:
    cache = Cache(tmp_path / "kept", "study")
    for left in ("nothing was written", "what was finished is kept"):
        with pytest.raises(RunFailure, match=f"no space left.*{left}; make room"):  # noqa: SIM117
            with commands.interruptible(cache):
                raise OSError(28, "No space left on device")
        cache.put("a", values=np.ones(2))
    assert cache.found


@pytest.mark.parametrize("home", [None, "/dev/null/none"])
def test_without_a_home_everything_else_is_as_usual(home: str | None, tmp_path: Path) -> None:
    gone = ("HOME", "XDG_CACHE_HOME", "JAX_COMPILATION_CACHE_DIR")
    environment = {name: text for name, text in os.environ.items() if name not in gone}
    environment |= {} if home is None else {"HOME": home}
    words = [sys.executable, "-m", "steinmetz", "template", "uniaxial", "--out", "a.csv"]
    done = subprocess.run(
        words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert os.listdir(tmp_path) == ["a.csv"]


def test_of_a_user_that_the_system_does_not_know_no_programs_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nobody() -> NoReturn:
        raise RuntimeError("Could not determine home directory.")

    before = jax.config.values["jax_compilation_cache_dir"]
    for name in ("XDG_CACHE_HOME", "JAX_COMPILATION_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    commands.start_jax()
    assert jax.config.values["jax_compilation_cache_dir"] == before


@pytest.mark.parametrize(
    "words", [("run", "hyperelasticity"), ("fit", "a.csv"), ("lcurve", "hyperelasticity")]
)
def test_the_second_of_two_commands_into_one_folder_is_refused(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("# mode: uniaxial\nstretch,P11 (MPa)\n" + "1.5,0.4\n2.0,0.7\n" * 8)
    monkeypatch.setattr(sys, "argv", ["steinmetz", *words, "--out", "run"])
    with claims.claimed(tmp_path / "run"):
        with pytest.raises(SystemExit, match="2"):
            main()
        assert "run: another run is writing there" in capsys.readouterr().err
        assert sorted(os.listdir()) == [".run.lock", "a.csv"]
