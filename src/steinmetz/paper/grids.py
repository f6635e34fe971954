"""Figures of the paper as grids of studies (method §7).

A grid is method × value of an axis × reading of the posterior × seed, written as one TOML file in
`figures`. Everything in it is checked when it is read: scores, arms, components and options.
"""

import importlib
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import pydantic
from pydantic import Field

from steinmetz import registry
from steinmetz.errors import InputError
from steinmetz.experiments import base as experiments
from steinmetz.paper.arms import Frozen, Settings, Sized, arms, entry, read
from steinmetz.paper.scores import component_kind
from steinmetz.paper.statements import AnyCheck, ReadingName, Score, ScoreCheck
from steinmetz.studies import config
from steinmetz.studies.study import Study

# Minutes, and the sizes of the paper.
SCALES = ("quick", "full")
# A chain that is stopped early is thinned so that about so many of its draws are kept.
_SHORT_CHAIN = 200
# How the paper's loss, a mean over data, is read as a log posterior, and what figures call that: as
# it stands, which is a tempered posterior, or as the posterior of all data (method §3).
READINGS = {"tempered": "tempered (paper)", "proper": "proper posterior"}
_TEMPERATURES = {"tempered": "mean", "proper": 1.0}
OptionsOf = TypeVar("OptionsOf", bound="Options")


class Options(Frozen):
    """Settings of one kind of figure; a file in `plots` that has any declares a subclass."""


class Panel(Frozen):
    """A score along the path, and the title of its panel."""

    score: Score
    title: str


class Panels(Options):
    """Options of a figure with a panel per score."""

    panels: tuple[Panel, ...]


class Axis(Frozen):
    """What is varied besides the method: a setting and its values at each scale."""

    key: str
    label: str
    values: dict[str, tuple[float | int, ...]]


class Grid(Sized):
    """One figure or table of the paper, at its place there; its id is the name of its file.

    `study` and `change` are what all points share, `per_arm` what one arm has in this figure only;
    `cases` stand in place of arms where a figure does not compare methods.
    `carve` changes the study whose law is taken, so that it need not be carved from the data that
    are sampled. `lengths` are steps of an arm's sampler, for W1 at equal time in the proper
    reading. `sources` are figures whose points this one only looks at. `reference` has for every
    sparsifier the arm that samples its posterior at length: others of it are also compared with
    that. `options` are those of the kind of figure, a file in `plots`; `why` says what to know
    where a claim does not hold, `sizes` where less is done than in the paper.
    """

    id: str
    place: int
    figure: str
    title: str
    shows: str
    kind: str
    study: str
    arms: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    per_arm: dict[str, Sized] = Field({})
    readings: tuple[ReadingName, ...] = ("proper",)
    axis: Axis | None = None
    carve: Settings = Field({})
    lengths: dict[str, dict[str, tuple[int, ...]]] = Field({})
    sources: tuple[str, ...] = ()
    reference: dict[str, str] = Field({})
    seeds: dict[str, int] = Field({"quick": 3, "full": 3})
    options: Options = Options()
    why: str = ""
    sizes: str = ""
    checks: tuple[AnyCheck, ...]

    def of(self, kind: type[OptionsOf]) -> OptionsOf:
        """The options, which are those of the kind of figure."""
        if not isinstance(self.options, kind):
            raise InputError(f"{self.id}: the options are not those of its kind of figure")
        return self.options

    @pydantic.model_validator(mode="after")
    def _names_are_known(self) -> "Grid":
        """Arms have methods and looks, scores are of components that the study observes."""
        for arm in self.arms:
            arms().methods(arm)
            if "+" in arm:
                arms().look(arm)
        judged = [check for check in self.checks if isinstance(check, ScoreCheck)]
        scores = [score for check in judged for score in check.scores]
        if isinstance(self.options, Panels):
            scores += [panel.score for panel in self.options.panels]
        for kind in {score.component for score in scores} - {"all"}:
            entry("kind of component", kind, _component_kinds(self.study))
        return self


@dataclass(frozen=True)
class Point:
    """One study of a grid; of a grid without arms, one seed.

    `carve` is the study whose law it samples, `reference` the point it is compared with; `kept`:
    others are compared with this one.
    """

    grid: Grid
    scale: str
    arm: str
    reading: str
    value: float | None
    seed: int
    study: Study
    carve: Study
    reference: "Point | None" = None
    kept: bool = False

    @property
    def label(self) -> str:
        """Arm, value, reading and seed in words, as far as the grid has them."""
        value = "" if self.value is None else f" at {self.value:g}"
        place = f"{self.arm}{value}, " + (f"{self.reading}, " if self.reading else "")
        return f"{place}seed {self.seed}"


