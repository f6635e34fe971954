"""A study: typed, frozen, with defaults that run. TOML files and `--set` are exactly these fields."""

import copy
import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import pydantic
import tomli_w
from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny

from steinmetz import registry
from steinmetz.data.noise import Config as Noise
from steinmetz.errors import InputError
from steinmetz.experiments import base as experiments
from steinmetz.infer import base as samplers
from steinmetz.materials import base as materials
from steinmetz.posterior import density
from steinmetz.potentials import base as potentials
from steinmetz.sparsify import base as penalties

Raw = dict[str, Any]
Model = TypeVar("Model", bound=BaseModel)
Stage = Literal["search", "carve", "infer", "assess"]
# Stages in order: what one depends on, the later ones depend on too.
_STAGES: tuple[Stage, ...] = ("search", "carve", "infer", "assess")
# The first stage that depends on a section; a field may say another of itself ("stage").
_BEGINS: dict[str, Stage] = {"infer": "infer", "assess": "assess"}
# What no number depends on.
_WORDS = ("name", "title")


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Block(_Section):
    """One block of data: an experiment, how much of it, and its noise. What is not given is data's."""

    experiment: SerializeAsAny[experiments.Settings] | None = Field(
        None, description="experiment by name, with its settings; the material's usual one"
    )
    count: int | None = Field(None, ge=1, le=1_000_000, description="states to generate")
    table: str | None = Field(None, description="CSV file of measured rows, instead of a law")
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


