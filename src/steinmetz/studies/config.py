"""Read a study by name or from a TOML file, with changes.

Raw settings become checked records; the first wrong one is named with what is possible.
"""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import pydantic
from pydantic import BaseModel

from steinmetz import reading, registry
from steinmetz.data import formats
from steinmetz.data.noise import Config as Noise
from steinmetz.errors import InputError, about
from steinmetz.experiments import base as experiments
from steinmetz.infer import base as samplers
from steinmetz.materials import base as materials
from steinmetz.posterior.density import Config as Prior
from steinmetz.potentials import base as potentials
from steinmetz.sparsify import base as penalties
from steinmetz.studies.study import Assess, Data, Raw, Study, without_none

# The penalty of a study that names none.
PENALTY = "l0"
Model = TypeVar("Model", bound=BaseModel)
# Sections that name a method, by the key that does so.
_NAMED = {"material": "name", "potential": "name", "sparsify": "method", "infer": "method"}
# Folders of methods that are not called as their section is.
_FOLDERS = {"material": "materials", "potential": "potentials"}


def names() -> list[str]:
    """The studies there are."""
    return registry.names("studies")


def title(name: str) -> str:
    """One line about a study."""
    return str(reading.toml(registry.path_of("studies", name), name).get("title", ""))


def load(study: str, changes: Mapping[str, Any] | None = None) -> Study:
    """A study by name, or a TOML file by path, with `changes` such as {'infer.particles': 100}."""
    path = Path(study)
    if study in names():
        path = registry.path_of("studies", study)
    elif path.suffix != ".toml":
        raise InputError(
            registry.unknown("study", study, names()) + ", or the path of a .toml file"
        )
    raw = reading.toml(path, study)
    _locate_tables(raw.get("data"), path.parent)
    try:
        return build(raw, changes, source=study)
    except InputError as error:
        if study in str(error) or study in names():
            raise
        raise InputError(f"{study}: {error}") from None


def of_run(folder: Path, changes: Mapping[str, object] | None = None) -> Study:
    """The study of a finished run, whose tables lie in its folder and nowhere else."""
    reading.check_folder(folder)
    path, root = folder / "study.toml", reading.leads_to(folder)
    study = load(str(path), changes)
    for table in (source.table for source in study.sources if source.table is not None):
        if not reading.leads_to(formats.file_of(table)).is_relative_to(root):
            raise InputError(f"{path}: the table {table} is not in the run directory; put it there")
    return study


def _locate_tables(data: object, folder: Path) -> None:
    """Tables that a file names are looked for beside that file."""
    if not isinstance(data, dict):
        return
    blocks = data.get("blocks", ())
    for part in (data, *(blocks if isinstance(blocks, list) else ())):
        if isinstance(part, dict) and isinstance(part.get("table"), str):
            part["table"] = str((folder / part["table"]).absolute())


def build(raw: Raw, changes: Mapping[str, Any] | None = None, source: str = "study") -> Study:
    """Check every field; the first wrong one is named with what it may be."""
    raw = {key: dict(value) if isinstance(value, dict) else value for key, value in raw.items()}
    before = copy.deepcopy({name: raw.get(name) for name in ("material", "data", "noise")})
    _apply(raw, changes or {})
    other = any(raw.get(name, {}) != (value or {}) for name, value in before.items())
    if other and "law" in str(raw.get("data")) and "title" not in (changes or {}):
        raw.pop("title", None)  # it speaks of other data
    read = _Reader(raw, source)
    material = read.chosen("material", materials.Settings, "isotropic")
    usual = materials.build(material)
    potential = read.chosen("potential", potentials.Settings, usual.potential)
    advice = registry.load("potentials", potential.name).TRAINING
    sections = {
        "material": material,
        "data": read.section("data", Data, read.data(usual.experiment)),
        "noise": read.section("noise", Noise),
        "potential": potential,
        "sparsify": read.chosen("sparsify", penalties.Settings, PENALTY, advice),
        "prior": read.section("prior", Prior),
        "infer": read.chosen("infer", samplers.Settings, "auto"),
        "assess": read.section("assess", Assess),
    }
    study = read.validated(Study, {**raw, **sections}, "")
    return study if study.title else study.model_copy(update={"title": _described(study)})


