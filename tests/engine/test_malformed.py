"""Malformed files: understood, or refused in a sentence with its place; never a traceback.

Files are mutated from good ones with a seed, so that a failure can be looked at again.
"""

import contextlib
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jax
import pytest

from steinmetz.cli import main
from steinmetz.engine.problem import prepare
from steinmetz.engine.template import example
from steinmetz.errors import InputError
from steinmetz.report import understood
from steinmetz.studies import measured

GOOD = (
    "# mode: uniaxial\nstrain (%);true_stress [kPa]\n"
    + "".join(f"{i},5;{i * 1.25:.3f}\n".replace(".", ",") for i in range(12)),
    "mode,stretch,force,area\n,-,N,mm^2\n"
    + "".join(f"uniaxial,{1 + i / 10},{i},12.5\n" for i in range(8))
    + "".join(f"planar,{1 + i / 10},{i},12.5\n" for i in range(8)),
    "# mode: biaxial\nlambda_1\tlambda_2\tP11 (MPa)\tP22 (MPa)\tsd_P11\n"
    + "".join(f"{1 + i / 10}\t{1 + i / 20}\t{i}\t{i / 2}\t0.1\n" for i in range(10)),
)
CELLS = (
    *(
        "",
        "x",
        "nan",
        "inf",
        "-inf",
        "1e400",
        "1e300",
        "-1e300",
        "1e-320",
        "0",
        "-1",
        "1_0",
        "#N/A",
    ),
    *("1,5", "1.5.2", "0x1p3", "١٢", "½", '"', '"a', "#", "=1+1", "NULL", "\u200b", "1 000"),
    *("MPa", "uniaxial", "true", "99999999999999999999", "1e", "--", "+", "💥", " ", "1;2", "a\tb"),
)
NAMES = (
    *("", "stress", "P11", "sigma", "F11", "stretch", "strain (%)", "P11 (bananas)", "P11 (MPa)"),
    *(
        "mode",
        "curve",
        "sd_P11",
        "area",
        "force",
        "P[1,1]",
        "()",
        "[]",
        "_",
        "sd_",
        "λ",
        "P11 (MPa",
    ),
)
BYTES = (
    b"\x00",
    b"\xff\xfe",
    b"\xc3\x28",
    b"\r",
    b"\x0b",
    b"\x1c",
    b"\xe2\x80\xa8",
    b"\xef\xbb\xbf",
)
Mutation = Callable[[random.Random, str], bytes]


def _lines(chance: random.Random, text: str, change: Callable[[list[str]], None]) -> bytes:
    lines = text.split("\n")
    change(lines)
    return "\n".join(lines).encode()


def cell(chance: random.Random, text: str) -> bytes:
    """Another word in one cell."""

    def change(lines: list[str]) -> None:
        row = chance.randrange(len(lines))
        mark = chance.choice(",;\t")
        cells = lines[row].split(mark)
        cells[chance.randrange(len(cells))] = chance.choice(CELLS)
        lines[row] = mark.join(cells)

    return _lines(chance, text, change)


def name(chance: random.Random, text: str) -> bytes:
    """Another header."""

    def change(lines: list[str]) -> None:
        row = next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)
        mark = max(",;\t", key=lines[row].count)
        names = lines[row].split(mark)
        names[chance.randrange(len(names))] = chance.choice(NAMES)
        lines[row] = mark.join(names)

    return _lines(chance, text, change)


