"""Damaged files of a run: read as far as they are whole, or refused in a sentence with a place.

Never a traceback, and nothing is computed from a file that is not as it was written.
"""

import contextlib
import os
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import fuzzed
import mutations
from cases import present
from engine.test_malformed import GOOD
from steinmetz.cache import Cache
from steinmetz.cli import main
from steinmetz.errors import InputError
from steinmetz.report import understood
from steinmetz.report.stored import restore


class Kind(NamedTuple):
    """A file, what is done to it, the command that reads it, and whether it may go well."""

    file: str
    ways: tuple[mutations.Mutation, ...]
    words: tuple[str, ...]
    fine: tuple[int, ...]


KINDS = {
    "summary.json": Kind("summary.json", mutations.JSON, ("diagnose", "run"), (0, 1)),
    "law.json": Kind("law.json", mutations.JSON, ("export", "run"), (0,)),
    # no such row: refused, whatever is read
    "carving.json": Kind("carving.json", mutations.JSON, ("select", "run", "--row", "999"), ()),
    "study.toml": Kind("study.toml", mutations.TOML, ("select", "run", "--row", "999"), ()),
    "posterior.nc": Kind("posterior.nc", mutations.BINARY, ("compare", "run", "run"), ()),
    "predictions.nc": Kind("predictions.nc", mutations.BINARY, ("compare", "run", "run"), ()),
}
# Packages that read inputs of some kinds.
NEEDED = {"workbooks": "openpyxl", "parquet": "pyarrow", "meshes": "meshio", "conditions": "meshio"}
Judge = Callable[[Kind, int], int]


@pytest.fixture
def judge(
    quick_folder: Path,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Judge:
    """The exit code of a command on the file of a seed; everything else is asserted."""
    monkeypatch.chdir(tmp_path)
    spoken = tmp_path_factory.mktemp("said") / "stderr"
    shutil.copytree(quick_folder, "run")

    def judged(kind: Kind, seed: int) -> int:
        path, whole = Path("run") / kind.file, (quick_folder / kind.file).read_bytes()
        made = mutations.damaged(whole, seed, kind.ways)
        path.write_bytes(made)
        monkeypatch.setattr(sys, "argv", ["steinmetz", *kind.words])
        with spoken.open("w+", encoding="utf-8") as stream:
            monkeypatch.setattr(sys, "stderr", stream)
            with pytest.raises(SystemExit) as left:
                main()
            stream.seek(0)
            said = stream.read()
        path.write_bytes(whole)
        allowed = (*kind.fine, *((0,) if made == whole else ()))
        assert left.value.code in (2, *allowed), (kind.file, seed, said)
        assert left.value.code in allowed or "run" in said or "row 999" in said, (seed, said)
        assert "Traceback" not in said
        assert os.listdir() == ["run"], seed
        return int(left.value.code or 0)

    return judged


@pytest.mark.parametrize("name", KINDS)
def test_some_damaged_files(name: str, judge: Judge) -> None:
    codes = [judge(KINDS[name], seed) for seed in range(12)]
    assert codes.count(2) > 4


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_many_damaged_files(name: str, judge: Judge) -> None:
    for seed in range(1000, 2250):
        judge(KINDS[name], seed)


@pytest.mark.long
def test_what_is_read_of_a_damaged_run_can_be_used(quick_folder: Path, tmp_path: Path) -> None:
    """A run is restored from damaged files as a whole, or refused."""
    folder = tmp_path / "run"
    shutil.copytree(quick_folder, folder)
    chance = random.Random(0)
    for seed in range(150):
        kind = KINDS[chance.choice(["summary.json", "carving.json", "study.toml"])]
        whole = (folder / kind.file).read_bytes()
        (folder / kind.file).write_bytes(mutations.damaged(whole, seed, kind.ways))
        with contextlib.suppress(InputError):
            assert np.isfinite(restore(folder).particles).all()
        (folder / kind.file).write_bytes(whole)


def test_damaged_checkpoints_are_never_taken_for_whole(tmp_path: Path) -> None:
    """The last one as it was written, else the one before, else none."""
    cache = Cache(tmp_path, "study")
    for number in (1, 2):
        cache.put("a", number=np.array(number), values=np.arange(200.0) * number)
    files = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for seed in range(200):
        for count, (path, whole) in enumerate(files.items()):
            made = mutations.damaged(whole, seed + 1000 * count, mutations.BINARY)
            path.write_bytes(made if (seed + count) % 3 else whole)
        found = cache.get("a")
        last, before = (path.read_bytes() == files[path] for path in sorted(files)[::-1])
        if last or before:
            number = int(present(found)["number"])
            assert number == (2 if last else 1)
            np.testing.assert_array_equal(present(found)["values"], np.arange(200.0) * number)
        else:
            assert found is None


READ = (
    *(("diagnose", "run"), ("report", "run"), ("export", "run"), ("next", "run")),
    *(("select", "run", "--row", "1"), ("compare", "run", "whole"), ("compare", "whole", "run")),
    *(("predict", "run", "a.csv"), ("fe", "run", "--problem", "cook", "--out", "solved")),
)


@pytest.mark.parametrize("words", READ, ids=" ".join)
def test_no_command_follows_a_link_out_of_a_run(
    words: tuple[str, ...], quick_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever file it is: here one that no command needs."""
    monkeypatch.chdir(tmp_path)
    for copy in ("run", "whole"):
        shutil.copytree(quick_folder, copy)
    Path("a.csv").write_text(GOOD[0], encoding="utf-8")
    (Path("run") / "figures" / "away.png").symlink_to("/etc/hostname")
    before = sorted(os.listdir())
    code, said, _ = fuzzed.called(words)
    assert code == 2, said
    assert "run/figures/away.png: a link that leaves the run directory" in said
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("kind", fuzzed.MAKERS)
def test_some_inputs_of_every_other_kind(
    kind: str, quick_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Meshes, workbooks, campaigns, settings and targets; `benchmarks/fuzz.py` tries thousands."""
    if kind in NEEDED:
        pytest.importorskip(NEEDED[kind], reason=f"{NEEDED[kind]} reads {kind}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(understood, "draw", lambda *_: None)
    for copy in ("run", "whole"):
        shutil.copytree(quick_folder, copy)
    codes = []
    for seed in range(12):
        given = fuzzed.MAKERS[kind](seed)
        code, said, _ = fuzzed.called(given.call)
        assert code in (0, 2), (seed, said)
        assert code == 0 or any(place in said for place in given.places), (seed, said)
        codes.append(code)
    assert codes.count(2) > 4
