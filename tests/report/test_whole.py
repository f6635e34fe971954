"""Files that are written: what cannot be one is refused before anything is computed."""

import os
import sys
from pathlib import Path

import pytest

import fuzzed
from steinmetz.cli import main
from steinmetz.errors import InputError
from steinmetz.report import whole


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file, a link to it, a link to nothing and a pipe."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("mine", encoding="utf-8")
    (tmp_path / "link.csv").symlink_to("a.csv")
    (tmp_path / "nowhere.csv").symlink_to("none")
    os.mkfifo(tmp_path / "pipe.csv")
    return tmp_path


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (".", "a folder of that name"),
        ("link.csv", "a link to a.csv; name the file itself"),
        ("nowhere.csv", "a link to none"),
        ("pipe.csv", "not a file"),
        ("/dev/null", "not a file"),
        ("none/b.csv", "there is no folder"),
        ("a.csv/b.csv", "there is no folder"),
        ("/proc/b.csv", "cannot write there"),
        ("x" * 300, r"cannot write there \(file name too long\)"),
    ],
)
@pytest.mark.parametrize("words", [("export", "run", "--out"), ("export", "run", "--table")])
def test_what_is_no_file_is_refused_before_the_run_is_read(
    words: tuple[str, ...], target: str, said: str, box: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    with pytest.raises(InputError, match=f"^{words[-1]} .*{said}"):
        whole.check_file(Path(target), option=words[-1])
    before = sorted(os.listdir(box))
    monkeypatch.setattr(sys, "argv", ["steinmetz", *words, target])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert f"{words[-1]} {target}: " in capsys.readouterr().err
    assert sorted(os.listdir(box)) == before
    assert (box / "a.csv").read_text(encoding="utf-8") == "mine"


def test_an_ending_is_demanded_where_there_is_one_form(box: Path) -> None:
    whole.check_file(box / "a.csv", ".csv")
    whole.check_file(box / "new")
    with pytest.raises(InputError, match=r"written as \.png; name it so"):
        whole.check_file(box / "a.csv", ".png")
    assert not (box / "new").exists()


def test_a_name_that_no_folder_can_have_is_wrong_input(
    box: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("diagnose", "status", "report"):
        monkeypatch.setattr(sys, "argv", ["steinmetz", command, "x" * 300])
        with pytest.raises(SystemExit, match="2"):
            main()
        assert "x" * 300 in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [("template", "uniaxial", "--out"), ("campaign", "good.toml", "--emit-slurm")]
)
def test_names_of_files_may_be_no_text(words: tuple[str, ...], box: Path) -> None:
    """Bytes that are no UTF-8 are said as well as can be, and written as they are."""
    Path("good.toml").write_text(fuzzed.GRID, encoding="utf-8")
    name = b"box-\xff.sh".decode(errors="surrogateescape")
    code, said, _ = fuzzed.called((*words, name))
    assert (code, said) == (0, "")
    assert b"box-\xff.sh" in os.listdir(os.fsencode(box))
