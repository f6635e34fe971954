"""A grid: a TOML file that names studies or tables and lists values of their settings.

Every run of it is a plain dictionary of texts, numbers and lists, which any process on any machine
can read as JSON.
"""

import hashlib
import itertools
import json
import math
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import pydantic
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from steinmetz import reading
from steinmetz.errors import InputError, about
from steinmetz.records import Document
from steinmetz.studies import config, measured
from steinmetz.studies.study import Study

# Raised when the same content would mean other numbers than before.
_EDITION = 1
# Characters of a hash that name a folder.
_LETTERS = 16
# More runs than this are hardly meant.
_MOST = 100_000


class Tables(BaseModel):
    """Tables that are fitted jointly, as `steinmetz fit` does it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    files: tuple[str, ...] = Field(min_length=1)
    experiments: tuple[str, ...] = ()


class Grid(BaseModel):
    """What is run: every study or set of tables, with every seed and every value of every axis."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    study: str | tuple[str, ...] = ()
    data: tuple[Tables, ...] = ()
    seeds: tuple[int, ...] = Field((0,), min_length=1)
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    axes: dict[str, tuple[JsonValue, ...]] = Field(default_factory=dict)


class Run(Document):
    """One run: a study by name or path, or tables with their experiments, and changed settings."""

    study: str | None = None
    files: tuple[str, ...] = ()
    experiments: tuple[str | None, ...] = ()
    changes: dict[str, JsonValue] = Field(default_factory=dict)

    def build(self) -> Study:
        """The study, every field checked."""
        if self.study is not None:
            return config.load(self.study, self.changes)
        files = [Path(file) for file in self.files]
        return measured.jointly(files, self.experiments, changes=self.changes)


class Planned(NamedTuple):
    """A run with the name of its folder, and what sets it apart from the others, in words."""

    name: str
    label: str
    run: Run


def name_of(study: Study) -> str:
    """The hash of everything that the result depends on; files count by what is in them."""
    content = _without_places(study.content("assess"))
    text = {"version": metadata.version("steinmetz"), "edition": _EDITION, "content": content}
    return hashlib.sha256(json.dumps(text, sort_keys=True).encode()).hexdigest()[:_LETTERS]


def _without_places(value: object) -> object:
    """Plain data without the paths of tables, which differ from machine to machine."""
    if isinstance(value, dict):
        return {key: _without_places(entry) for key, entry in value.items() if key != "table"}
    return [_without_places(entry) for entry in value] if isinstance(value, list) else value


def plan(file: Path) -> list[Planned]:
    """All runs of a grid in their order; each is checked, so that a wrong one is told at once."""
    grid = _read(file)
    runs = _runs(grid, file)
    shared = set(grid.settings)
    planned: dict[str, Planned] = {}
    for number, run in enumerate(runs):
        label = _label(run, shared)
        with about(f"{file}: run {number} ({label})"):
            name = name_of(run.build())
        if name in planned:
            words = f"run {number} ({label}) is the same as another ({planned[name].label})"
            raise InputError(f"{file}: {words}; leave one of them out")
        planned[name] = Planned(name, label, run)
    return list(planned.values())


def _read(file: Path) -> Grid:
    """The grid of a file, or one sentence about the first thing that is wrong with it."""
    try:
        grid = Grid.model_validate(reading.toml(file, str(file)))
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        known = ", ".join(Grid.model_fields)
        raise InputError(f"{file}: {place}: {first['msg'].lower()}; a grid has {known}") from None
    if bool(grid.study) == bool(grid.data):
        raise InputError(f"{file}: name either a study (study = …) or tables ([[data]])")
    for axis, values in grid.axes.items():
        if not values or axis in grid.settings or axis == "seed":
            words = "list its values, and name it nowhere else (seeds have a list of their own)"
            raise InputError(f"{file}: axis '{axis}': {words}")
    return grid


def _runs(grid: Grid, file: Path) -> list[Run]:
    """The product of everything that is listed; seeds change fastest."""
    cases = _cases(grid, file)
    lists = [*grid.axes.values(), grid.seeds]
    if len(cases) * math.prod(map(len, lists)) > _MOST:
        raise InputError(f"{file}: more than {_MOST} runs; list fewer values")
    found = []
    for case in cases:
        for values in itertools.product(*lists):
            changes = dict(zip([*grid.axes, "seed"], values, strict=True))
            found.append(case.model_copy(update={"changes": {**grid.settings, **changes}}))
    return found


def _cases(grid: Grid, file: Path) -> list[Run]:
    """Studies or sets of tables; paths are looked for beside the grid."""
    folder = file.absolute().parent
    studies = (grid.study,) if isinstance(grid.study, str) else grid.study
    known = config.names()
    cases = [Run(study=one if one in known else _located(one, folder)) for one in studies]
    for tables in grid.data:
        kinds: tuple[str | None, ...] = tables.experiments or (None,)
        kinds = kinds * len(tables.files) if len(kinds) == 1 else kinds
        if len(kinds) != len(tables.files):
            words = f"{len(kinds)} experiments for {len(tables.files)} files; name one for each"
            raise InputError(f"{file}: data: {words}")
        files = tuple(str(folder / name) for name in tables.files)
        cases.append(Run(files=files, experiments=kinds))
    return cases


def _located(study: str, folder: Path) -> str:
    """The path of a study; what is no path is left for the one sentence about unknown names."""
    return str(folder / study) if study.endswith(".toml") else study


def _label(run: Run, shared: set[str]) -> str:
    """What is run, its seed, and what other runs have otherwise."""
    what = Path(run.study).stem if run.study else "+".join(Path(f).stem for f in run.files)
    own = [f"{key}={value}" for key, value in run.changes.items() if key not in shared]
    return " ".join([what, *own])