class Data(_Section):
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
    table: str | None = Field(None, description="CSV file of measured rows, instead of a law")
    held_out: float = Field(
        0.2,
        ge=0,
        lt=1,
        description="share of the measured rows kept for the test (from 20 rows on)",
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


class Study(BaseModel):
    """Everything a run needs. Sections of exchangeable methods hold the settings of the named one."""

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
        return tuple(Source(**{**usual, "noise": self.noise, **own}) for own in given or [{}])

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
        if begins in _STAGES and _STAGES.index(begins) > _STAGES.index(stage):
            late.add(name)
    return section.model_dump(mode="json", exclude=late)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "unreadable"


def names() -> list[str]:
    """The studies there are."""
    return registry.names("studies")


def title(name: str) -> str:
    """One line about a study."""
    return str(_read(registry.path_of("studies", name), name).get("title", ""))


def load(study: str, changes: Mapping[str, Any] | None = None) -> Study:
    """A study by name, or a TOML file by path, with `changes` such as {'infer.particles': 100}."""
    path = Path(study)
    if study in names():
        path = registry.path_of("studies", study)
    elif path.suffix != ".toml":
        raise InputError(
            registry.unknown("study", study, names()) + ", or the path of a .toml file"
        )
    raw = _read(path, study)
    _locate_tables(raw.get("data"), path.parent)
    return build(raw, changes, source=study)


def _read(path: Path, study: str) -> Raw:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{study} is not valid TOML: {error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{study} is not a text file in UTF-8") from None
    except OSError as error:
        raise InputError(
            f"cannot read {study}: {(error.strerror or 'unreadable').lower()}"
        ) from None


def _locate_tables(data: object, folder: Path) -> None:
    """Tables that a file names are looked for beside that file."""
    if not isinstance(data, dict):
        return
    blocks = data.get("blocks", ())
    for part in (data, *(blocks if isinstance(blocks, list) else ())):
        if isinstance(part, dict) and isinstance(part.get("table"), str):
            part["table"] = str((folder / part["table"]).absolute())


def measured(
    table: str | Path,
    relative: float = 0.05,
    absolute: float = 0.0,
    changes: Mapping[str, Any] | None = None,
) -> Study:
    """The study that fits a CSV file of measured rows; `relative` and `absolute` are their noise."""
    return measured_jointly([Path(table)], [None], (relative, absolute), changes)


def measured_jointly(
    tables: Sequence[Path],
    experiment: Sequence[str | None],
    deviations: tuple[float, float],
    changes: Mapping[str, Any] | None = None,
) -> Study:
    """The study that fits several tables together, each of the named experiment (None: the usual one).

    `deviations` are the relative and the absolute noise. Incompressible tests make the material so.
    """
    kinds = [
        None if name is None else experiments.load(name).Config(name=name) for name in experiment
    ]
    free = any(kind is not None and experiments.build(kind).free is not None for kind in kinds)
    given = {"material.incompressible": True, **(changes or {})} if free else dict(changes or {})
    blocks = [
        {"table": str(path.absolute())} | ({} if kind is None else {"experiment": kind.name})
        for path, kind in zip(tables, kinds, strict=True)
    ]
    raw = {
        "name": _plain("-".join(path.stem for path in tables)),
        "title": f"Measured data of {', '.join(path.name for path in tables)}",
        "data": blocks[0] if len(blocks) == 1 else {"blocks": blocks},
        "noise": dict(zip(("relative", "absolute"), deviations, strict=True)),
    }
    return build(raw, given, source=", ".join(map(str, tables)))


def _plain(text: str) -> str:
    """A text as the name of a study: letters, digits and . _ - only."""
    letters = (c if (c.isalnum() and c.isascii()) or c in "._-" else "_" for c in text)
    return "".join(letters).lstrip("._-")[:64] or "fit"


def build(raw: Raw, changes: Mapping[str, Any] | None = None, source: str = "study") -> Study:
    """Check every field; the first wrong one is named with what it may be."""
    raw = {key: dict(value) if isinstance(value, dict) else value for key, value in raw.items()}
    before = copy.deepcopy({name: raw.get(name) for name in ("material", "data", "noise")})
    _apply(raw, changes or {})
    other = any(raw.get(name, {}) != (value or {}) for name, value in before.items())
    if other and "law" in (raw.get("data") or {}) and "title" not in (changes or {}):
        raw.pop("title", None)  # it speaks of other data
    read = _Reader(raw, source)
    material = read.chosen("material", "name", "isotropic")
    usual = materials.build(material)  # type: ignore[arg-type]
    potential = read.chosen("potential", "name", usual.potential)
    advice = registry.load("potentials", potential.name).TRAINING  # type: ignore[attr-defined]
    sections = {
        "material": material,
        "data": read.section("data", Data, read.data(usual.experiment)),
        "noise": read.section("noise", Noise),
        "potential": potential,
        "sparsify": read.chosen("sparsify", "method", "l0", advice),
        "prior": read.section("prior", density.Config),
        "infer": read.chosen("infer", "method", "auto"),
        "assess": read.section("assess", Assess),
    }
    study = read.validated(Study, {**raw, **sections}, "")
    return study if study.title else study.model_copy(update={"title": _described(study)})


def changed(study: Study, section: str, settings: Raw) -> Study:
    """The study with other settings in one section; what they do not say is advised or usual."""
    raw = _without_none(study.model_dump(mode="json", exclude={section}))
    return build({**raw, section: _without_none(settings)})


def _described(study: Study) -> str:
    """A title for a study that has none, or whose own is no longer true."""
    sources = study.sources
    what = study.data.law or ", ".join(Path(str(source.table)).name for source in sources)
    kinds = ", ".join(dict.fromkeys(source.experiment.name.replace("_", " ") for source in sources))
    count = "" if study.data.law is None else f", {sum(source.count for source in sources)} states"
    levels = dict.fromkeys(f"{100 * source.noise.relative:g} %" for source in sources)
    return f"{what} ({kinds}){count}, {', '.join(levels)} relative noise"


def _apply(raw: Raw, changes: Mapping[str, Any]) -> None:
    """Set `section.key` pairs; naming another method leaves behind the settings of the first."""
    for section, key in (
        ("material", "name"),
        ("potential", "name"),
        ("sparsify", "method"),
        ("infer", "method"),
    ):
        changed, given = changes.get(f"{section}.{key}"), raw.get(section)
        if changed is not None and isinstance(given, dict) and given.get(key, changed) != changed:
            raw[section] = {}
    for key, value in changes.items():
        *sections, last = key.split(".")
        place = raw
        for section in sections:
            if isinstance(place.get(section), str) and section == "experiment":
                place[section] = {"name": place[section]}
            place = place.setdefault(section, {})
            if not isinstance(place, dict):
                raise InputError(f"--set {key}: '{section}' is not a section")
        place[last] = value


class _Reader:
    """Sections of a raw study as checked records."""

    def __init__(self, raw: Raw, source: str) -> None:
        self.raw, self.source = raw, source

    def section(self, name: str, kind: type[Model], given: object = None) -> Model:
        """One section."""
        given = self.raw.get(name, {}) if given is None else given
        if not isinstance(given, dict):
            raise InputError(f"{self.source}: '{name}' must be a table of settings, got {given!r}")
        return self.validated(kind, given, f"{name}.")

    def chosen(
        self, name: str, key: str, usual: str, advice: Mapping[str, Raw] | None = None
    ) -> BaseModel:
        """A section whose class is that of the method it names, under a preset or what is advised."""
        given = self.raw.get(name, {})
        method = str(given.get(key, usual)) if isinstance(given, dict) else usual
        folder = {"material": "materials", "potential": "potentials"}.get(name, name)
        module = registry.load(folder, method)
        if isinstance(given, dict):
            under = (advice or {}).get(method, {})
            if "preset" in given:
                under = self._preset(name, str(given["preset"]), getattr(module, "PRESETS", {}))
            given = {**under, **{k: v for k, v in given.items() if k != "preset"}}
        return self.section(name, module.Config, given)

    def _preset(self, name: str, preset: str, known: Mapping[str, Raw]) -> Raw:
        if preset not in known:
            words = registry.unknown(f"{name}.preset", preset, sorted(known))
            raise InputError(f"{self.source}: {words}")
        return known[preset]

    def data(self, usual: str) -> object:
        """The data section with its experiments as records."""
        given = self.raw.get("data", {})
        if not isinstance(given, dict):
            return given
        blocks = given.get("blocks", ())
        if not isinstance(blocks, list | tuple) or not all(isinstance(b, dict) for b in blocks):
            raise InputError(
                f"{self.source}: data.blocks must be a list of tables ([[data.blocks]])"
            )
        read = [
            {**block, "experiment": self._experiment(block["experiment"], f"data.blocks.{number}")}
            if "experiment" in block
            else block
            for number, block in enumerate(blocks)
        ]
        experiment = self._experiment(given.get("experiment", usual), "data")
        return {**given, "experiment": experiment, "blocks": tuple(read)}

    def _experiment(self, given: object, place: str) -> experiments.Settings:
        """An experiment by name, or a table with its name and settings."""
        table = {"name": given} if isinstance(given, str) else given
        if not isinstance(table, dict) or not isinstance(table.get("name"), str):
            raise InputError(f"{self.source}: {place}.experiment must name an experiment")
        kind = experiments.load(table["name"]).Config
        return self.validated(kind, table, f"{place}.experiment.")

    def validated(self, kind: type[Model], given: Raw, prefix: str) -> Model:
        """A record of checked values, or one sentence about the first wrong one."""
        try:
            return kind.model_validate(given)
        except pydantic.ValidationError as error:
            first = error.errors()[0]
            place = prefix + ".".join(str(part) for part in first["loc"])
            message = first["msg"][0].lower() + first["msg"][1:]
            if first["type"] == "extra_forbidden":
                message = registry.unknown(
                    "setting", place, [prefix + n for n in kind.model_fields]
                )
            elif first["type"] == "value_error":
                message = message.removeprefix("value error, ")
            else:
                message = f"{place} = {first['input']!r} is not possible: {message}"
            raise InputError(f"{self.source}: {message}") from None


def to_toml(study: Study) -> str:
    """The study as the TOML text that runs it again."""
    return tomli_w.dumps(_without_none(study.model_dump(mode="json")))


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(entry) for key, entry in value.items() if entry is not None}
    return [_without_none(entry) for entry in value] if isinstance(value, list) else value
