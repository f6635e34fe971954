"""Figures of the paper as grids of studies: method × value of an axis × reading of the posterior × seed (method §7)."""

import itertools
import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pydantic
from pydantic import BaseModel, ConfigDict, Field

from steinmetz import registry
from steinmetz.errors import InputError
from steinmetz.studies import config

_FOLDER = Path(__file__).parent / "figures"
_ARMS, _ERRATA = "arms", "errata"
SCALES = ("quick", "full")
# The paper's loss, a mean over data, read as a log posterior; and the posterior of all data (method §3).
READINGS: dict[str, dict[str, Any]] = {
    "tempered": {"prior.temperature": "mean"},
    "proper": {"prior.temperature": 1.0},
}
Reading = Literal["tempered", "proper"]
Kind = Literal["fits", "lcurves", "distances", "bands", "trend", "planes", "cost", "flow"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Sized(_Frozen):
    """Settings of a study as `--set` takes them, and those of one scale over them."""

    change: dict[str, Any] = Field(default_factory=dict)
    quick: dict[str, Any] = Field(default_factory=dict)
    full: dict[str, Any] = Field(default_factory=dict)

    def at(self, scale: str) -> dict[str, Any]:
        return {**self.change, **getattr(self, scale)}


class Arms(_Frozen):
    """Ways to sparsify and to sample, by the names the figures give them."""

    sparsifiers: dict[str, Sized]
    samplers: dict[str, Sized]


class Axis(_Frozen):
    """What is varied besides the method: a setting and its values."""

    key: str
    label: str
    quick: tuple[float | int, ...]
    full: tuple[float | int, ...]


class Check(_Frozen):
    """A claim that can fail; `assess.claims` knows the kinds. `ours`: not the paper's words but our own demand."""

    kind: Literal[
        "order", "falls", "least", "most", "zero", "overlap", "faster", "steady", "wells", "driven"
    ]
    says: str
    score: str = ""
    source: str = ""
    arms: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()
    strict: tuple[bool, ...] = ()
    value: float = 0.0


class Grid(Sized):
    """One figure or table of the paper."""

    id: str
    title: str
    shows: str
    kind: Kind
    study: str
    arms: tuple[str, ...] = ()
    own: dict[str, Sized] = Field(
        default_factory=dict, description="settings of one arm in this figure only"
    )
    readings: tuple[Reading, ...] = ("proper",)
    axis: Axis | None = None
    carve: dict[str, Any] = Field(
        default_factory=dict, description="settings of the study whose law is taken"
    )
    lengths: dict[str, dict[str, tuple[int, ...]]] = Field(
        default_factory=dict,
        description="steps of an arm's sampler, for W1 at equal time (proper reading)",
    )
    sources: tuple[str, ...] = Field((), description="figures whose points this one only looks at")
    reference: str = Field(
        "", description="arm whose push-forward the others are also compared with"
    )
    seeds: dict[str, int] = Field(default_factory=lambda: {"quick": 1, "full": 5})
    options: dict[str, Any] = Field(default_factory=dict, description="of the kind of figure")
    why: str = Field("", description="what to know where a claim does not hold")
    checks: tuple[Check, ...]


class Point(NamedTuple):
    """One study of a grid; `carve` is the study whose law it samples, `reference` the point it is compared with."""

    grid: str
    arm: str
    reading: str
    value: float | None
    seed: int
    study: Any
    carve: Any
    reference: Any

    @property
    def label(self) -> str:
        value = "" if self.value is None else f" at {self.value:g}"
        return f"{self.arm}{value}, {self.reading}, seed {self.seed}"


def names() -> list[str]:
    """The ids, in the order of the paper."""
    return [grid.id for grid in _every()]


def load(name: str) -> Grid:
    """A figure by its id."""
    found = {grid.id: grid for grid in _every()}
    if name not in found:
        raise InputError(registry.unknown("figure", name, list(found)))
    return found[name]


@cache
def _every() -> tuple[Grid, ...]:
    files = [path for path in _FOLDER.glob("*.toml") if path.stem not in (_ARMS, _ERRATA)]
    grids = [Grid.model_validate(_read(path)) for path in files]
    return tuple(sorted(grids, key=lambda grid: grid.options["place"]))


@cache
def arms() -> Arms:
    return Arms.model_validate(_read(_FOLDER / f"{_ARMS}.toml"))


def errata() -> list[dict[str, str]]:
    """What does not hold as printed: `printed` and `here`."""
    return list(_read(_FOLDER / f"{_ERRATA}.toml")["errata"])


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def points(grid: Grid, scale: str, seeds: int) -> list[Point]:
    """Every study of a grid: references first, so that what is compared with them finds them done."""
    if grid.sources:
        every = [point for source in grid.sources for point in points(load(source), scale, seeds)]
        return [
            p
            for p in every
            if p.arm in grid.arms and p.reading in grid.readings and p.value is None
        ]
    values: tuple[float | int | None, ...] = (
        (None,) if grid.axis is None else getattr(grid.axis, scale)
    )
    found = [
        _point(
            grid,
            arm,
            scale,
            reading,
            seed,
            {} if value is None or grid.axis is None else {grid.axis.key: value},
        )
        for seed, value, reading, arm in itertools.product(
            range(seeds), values, grid.readings, grid.arms
        )
    ]
    for arm, lengths in grid.lengths.items():
        for seed, steps in itertools.product(range(seeds), lengths[scale]):
            found.append(_point(grid, arm, scale, "proper", seed, {"infer.steps": steps}))
    return sorted(found, key=lambda point: point.reference is not None)


def _point(
    grid: Grid, arm: str, scale: str, reading: str, seed: int, axis: dict[str, Any]
) -> Point:
    changes = {**_changes(grid, arm, scale, reading, seed), **axis}
    value = next(iter(axis.values()), None)
    if grid.lengths and axis and "infer.thin" in changes:  # a short chain is kept whole
        changes["infer.thin"] = min(changes["infer.thin"], max(1, changes["infer.steps"] // 200))
    reference = None
    if grid.reference and (arm != grid.reference or axis):
        reference = _point(grid, grid.reference, scale, reading, seed, {})
    carved = _study(grid, {**changes, **grid.carve})
    return Point(
        grid.id,
        arm,
        reading,
        None if value is None else float(value),
        seed,
        _study(grid, changes),
        carved,
        reference,
    )


def _changes(grid: Grid, arm: str, scale: str, reading: str, seed: int) -> dict[str, Any]:
    """All settings of an arm: those of the figure, of the methods, of the arm in this figure, and of the reading."""
    known = arms()
    sparsifier, _, sampler = arm.partition("+")
    changes = {**grid.at(scale), **known.sparsifiers[sparsifier].at(scale)}
    if sampler:
        changes |= known.samplers[sampler].at(scale)
    for name in (sparsifier, arm):
        if name in grid.own:
            changes |= grid.own[name].at(scale)
    return {**changes, **READINGS[reading], "seed": seed}


@cache
def _loaded(study: str, changes: str) -> Any:
    return config.load(study, json.loads(changes))


def _study(grid: Grid, changes: dict[str, Any]) -> Any:
    try:
        return _loaded(grid.study, json.dumps(changes, sort_keys=True))
    except pydantic.ValidationError as error:  # a figure that is not written rightly
        raise InputError(f"{grid.id}: {error.errors()[0]['msg']}") from None
