"""A study: typed, frozen, with defaults that run.

TOML files and `--set` are exactly these fields.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic
import tomli_w
from pydantic import BaseModel, ConfigDict, Field, JsonValue, SerializeAsAny

from steinmetz import reading
from steinmetz.data import formats, headers, units
from steinmetz.data.branches import Branch
from steinmetz.data.hold_out import Way
from steinmetz.data.noise import Config as Noise
from steinmetz.errors import InputError
from steinmetz.experiments import base as experiments
from steinmetz.experiments import door
from steinmetz.infer import base as samplers
from steinmetz.materials import base as materials
from steinmetz.posterior import density
from steinmetz.potentials import base as potentials
from steinmetz.sparsify import base as penalties

Raw = dict[str, Any]
Stage = Literal["search", "carve", "infer", "assess"]
# Stages in order: what one depends on, the later ones depend on too.
_STAGES: tuple[Stage, ...] = ("search", "carve", "infer", "assess")
# The first stage that depends on a section; a field may say another of itself ("stage").
_BEGINS: dict[str, Stage] = {"infer": "infer", "assess": "assess"}
# What no number depends on.
_WORDS = ("name", "title")


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def _valid(check: Callable[[str], object]) -> pydantic.AfterValidator:
    """A text that a function can read."""

    def checked(text: str) -> str:
        check(text)
        return text

    return pydantic.AfterValidator(checked)


# Fields that say nothing of a run until they are given.
_SILENT: dict[str, JsonValue] = {"silent": True}


class Declared(_Section):
    """What is declared of tables that do not say it themselves."""

    unit: Annotated[str, _valid(units.of_stress)] | None = Field(
        None,
        description="unit of stress columns whose header names none, such as 'MPa'",
        json_schema_extra=_SILENT,
    )
    measure: Annotated[str, _valid(headers.measure)] | None = Field(
        None,
        description="measure of a column named 'stress' alone: nominal, cauchy or second_piola",
        json_schema_extra=_SILENT,
    )
    area: Annotated[str, _valid(units.area)] | None = Field(
        None,
        description="undeformed area under a force, such as '12.5 mm^2'",
        json_schema_extra=_SILENT,
    )
    branch: Branch | None = Field(
        None,
        description="rows of a curve that are taken: loading, unloading or both (all rows)",
        json_schema_extra=_SILENT,
    )


class Block(Declared):
    """One block of data: an experiment, how much of it, and its noise.

    What is not given is data's.
    """

    experiment: SerializeAsAny[experiments.Settings] | None = Field(
        None, description="experiment by name, with its settings; the material's usual one"
    )
    count: int | None = Field(None, ge=1, le=1_000_000, description="states to generate")
    table: str | None = Field(None, description="file of measured rows, instead of a law")
    held_out: float | None = Field(
        None, ge=0, lt=1, description="share of the measured rows kept for the test"
    )
    noise: Noise | None = Field(None, description="noise of this block")


class Source(BaseModel):
    """A block with everything said: what data are made of."""

    model_config = ConfigDict(frozen=True)
    experiment: SerializeAsAny[experiments.Settings]
    count: int
    table: str | None
    held_out: float
    noise: Noise
    declared: door.Declared = door.Declared()


class Data(Declared):
    """Where stress comes from: a generating law, or tables of measured rows."""

    law: str | None = Field(None, description="generating law (see `steinmetz list`)")
    parameters: dict[str, float] = Field(
        default_factory=dict,
        description="parameters of the generating law that differ from its own",
    )
    experiment: SerializeAsAny[experiments.Settings] = Field(
        description="experiment by name, with its settings; the material's usual one"
    )
    count: int = Field(80, ge=1, le=1_000_000, description="states to generate")
    table: str | None = Field(None, description="file of measured rows, instead of a law")
    held_out: float = Field(
        0.2,
        ge=0,
        lt=1,
        description="share of the measured rows kept for the test (from 20 rows on)",
    )
    hold_out: Way = Field(
        "segments",
        description="which rows are kept: segments of neighbours spread over every test curve, "
        "whole curves (numbered by a column `curve`; without one, every table is a curve), the end "
        "with the largest deformation, or single rows at random",
    )
    blocks: tuple[Block, ...] = Field(
        (), description="several blocks fitted jointly; each takes from data what it does not say"
    )

    @pydantic.model_validator(mode="after")
    def _one_source(self) -> "Data":
        tables = [block.table or self.table for block in self.blocks or (Block(),)]
        if any((self.law is None) == (table is None) for table in tables):
            raise ValueError(
                "name either a generating law (data.law) or a table of measured rows (data.table)"
            )
        return self


class Assess(_Section):
    """How much is computed to judge the law."""

    path_points: int = Field(
        1000, ge=2, le=100_000, description="points along the validation path of each experiment"
    )
    test_count: int = Field(
        2000, ge=2, le=1_000_000, description="fresh states for the test score (synthetic data)"
    )
    noise_draws: int = Field(
        500, ge=2, le=100_000, description="noise draws per path point for Wasserstein-1"
    )
    certificate_states: int = Field(
        100_000, ge=1, le=10_000_000, description="random states of the cross-check"
    )
    bands: Literal["mixture", "law"] = Field(
        "mixture",
        description="whose draws make the bands: all laws that may hold, weighted by how often "
        "they are found again (laws composed of terms), or the printed law alone",
    )
    across: bool = Field(
        True,
        description="fit textbook laws beside, and predict every test from the others (measured "
        "data, laws composed of terms)",
    )


class Study(BaseModel):
    """Everything a run needs.

    Sections of exchangeable methods hold the settings of the named one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str = Field(
        "study",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
        description="name of the run directory",
    )
    title: str = Field("", description="one line about it")
    seed: int = Field(0, ge=0, lt=2**32, description="seed of all random numbers; also --seed")
    material: SerializeAsAny[materials.Settings]
    data: Data
    noise: Noise
    potential: SerializeAsAny[potentials.Settings]
    sparsify: SerializeAsAny[penalties.Settings]
    prior: density.Config
    infer: SerializeAsAny[samplers.Settings]
    assess: Assess

    @property
    def sources(self) -> tuple[Source, ...]:
        """The blocks of data, each with everything said."""
        usual = {
            name: getattr(self.data, name) for name in ("experiment", "count", "table", "held_out")
        }
        given = [
            {
                name: value
                for name in Block.model_fields
                if (value := getattr(block, name)) is not None
            }
            for block in self.data.blocks
        ]
        said = {name: getattr(self.data, name) for name in Declared.model_fields}
        sources = []
        for own in given or [{}]:
            words = {name: own.pop(name, said[name]) for name in said}
            declared = door.Declared(**{name: word for name, word in words.items() if word})
            sources.append(Source(**{**usual, "noise": self.noise, **own}, declared=declared))
        return tuple(sources)

    def content(self, stage: Stage) -> Raw:
        """All that the result of a stage depends on: the one answer for every cache.

        Files count by what is in them. A field that matters later than its section says so beside
        its definition (`json_schema_extra={"stage": …}`).
        """
        kept: Raw = {}
        for name in type(self).model_fields:
            value = getattr(self, name)
            begins = _BEGINS.get(name, "search")
            if name in _WORDS or _STAGES.index(begins) > _STAGES.index(stage):
                continue
            kept[name] = _needed(value, stage) if isinstance(value, BaseModel) else value
        tables = [source.table for source in self.sources if source.table]
        return {**kept, "files": [_digest(Path(table)) for table in tables]}


def _needed(section: BaseModel, stage: Stage) -> Raw:
    """The fields of a section that a stage depends on."""
    late = set()
    for name, field in type(section).model_fields.items():
        extra = field.json_schema_extra
        begins = extra.get("stage") if isinstance(extra, dict) else None
        silent = isinstance(extra, dict) and "silent" in extra and getattr(section, name) is None
        if silent or (begins in _STAGES and _STAGES.index(begins) > _STAGES.index(stage)):
            late.add(name)
    return section.model_dump(mode="json", exclude=late)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(reading.content(formats.file_of(str(path)))).hexdigest()
    except InputError:
        return "unreadable"


def to_toml(study: Study) -> str:
    """The study as the TOML text that runs it again."""
    return tomli_w.dumps(plain(study))


def plain(study: Study) -> Raw:
    """The study as plain data, of which the same study is built again."""
    said: Raw = without_none(study.model_dump(mode="json"))
    return said


def without_none(value: Any) -> Any:
    """Plain data without what is not given: TOML has no null."""
    if isinstance(value, dict):
        return {key: without_none(entry) for key, entry in value.items() if entry is not None}
    return [without_none(entry) for entry in value] if isinstance(value, list) else value
