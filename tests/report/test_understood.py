"""What `check` says and draws."""

import sys
from pathlib import Path

import pandas
import pytest

import steinmetz
from steinmetz import InputError
from steinmetz.cli import main

PULL = "stretch,P11 (MPa)\n" + "".join(f"{1 + i / 10},{i / 8}\n" for i in range(12))


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    """The command line, in this process; returns its exit code."""
    monkeypatch.setattr(sys, "argv", ["steinmetz", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code


def test_check_says_what_is_understood_and_draws_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pull.csv").write_text(PULL + "2.5,#N/A\n")
    assert call(monkeypatch, "check", "pull.csv", "--experiment", "uniaxial") == 0
    said = capsys.readouterr().out
    for words in (
        "test        uniaxial (incompressible)",
        "measure     nominal (first Piola–Kirchhoff)",
        "unit        MPa",
        "rows        13, 12 with a stress, 1 empty cells, 1 curve",
        "stretch     1 … 2.5",
        "P11         0 … 1.375 MPa (from 'P11 (MPa)')",
        "note        one cell of 'P11 (MPa)' (line 14) without a value",
        "picture     pull-check.png",
    ):
        assert words in said
    assert Path("pull-check.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pull-check.png", "pull.csv"]


def test_flags_declare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("strain,stress\n0.1,1\n0.2,2\n")
    flags = ["--experiment", "planar", "--measure", "cauchy", "--unit", "psi"]
    assert call(monkeypatch, "check", "a.csv", *flags, "--out", "a.png") == 0
    said = capsys.readouterr().out
    assert "Cauchy (true)" in said
    assert "P11         0.9091 … 1.667 psi" in said
    wrong = ["--unit", "ells"], ["--measure", "mine"], ["--area", "big"], ["--branch", "up"]
    for words in wrong:
        assert call(monkeypatch, "check", "a.csv", "--experiment", "uniaxial", *words) == 2
        assert words[1] in capsys.readouterr().err


def test_template_does_not_overwrite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(monkeypatch, "template", "planar") == 0
    assert "wrote pure_shear.csv" in capsys.readouterr().out
    assert call(monkeypatch, "template", "planar") == 2
    assert call(monkeypatch, "template", "unknown") == 2
    assert call(monkeypatch, "template", "planar", "--out", "none/a.csv") == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pure_shear.csv"]


def test_check_in_python(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"mode": "uniaxial", "λ": [1.1, 1.2], "P11 (kPa)": [1.0, None]})
    found = steinmetz.check(frame)
    assert "unit        kPa" in repr(found)
    assert any("one cell of 'P11 (kPa)'" in note for note in found.notes)
    (axis,) = found.plot().axes
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("stretch", "stress (kPa)")
    with pytest.raises(InputError, match="the stress measure is not declared"):
        steinmetz.check(frame.rename(columns={"P11 (kPa)": "stress"}))


def test_pictures_go_where_they_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pull.csv").write_text(PULL)
    for target in ("none/a.png", "a.pdf", "."):
        assert call(monkeypatch, "check", "pull.csv", "--out", target) == 2
