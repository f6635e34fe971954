"""A study: typed, frozen, with defaults that run. TOML files and `--set` are exactly these fields."""

import tomllib
from pathlib import Path
from typing import Any

import pydantic
import tomli_w
from pydantic import BaseModel, ConfigDict, Field

from steinmetz import registry
from steinmetz.errors import InputError

_FOLDER = Path(__file__).parent


class Data(BaseModel):
    """Where stress comes from: a generating law, or a table of measured rows."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    law: str | None = Field(None, description="generating law (see `steinmetz list`)")
    parameters: dict[str, float] = Field(
        default_factory=dict, description="parameters of the generating law"
    )
    count: int = Field(80, ge=1, le=1_000_000, description="stress tensors to generate")
    spread: float = Field(0.2, gt=0, lt=1, description="ε of F = I + U[−ε, ε]")
    table: str | None = Field(None, description="CSV file of measured rows, instead of a law")
    held_out: float = Field(
        0.2,
        ge=0,
        lt=1,
        description="share of the measured rows kept for the test (from 20 rows on)",
    )

    @pydantic.model_validator(mode="after")
    def _one_source(self) -> "Data":
        if (self.law is None) == (self.table is None):
            raise ValueError(
                "name either a generating law (data.law) or a table of measured rows (data.table)"
            )
        return self


class Assess(BaseModel):
    """How much is computed to judge the law."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    path_points: int = Field(1000, ge=2, le=100_000, description="points along the validation path")
    test_count: int = Field(
        2000, ge=2, le=1_000_000, description="fresh states for the test score (synthetic data)"
    )
    noise_draws: int = Field(
        500, ge=2, le=100_000, description="noise draws per path point for Wasserstein-1"
    )
    certificate_states: int = Field(
        100_000, ge=1, le=10_000_000, description="random states of the cross-check"
    )


def _sections() -> dict[str, Any]:
    """Configuration classes that live beside their methods; imported only when a study is read."""
    from steinmetz.data import noise
    from steinmetz.posterior import density

    return {"data": Data, "noise": noise.Config, "prior": density.Config, "assess": Assess}


class Study(BaseModel):
    """Everything a run needs. Sections of exchangeable methods hold the configuration of the named method."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    name: str = Field("study", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    title: str = ""
    physics: str = "hyperelasticity"
    seed: int = Field(0, ge=0, lt=2**32)
    data: Data
    noise: Any
    potential: Any
    sparsify: Any
    prior: Any
    infer: Any
    assess: Assess


# Sections whose class is chosen by a key: section → (key, default method, registry folder).
_CHOSEN = {
    "potential": ("name", "", "potentials"),  # the physics says which network suits it
    "sparsify": ("method", "l0", "sparsify"),
    "infer": ("method", "auto", "infer"),
}


def names() -> list[str]:
    """Built-in studies."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def title(name: str) -> str:
    """One line about a built-in study."""
    return str(
        tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8")).get("title", "")
    )


def load(study: str, changes: dict[str, Any] | None = None) -> Study:
    """A built-in study by name, or a TOML file by path, with `changes` such as {'infer.particles': 100}."""
    path = Path(study)
    if study in names():
        path = _FOLDER / f"{study}.toml"
    elif path.suffix != ".toml":
        raise InputError(
            registry.unknown("study", study, names()) + ", or the path of a .toml file"
        )
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{study} is not valid TOML: {error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{study} is not a text file in UTF-8") from None
    except OSError as error:
        raise InputError(
            f"cannot read {study}: {(error.strerror or 'unreadable').lower()}"
        ) from None
    return build(raw, changes, source=study)


def measured(
    table: str | Path,
    relative: float = 0.05,
    absolute: float = 0.0,
    changes: dict[str, Any] | None = None,
) -> Study:
    """The study that fits a CSV file of measured rows; `relative` and `absolute` are the noise of the stress."""
    path = Path(table)
    plain = "".join(
        letter if (letter.isalnum() and letter.isascii()) or letter in "._-" else "_"
        for letter in path.stem
    )
    raw = {
        "name": plain.lstrip("._-")[:64] or "fit",
        "title": f"Measured data of {path.name}",
        "data": {"table": str(path.absolute())},
        "noise": {"relative": relative, "absolute": absolute},
    }
    return build(raw, changes, source=str(table))


def build(
    raw: dict[str, Any], changes: dict[str, Any] | None = None, source: str = "study"
) -> Study:
    """Check every field; the first wrong one is named with what it may be."""
    raw = {key: dict(value) if isinstance(value, dict) else value for key, value in raw.items()}
    for section, (key, default, _) in _CHOSEN.items():
        changed, given = (changes or {}).get(f"{section}.{key}"), raw.get(section)
        if (
            changed is not None
            and isinstance(given, dict)
            and given.get(key, default or changed) != changed
        ):
            raw[section] = {}  # settings of one method are not those of another
    for key, value in (changes or {}).items():
        _set(raw, key, value)
    sections = _sections()
    physics = registry.load("physics", str(raw.get("physics", "hyperelasticity")))
    modules: dict[str, Any] = {}
    for section, (key, default, folder) in _CHOSEN.items():
        chosen = raw.get(section, {})
        default = default or physics.POTENTIAL
        method = chosen.get(key, default) if isinstance(chosen, dict) else default
        module = registry.load(folder, str(method))
        sections[section] = module.Config
        if isinstance(chosen, dict):
            advice = (
                modules["potential"].TRAINING.get(str(method), {}) if section == "sparsify" else {}
            )
            raw[section] = _with_preset(module, section, advice, chosen, source)
        modules[section] = module
    built = {}
    for section, kind in sections.items():
        given = raw.get(section, {})
        if not isinstance(given, dict):
            raise InputError(f"{source}: '{section}' must be a table of settings, got {given!r}")
        built[section] = _validate(kind, given, source, f"{section}.")
    return _validate(Study, {**raw, **built}, source, "")


def _with_preset(
    module: Any, section: str, advice: dict[str, Any], given: dict[str, Any], source: str
) -> dict[str, Any]:
    """The settings of a preset, else what the network advises, under those that are given beside it."""
    chosen = {key: value for key, value in given.items() if key != "preset"}
    if "preset" not in given:
        return {**advice, **chosen}
    presets = getattr(module, "PRESETS", {})
    if str(given["preset"]) not in presets:
        raise InputError(
            f"{source}: {registry.unknown(f'{section}.preset', str(given['preset']), sorted(presets))}"
        )
    return {**presets[str(given["preset"])], **chosen}


def _set(raw: dict[str, Any], key: str, value: Any) -> None:
    *sections, last = key.split(".")
    place = raw
    for section in sections:
        place = place.setdefault(section, {})
        if not isinstance(place, dict):
            raise InputError(f"--set {key}: '{section}' is not a section")
    place[last] = value


def _validate(kind: type[BaseModel], given: dict[str, Any], source: str, prefix: str) -> Any:
    try:
        return kind.model_validate(given)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        place = prefix + ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            known = [prefix + name for name in kind.model_fields]
            raise InputError(f"{source}: {registry.unknown('setting', place, known)}") from None
        message = first["msg"][0].lower() + first["msg"][1:]
        if first["type"] == "value_error":
            raise InputError(f"{source}: {message.removeprefix('value error, ')}") from None
        raise InputError(
            f"{source}: {place} = {first['input']!r} is not possible: {message}"
        ) from None


def to_toml(study: Study) -> str:
    """The study as the TOML text that runs it again."""
    return tomli_w.dumps(_without_none(study.model_dump(mode="json")))


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(entry) for key, entry in value.items() if entry is not None}
    return value
