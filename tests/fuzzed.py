"""Inputs of every kind that a command reads, damaged with a seed, so that they can be made again.

A maker writes what it needs into the current folder and says what is to be called, and which words
count as a place in the message. Those of one run directory need its copy in `run` and `whole`.
"""

import contextlib
import csv
import importlib
import io
import os
import random
import shutil
import stat
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TextIO, cast

from pydantic import BaseModel

import mutations
from engine.test_malformed import GOOD, mutated
from steinmetz import cli
from steinmetz.campaign import folder as folders
from steinmetz.campaign import grid as grids
from steinmetz.errors import InputError
from steinmetz.fe import own
from steinmetz.fe.mesh import Mesh, block
from steinmetz.fe.problems import Wanted
from steinmetz.infer import svgd
from steinmetz.posterior.density import Config as Prior
from steinmetz.studies.study import Assess, Data

GRID = """study = ["hyperelasticity", "rubber_tests"]
seeds = [0, 1]
[settings]
"infer.particles" = 20
[axes]
"noise.relative" = [0.01, 0.05]
"""
CONDITIONS = """[[hold]]
at = {x = 0.0}
x = 0.0
y = 0.0
z = 0.0
[[pull]]
at = {x = 1.0}
traction = [0.0, 0.0, 0.0625]
[[watch]]
name = "tip"
at = {x = 1.0}
direction = "z"
"""
# Formats of meshio, with the ending of their files.
MESHES = {"gmsh22": ".msh", "gmsh": ".msh", "vtu": ".vtu", "vtk42": ".vtk", "abaqus": ".inp"}
MESHES |= {"nastran": ".bdf", "medit": ".mesh", "ansys": ".msh", "su2": ".su2", "netgen": ".vol"}
# Put in the place of a number of a mesh.
NUMBERS = ("-1", "0", "1000000000", "9" * 20, "nan", "1e400", "x", "", "3.5", "-7e-300")
# Sections of a study with their settings, and what is put in their place.
SETTINGS: dict[str, type[BaseModel]] = {"data": Data, "prior": Prior}
SETTINGS |= {"infer": svgd.Config, "assess": Assess}
VALUES = (*mutations.WORDS, "a.csv", "estimated", "svgd", "{a = 1}", "[1, 2]", "-0.0", "2", "a=b")
# Places of results: made in `box`, or outside of it where nothing can be written.
TARGETS = (
    *("box/file", "box/folder", "box/empty", "box/link", "box/away", "box/nowhere", "box/loop"),
    *("box/pipe", "box/device", "box/new", "box/deep/new", "box/file/new", "box/nowhere/new"),
    *("box/pipe/new", "box/away/new", "box/loop/new", "box/run", "box/a\nb", "box/é", "box/\udcff"),
    *("box/" + "x" * 300, "box/" + "d/" * 3000, "/", ".", "..", "box/..", "", " ", "-", "~", "x"),
    *("/proc/new", "/proc/1/new", "/proc/self/fd/0", "/sys/new", "box/*", "box/[a]", "box/%s{}"),
)
WRITERS = (
    *(("export", "run", "--out"), ("export", "run", "--table"), ("template", "uniaxial", "--out")),
    *(("select", "run", "--row", "999", "--out"), ("check", "good.csv", "--out")),
    *(("compare", "run", "whole", "--out"), ("compare", "run", "whole", "--picture")),
    *(("campaign", "good.toml", "--emit-slurm"), ("fe", "run", "--problem", "no.msh", "--out")),
    *(("campaign", "good.toml", "--only", "99999", "--out"), ("predict", "run", "no.csv", "--out")),
    *(("run", "hyperelasticity", "--resume", "--out"), ("fit", "good.csv", "--resume", "--out")),
    *(("lcurve", "hyperelasticity", "--resume", "--out"), ("status",), ("diagnose",)),
    *(("report",), ("next",), ("fit",), ("run",), ("check",)),
)
# Of the study that is read; a file that a setting names is a place of its own.
PLACES = ("--set", "good.csv", "cannot read")


class Input(NamedTuple):
    """Words of a command line, or something to call; any of the places must be named."""

    call: tuple[str, ...] | Callable[[], object]
    places: tuple[str, ...]


def _seconds() -> float:
    """Processor time of this process and of those that it has waited for."""
    return sum(os.times()[:4])