def changed(study: Study, section: str, settings: Raw) -> Study:
    """The study with other settings in one section; what they do not say is advised or usual."""
    raw = without_none(study.model_dump(mode="json", exclude={section}))
    return build({**raw, section: without_none(settings)})


def _described(study: Study) -> str:
    """A title for a study that has none, or whose own is no longer true."""
    sources = study.sources
    what = study.data.law or ", ".join(Path(str(source.table)).name for source in sources)
    kinds = ", ".join(dict.fromkeys(source.experiment.name.replace("_", " ") for source in sources))
    count = "" if study.data.law is None else f", {sum(source.count for source in sources)} states"
    levels = dict.fromkeys(
        size if isinstance(size := source.noise.relative, str) else f"{100 * size:g} %"
        for source in sources
    )
    return f"{what} ({kinds}){count}, {', '.join(levels)} relative noise"


def _apply(raw: Raw, changes: Mapping[str, Any]) -> None:
    """Set `section.key` pairs; naming another method leaves behind the settings of the first."""
    for section, key in _NAMED.items():
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
        self, name: str, kind: type[Model], usual: str, advice: Mapping[str, Raw] | None = None
    ) -> Model:
        """A section with the settings of the method it names, over a preset or what is advised."""
        given = self.raw.get(name, {})
        method = str(given.get(_NAMED[name], usual)) if isinstance(given, dict) else usual
        with about(f"{name}.{_NAMED[name]}"):
            module = registry.load(_FOLDERS.get(name, name), method)
        if isinstance(given, dict):
            under = (advice or {}).get(method, {})
            if "preset" in given:
                under = self._preset(name, str(given["preset"]), getattr(module, "PRESETS", {}))
            given = {**under, **{k: v for k, v in given.items() if k != "preset"}}
        config: type[Model] = module.Config
        if not issubclass(config, kind):
            raise InputError(f"{module.__file__}: Config must extend {kind.__module__}.Settings")
        if isinstance(given, dict):
            self._not_of_others(name, method, config, given)
        return self.section(name, config, given)

    def _not_of_others(self, name: str, method: str, config: type[Model], given: Raw) -> None:
        """Refuse a setting that only other methods have, with their names."""
        folder = _FOLDERS.get(name, name)
        for key in (key for key in given if key not in config.model_fields):
            every = ((one, registry.load(folder, one).Config) for one in registry.names(folder))
            able = [repr(one) for one, other in every if key in other.model_fields]
            if able:
                raise InputError(
                    f"{self.source}: there is no setting '{name}.{key}' with '{method}'; "
                    f"it belongs to {name}.{_NAMED[name]} = {' or '.join(able)}"
                )

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
        with about(f"{place}.experiment"):
            kind = experiments.load(table["name"]).Config
        return self.validated(kind, table, f"{place}.experiment.")

    def validated(self, kind: type[Model], given: Raw, prefix: str) -> Model:
        """A record of checked values, or one sentence about the first wrong one."""
        try:
            return kind.model_validate(given)
        except pydantic.ValidationError as error:
            every = error.errors()
            first, named = every[0], _setting(every[0]["loc"])
            place = prefix + named
            # A setting that may be a number or a word is wrong as either.
            parts = [each["msg"] for each in every if _setting(each["loc"]) == named]
            message = ", or ".join(part[0].lower() + part[1:] for part in parts)
            if first["type"] == "extra_forbidden":
                message = registry.unknown(
                    "setting", place, [prefix + n for n in kind.model_fields]
                )
            elif first["type"] == "value_error":
                message = message.removeprefix("value error, ")
            else:
                message = f"{place} = {first['input']!r} is not possible: {message}"
            raise InputError(f"{self.source}: {message}") from None


def _setting(place: tuple[int | str, ...]) -> str:
    """The name of a setting; pydantic adds the kind of value that was tried."""
    tried = ("constrained-", "literal[")
    return ".".join(str(part) for part in place if not str(part).startswith(tried))