@cache
def titles() -> dict[str, str]:
    """Titles by id, in the order of the paper; nothing heavy is imported for them."""
    names = [path.stem for path in (Path(__file__).parent / "figures").glob("*.toml")]
    files = {name: read(f"figures/{name}") for name in names}
    return {name: files[name]["title"] for name in sorted(names, key=lambda n: files[n]["place"])}


def kinds() -> list[str]:
    """The kinds of figure there are: files in `plots` that can draw."""
    files = (Path(__file__).parent / "plots").glob("*.py")
    return sorted(path.stem for path in files if "\ndef draw(" in path.read_text(encoding="utf-8"))


def plot_file(kind: str) -> ModuleType:
    """The file of a kind of figure."""
    if kind not in kinds():
        raise InputError(registry.unknown("kind of figure", kind, kinds()))
    return importlib.import_module(f"steinmetz.paper.plots.{kind}")


@cache
def load(name: str) -> Grid:
    """A figure by its id, with every name in it checked."""
    entry("figure", name, titles())
    raw = read(f"figures/{name}")
    try:
        kind = getattr(plot_file(str(raw.get("kind"))), "Options", Options)
        options = kind.model_validate(raw.pop("options", {}))
        return Grid.model_validate({**raw, "id": name, "options": options})
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{name}.toml: {place + ': ' if place else ''}{message}") from None


def errata() -> list[dict[str, str]]:
    """What does not hold as printed in the paper: `printed` and `here`."""
    return list(read("errata")["errata"])


@cache
def _component_kinds(study: str) -> dict[str, str]:
    """S and mu, say: the kinds of component that a study observes."""
    sources = config.load(study).sources
    observed = [
        name for source in sources for name in experiments.build(source.experiment).observed
    ]
    return {component_kind(name): name for name in observed}


def points(grid: Grid, scale: str, seeds: Sequence[int]) -> list[Point]:
    """Every study of a grid: references first, so that what is compared with them finds them."""
    if grid.sources:
        every = [point for source in grid.sources for point in points(load(source), scale, seeds)]
        chosen = (p for p in every if p.arm in grid.arms and p.reading in grid.readings)
        return [point for point in chosen if point.value is None]
    if not grid.arms:
        studies = [_study(grid.study, {**grid.at(scale), "seed": seed}) for seed in seeds]
        each = itertools.product(studies, grid.cases or (grid.kind,))
        return [Point(grid, scale, case, "", None, one.seed, one, one) for one, case in each]
    axis = grid.axis
    changes = [{}] if axis is None else [{axis.key: value} for value in axis.values[scale]]
    asked = itertools.product(seeds, changes, grid.readings, grid.arms)
    every = [_point(grid, scale, *one) for one in asked]
    for arm, lengths in grid.lengths.items():
        for seed, steps in itertools.product(seeds, lengths[scale]):
            every.append(_point(grid, scale, seed, {"infer.steps": steps}, "proper", arm))
    return sorted(every, key=lambda point: point.reference is not None)


def _point(grid: Grid, scale: str, seed: int, varied: Settings, reading: str, arm: str) -> Point:
    """One point; `varied` has the one setting that is varied, or none.

    Settings are those of the figure, then of the methods, then of the arm in this figure, then of
    the reading.
    """
    names = [name for name in (arm.partition("+")[0], arm) if name in grid.per_arm]
    changes: Settings = {}
    for sized in (grid, *arms().methods(arm), *(grid.per_arm[name] for name in names)):
        changes |= sized.at(scale)
    changes |= {"prior.temperature": _TEMPERATURES[reading], "seed": seed, **varied}
    if grid.lengths and varied and "infer.thin" in changes:  # a short chain is kept whole
        thin = max(1, changes["infer.steps"] // _SHORT_CHAIN)
        changes["infer.thin"] = min(changes["infer.thin"], thin)
    reference, longest = None, grid.reference.get(arm.partition("+")[0])
    if longest is not None and (arm != longest or "infer.steps" in varied):
        same = {key: setting for key, setting in varied.items() if not key.startswith("infer.")}
        reference = _point(grid, scale, seed, same, reading, longest)
    value = next((float(value) for value in varied.values()), None)
    studies = _study(grid.study, changes), _study(grid.study, {**changes, **grid.carve})
    kept = longest is not None and reference is None
    return Point(grid, scale, arm, reading, value, seed, *studies, reference, kept)


def _study(name: str, changes: Settings) -> Study:
    return _loaded(name, json.dumps(changes, sort_keys=True))


@cache
def _loaded(name: str, changes: str) -> Study:
    """A study with changes, given as JSON so that equal ones are read once."""
    return config.load(name, json.loads(changes))
