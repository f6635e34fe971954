"""The page of settings: every section of a study, and every kind of method."""

import inspect
from importlib import import_module

from pydantic import BaseModel

from pages.methods import kind_page, methods
from pages.tables import Row, described, rows, table
from steinmetz import registry
from steinmetz.materials import base as materials
from steinmetz.potentials import terms
from steinmetz.studies import config
from steinmetz.studies.study import Study

# Kinds of method, in the order of the page: whatever the registry knows but the studies themselves.
KINDS = tuple(name for name, kind in registry.KINDS.items() if kind.suffix == ".py")

HEAD = """# Settings

Sections and keys of a study file, and of `--set section.key=value`. A value is read as TOML where
it can be, else as text: `--set infer.particles=100`, `--set "sparsify.penalty=[5, 50]"`,
`--set data.law=neo_hooke`. `--set` wins over the file and over other flags. An unknown key or a
value outside its limits ends with exit code 2 and one sentence. Naming another method leaves behind
what the study set for the first one, and what is set beside a preset wins over it. `study.toml` in
the folder of a run has every setting that was used.

An experiment may be given by its name alone, `data.experiment = "uniaxial"`, or as a table with
its name and settings. Several blocks of data, each with an experiment of its own, stand in a file
as `[[data.blocks]]`. Files of your own ([add](add.md)) are chosen in the same way.
"""


def sections() -> dict[str, type[BaseModel]]:
    """The sections of a study, in its order, with the class that each has in a built-in study."""
    study = config.load(config.names()[0])
    parts = {name: getattr(study, name) for name in type(study).model_fields}
    return {name: type(part) for name, part in parts.items() if isinstance(part, BaseModel)}


def top_level() -> list[Row]:
    """What stands in a study outside its sections."""
    return rows(Study, without=sections())


def place_of(kind: str) -> str:
    """Where a study sets a method of a kind: `potential`, `data.experiment`; empty if nowhere."""
    for name, model in sections().items():
        if kind in (name, f"{name}s"):
            return name
        for field in model.model_fields:
            if kind == f"{field}s":
                return f"{name}.{field}"
    return ""


def described_elsewhere() -> dict[str, str]:
    """Docstrings of classes that a part of the page is about: other sections, kinds of method."""
    texts = {inspect.getdoc(model) or "": name for name, model in sections().items()}
    for kind in KINDS:
        settings = getattr(import_module(f"steinmetz.{kind}.base"), "Settings", None)
        if settings is not None:
            texts[inspect.getdoc(settings) or ""] = place_of(kind)
    return texts


def usual_potentials() -> str:
    """Which potential a study has that names none, and which settings go with terms."""
    built = {name: materials.load(name) for name in registry.names("materials")}
    usual = [
        f"`{file.build(file.Config(name=name)).potential}` with the material `{name}`"
        for name, file in built.items()
    ]
    matters = ", ".join(f"`sparsify.{name}`" for name in terms.MATTERS)
    return (
        f"The potential is {', '.join(usual)}, unless `potential.name` says otherwise. "
        f"With `terms` nothing is trained: only {matters} of its section matters, a run refuses "
        f"the others. The network for the same materials is `{terms.NETWORK}`.\n"
    )


def page() -> str:
    """Every setting of a study, section by section, then kinds chosen by name alone."""
    parts = [HEAD, usual_potentials(), table(top_level())]
    places = {place_of(kind) or kind: kind for kind in KINDS}
    inside, elsewhere = sections(), described_elsewhere()
    for name, model in inside.items():
        if name in places:
            text = kind_page(places[name], name)
        else:
            text = described(model, f"{name}.", elsewhere)
        parts.append(f"## {name}\n\n{text}")
        for place, kind in places.items():
            if place.startswith(f"{name}."):
                parts.append(f"## {place}\n\n{kind_page(kind, place)}")
    for name, kind in places.items():
        if name.partition(".")[0] not in inside:
            parts.append(f"## {name}\n\n{kind_page(kind, '')}")
    return "\n".join(parts)


def entries() -> list[tuple[str, Row]]:
    """Every setting by its whole name, such as `infer.steps`; once for each method that has it."""
    places = {place_of(kind) or kind: kind for kind in KINDS}
    named = [(row.name, row) for row in top_level()]
    for name, model in sections().items():
        if name not in places:
            named += [(f"{name}.{row.name}", row) for row in rows(model)]
    for place, kind in places.items():
        for method in methods(kind):
            settings = rows(method.model) if method.model else []
            named += [(f"{place}.{row.name}", row) for row in settings]
    return named


def undescribed() -> list[str]:
    """Settings of which nothing says what they mean, but for those that name the method."""
    keys = {
        f"{place_of(kind) or kind}.{method.chosen_by()}"
        for kind in KINDS
        for method in methods(kind)
    }
    return sorted({name for name, row in entries() if not row.meaning} - keys)
