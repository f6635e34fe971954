"""One run at a time writes to a folder, whatever became of those before."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from steinmetz import claims
from steinmetz.errors import InputError
from steinmetz.report.whole import whole

HOLD = (
    "import sys, time\nfrom pathlib import Path\nfrom steinmetz.claims import claimed\n"
    "with claimed(Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(600)\n"
)


def test_a_claim_leaves_nothing(tmp_path: Path) -> None:
    with claims.claimed(tmp_path / "runs" / "a"):
        assert [path.name for path in (tmp_path / "runs").iterdir()] == [".a.lock"]
    assert list(tmp_path.iterdir()) == []


def test_a_second_run_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    target = tmp_path / "run"
    command = [sys.executable, "-c", HOLD, str(target)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        with (
            pytest.raises(InputError, match="another run is writing there"),
            claims.claimed(target),
        ):
            pass
        with claims.claimed(tmp_path / "run2"):
            pass
        first.send_signal(signal.SIGKILL)
    assert (tmp_path / ".run.lock").exists()
    with claims.claimed(target):
        pass
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_run_moved_aside_by_a_killed_one_comes_back(tmp_path: Path) -> None:
    old, new = tmp_path / ".run.old-abcd1234", tmp_path / ".run.new-abcd1234"
    for folder in (old, new, tmp_path / ".run.partial", tmp_path / ".run2.new-abcd1234"):
        folder.mkdir()
    (old / "summary.json").write_text("earlier")
    (new / "summary.json").write_text("half")
    with claims.claimed(tmp_path / "run"):
        assert (tmp_path / "run" / "summary.json").read_text() == "earlier"
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [".run.partial", ".run2.new-abcd1234", "run"]


def test_a_whole_run_is_not_replaced_by_what_a_killed_one_left(tmp_path: Path) -> None:
    old, run = tmp_path / ".run[1].old-abcd1234", tmp_path / "run[1]"
    for folder in (old, run):
        folder.mkdir()
        (folder / "summary.json").write_text(folder.name)
    with claims.claimed(run):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["run[1]"]
    assert (run / "summary.json").read_text() == "run[1]"


def test_an_interrupt_between_the_renames_puts_the_earlier_run_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    run, real = tmp_path / "run", os.replace
    run.mkdir()
    (run / "a").write_text("earlier")

    def interrupted(source: Path, target: Path) -> None:
        if ".new-" in str(source):
            raise KeyboardInterrupt
        real(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), whole(run) as work:
        (work / "a").write_text("later")
    assert (run / "a").read_text() == "earlier"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_lock_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / ".run.lock").symlink_to("precious")
    with pytest.raises(InputError, match="cannot write there"), claims.claimed(tmp_path / "run"):
        pass
    assert (tmp_path / "precious").read_text() == "mine"


def test_whoever_asks_hears_of_a_claim_and_takes_none(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert not claims.taken(folder)
    with claims.claimed(folder):
        assert claims.taken(folder)
    assert not claims.taken(folder)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", ["/", "..", "run/.."])
def test_a_folder_without_a_name_of_its_own_is_refused(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="name a folder in it"), claims.claimed(Path(folder)):
        pass