def _stream(errors: str) -> TextIO:
    """A file for what is written, with the rules of a terminal."""
    return cast("TextIO", tempfile.TemporaryFile("w+", encoding="utf-8", errors=errors))


def called(call: tuple[str, ...] | Callable[[], object]) -> tuple[int, str, float]:
    """Exit code (99 of a traceback), what was said, seconds of processor time."""
    begun, code = _seconds(), 0
    with _stream("backslashreplace") as said, _stream("strict") as shown:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(shown):
            try:
                if callable(call):
                    call()
                else:
                    sys.argv = ["steinmetz", *call]
                    cli.main()
            except SystemExit as left:
                code = int(left.code or 0)
            except InputError as error:
                code = 2
                print(error, file=said)
            except BaseException:
                code = 99
                traceback.print_exc(file=said)
        said.seek(0)
        return code, said.read(), _seconds() - begun


def _rows(seed: int) -> list[list[str]]:
    """Cells of a damaged table."""
    text = mutated(list(GOOD), seed).decode(errors="replace").replace("\0", "")
    mark = max(",;\t", key=text.count)
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=mark, quoting=csv.QUOTE_NONE))


def _cell(text: str) -> str | float:
    """A number where it is one, as workbooks have it; no signs that a sheet cannot hold."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return "".join(sign for sign in text if sign.isprintable())


def workbook(seed: int) -> Input:
    """A damaged table as a workbook, whose bytes may be damaged as well."""
    openpyxl = importlib.import_module("openpyxl")
    chance, book, packed = random.Random(seed), openpyxl.Workbook(), io.BytesIO()
    for row in _rows(seed):
        book.active.append([_cell(text) for text in row])
    if chance.random() < 0.05:  # one cell far away
        book.active.cell(1_048_576, chance.choice([1, 16_384])).value = 1
    book.save(packed)
    made = packed.getvalue()
    if chance.random() < 0.4:
        made = mutations.damaged(made, seed, mutations.BINARY)
    Path("a.xlsx").write_bytes(made)
    return Input(("check", "a.xlsx"), ("a.xlsx",))


def parquet(seed: int) -> Input:
    """A damaged table as a Parquet file, whose bytes may be damaged as well."""
    import pandas

    chance, packed = random.Random(seed), io.BytesIO()
    rows = [row for row in _rows(seed) if row and not row[0].startswith("#")] or [["stress"]]
    names = [f"{name}{i}" if name in rows[0][:i] else name for i, name in enumerate(rows[0])]
    columns = {
        name: [row[place] if place < len(row) else None for row in rows[1:]]
        for place, name in enumerate(names)
    }
    frame = pandas.DataFrame(columns)
    if "mode" not in names and chance.random() < 0.7:
        frame["mode"] = "biaxial" if "lambda_1" in names else "uniaxial"
    for name in names:
        if chance.random() < 0.5:
            frame[name] = pandas.to_numeric(frame[name], errors="coerce")
    frame.to_parquet(packed)
    made = packed.getvalue()
    if chance.random() < 0.5:
        made = mutations.damaged(made, seed, mutations.BINARY)
    Path("a.parquet").write_bytes(made)
    return Input(("check", "a.parquet"), ("a.parquet",))


def _cube(kind: str, ending: str) -> bytes:
    """A good mesh in a format."""
    import meshio

    path = Path(f"good-{kind}{ending}")
    if not path.exists():
        mesh: Mesh = block("hexahedron", (2, 1, 1), lambda points: points)
        words: dict[str, Any] = {"binary": False} if kind in ("gmsh22", "gmsh", "vtk42") else {}
        meshio.write(path, meshio.Mesh(mesh.points, [("hexahedron", mesh.cells)]), kind, **words)
    return path.read_bytes()


def _number(chance: random.Random, content: bytes) -> bytes:
    """Another number in a text of numbers."""
    parts = content.decode(errors="replace").split(" ")
    parts[chance.randrange(len(parts))] = chance.choice(NUMBERS)
    return " ".join(parts).encode()


def mesh(seed: int) -> Input:
    """A damaged mesh with what is done to it."""
    chance = random.Random(seed)
    kind = chance.choice(list(MESHES))
    path = Path(f"part{MESHES[kind]}")
    ways = (_number, _number, _number, mutations.line, mutations.bit, mutations.raw)
    path.write_bytes(mutations.damaged(_cube(kind, path.suffix), seed, ways))
    path.with_suffix(".toml").write_text(CONDITIONS, encoding="utf-8")
    return Input(lambda: own.read(path, Wanted()), ("part.",))


def conditions(seed: int) -> Input:
    """What is done to a good mesh, damaged."""
    Path("part.vtu").write_bytes(_cube("vtu", ".vtu"))
    made = mutations.damaged(CONDITIONS.encode(), seed, mutations.TOML)
    Path("part.toml").write_bytes(made)
    return Input(lambda: own.read(Path("part.vtu"), Wanted()), ("part.toml",))


def grid(seed: int) -> Input:
    """A damaged grid; no grid has so many runs."""
    Path("grid.toml").write_bytes(mutations.damaged(GRID.encode(), seed, mutations.TOML))
    words = ("campaign", "grid.toml", "--only", "99999", "--out", "new")
    return Input(words, ("grid.toml", "--only 99999"))


def campaign(seed: int) -> Input:
    """A damaged file of a campaign of which one run is done and another has failed."""
    chance, folder = random.Random(seed), Path("campaign")
    shutil.rmtree(folder, ignore_errors=True)
    Path("good.toml").write_text(GRID, encoding="utf-8")
    if not Path("plan").exists():
        folders.keep_plan(Path("plan"), grids.plan(Path("good.toml")))
    shutil.copytree("plan", folder)
    done, failed, *_ = (folders.place(folder, one.name) for one in folders.read_plan(folder))
    done.mkdir(parents=True)
    shutil.copy("whole/summary.json", done)
    folders.finish(done, 3.5)
    folders.fail(failed, "no memory")
    every = (folder / folders.PLAN, folder / folders.PLAN, done / folders.DONE)
    path = chance.choice([*every, failed / folders.FAILED, done / "summary.json"])
    path.write_bytes(mutations.damaged(path.read_bytes(), seed, mutations.JSON))
    return Input(("status", "campaign"), ("campaign",))


def setting(seed: int) -> Input:
    """A setting with a value that nobody means."""
    chance = random.Random(seed)
    section = chance.choice(list(SETTINGS))
    key = chance.choice([*SETTINGS[section].model_fields, "no_such"])
    name = chance.choice([f"{section}.{key}"] * 8 + [key, section, f"{section}.{key}.x", "", "."])
    change = chance.choice([f"{name}={chance.choice(VALUES)}"] * 9 + [name])
    Path("good.csv").write_text(GOOD[0], encoding="utf-8")
    return Input(("check", "good.csv", "--set", change), (*PLACES, section, key))


def _box() -> None:
    """A folder with one thing of every kind in it."""
    box = Path("box")
    shutil.rmtree(box, ignore_errors=True)
    for folder in ("folder", "empty"):
        (box / folder).mkdir(parents=True)
    for file in ("file", "folder/file"):
        (box / file).write_text("1", encoding="utf-8")
    for link, target in {"link": "file", "away": "folder", "nowhere": "no", "loop": "loop"}.items():
        (box / link).symlink_to(target)
    os.mkfifo(box / "pipe")
    with contextlib.suppress(OSError):  # only some may make one
        os.mknod(box / "device", 0o600 | stat.S_IFCHR, os.makedev(1, 7))


def target(seed: int) -> Input:
    """A place for results, or of a finished run, that is none or is something else."""
    chance = random.Random(seed)
    _box()
    Path("good.csv").write_text(GOOD[0], encoding="utf-8")
    Path("good.toml").write_text(GRID, encoding="utf-8")
    words, place = chance.choice(WRITERS), chance.choice(TARGETS)
    if place.strip("/"):  # with an ending, the root is the name of a file that would be written
        place += chance.choice(["", "", "", ".csv", ".png", ".sh", "/"])
    options = tuple(word for word in words if word.startswith("--"))
    named = (place or ".", str(Path(place)), os.path.abspath(place), "999", "no.csv", "no.msh")
    shown = tuple(each.encode(errors="backslashreplace").decode() for each in named)
    options += (*shown, "No such option: -", "file name too long", f"/proc/{os.getpid()}")
    return Input((*words, place), (*options, *named))


MAKERS: dict[str, Callable[[int], Input]] = {
    "workbooks": workbook,
    "parquet": parquet,
    "meshes": mesh,
    "conditions": conditions,
    "grid.toml": grid,
    "campaigns": campaign,
    "--set": setting,
    "--out": target,
}