def line(chance: random.Random, text: str) -> bytes:
    """A line gone, twice, a hundred times, cut, moved or commented."""

    def change(lines: list[str]) -> None:
        row = chance.randrange(len(lines))
        whole = lines[row]
        done = [
            [],
            [whole] * 2,
            [whole] * 100,
            [whole[: len(whole) // 2]],
            ["# " + whole],
            ["", ""],
        ]
        lines[row : row + 1] = chance.choice(done)
        if chance.random() < 0.2:
            chance.shuffle(lines)

    return _lines(chance, text, change)


def character(chance: random.Random, text: str) -> bytes:
    """Characters gone, changed or put in."""
    letters = list(text)
    for _ in range(chance.randint(1, 5)):
        place = chance.randrange(len(letters))
        letters[place] = chance.choice(
            ["", ",", ";", "\t", "\n", '"', "#", "e", "-", ".", "(", "9"]
        )
    return "".join(letters).encode()


def raw(chance: random.Random, text: str) -> bytes:
    """Bytes that are no text, or an end in the middle of nowhere."""
    whole = text.encode()
    place = chance.randrange(len(whole))
    if chance.random() < 0.4:
        return whole[:place]
    return whole[:place] + chance.choice(BYTES) + whole[place:]


def delimiter(chance: random.Random, text: str) -> bytes:
    """Another separator, everywhere or from some line on."""
    old, new = chance.choice(",;\t"), chance.choice(",;\t |")
    place = chance.choice([0, chance.randrange(len(text))])
    return (text[:place] + text[place:].replace(old, new)).encode()


MUTATIONS: tuple[Mutation, ...] = (cell, cell, name, line, character, raw, delimiter)


@pytest.fixture(scope="module")
def good() -> list[str]:
    modes = ("uniaxial", "biaxial", "simple_shear", "full_tensor", "plane_strain")
    return [*GOOD, *(example(mode) for mode in modes)]


def mutated(good: list[str], seed: int) -> bytes:
    """The file of a seed: a good one, changed once to three times."""
    chance = random.Random(seed)
    text = chance.choice(good)
    made = text.encode()
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        text = made.decode(errors="replace")
        made = chance.choice(MUTATIONS)(chance, text) if text else made
    return made


def judged(
    good: list[str], seed: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> object:
    """The exit code of `check` on the file of a seed; everything else is asserted."""
    file = Path("a.csv")
    file.write_bytes(mutated(good, seed))
    arguments = ["check", "a.csv"]
    if seed % 3 == 0:
        arguments += ["--experiment", random.Random(seed).choice(["uniaxial", "biaxial"])]
    monkeypatch.setattr(sys, "argv", ["steinmetz", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr().err
    assert left.value.code in (0, 2), (seed, said)
    assert left.value.code == 0 or "a.csv" in said, (seed, said)
    assert "Traceback" not in said
    assert [path.name for path in Path().iterdir()] == ["a.csv"], seed
    return left.value.code


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, and no pictures: they are all alike, and take the longest."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(understood, "draw", lambda *_: None)
    return tmp_path


@pytest.mark.usefixtures("here")
def test_some_malformed_files(
    good: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = [judged(good, seed, monkeypatch, capsys) for seed in range(60)]
    assert codes.count(2) > 20


@pytest.mark.long
@pytest.mark.usefixtures("here")
def test_two_thousand_malformed_files(
    good: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is understood is prepared for fitting, too, every tenth of them."""
    codes = []
    for seed in range(1000, 3000):
        codes.append(judged(good, seed, monkeypatch, capsys))
        if codes[-1] == 0 and seed % 10 == 0:
            study = measured.jointly([Path("a.csv")], [None], (0.05, 0.01))
            with contextlib.suppress(InputError):
                prepare(jax.random.key(0), study)
    assert codes.count(2) > 1000


@pytest.mark.long
def test_malformed_files_in_processes_of_their_own(good: list[str], tmp_path: Path) -> None:
    """`fit` as it is typed: nothing is written where it is refused."""
    for seed in (1, 4, 7, 10, 13):
        (tmp_path / "a.csv").write_bytes(b"stress;" + mutated(good, seed))
        command = [sys.executable, "-m", "steinmetz", "fit", "a.csv", "--out", "run"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300)
        assert done.returncode == 2, done.stderr
        assert "a.csv" in done.stderr
        assert "Traceback" not in done.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
