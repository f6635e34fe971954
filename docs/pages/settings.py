"""The page of settings: every section of a study, and every kind of method."""

from pydantic import BaseModel

from pages.methods import kind_page, methods
from pages.tables import Row, described, rows, table
from steinmetz import registry
from steinmetz.studies import config

# Kinds of method, in the order of the page: whatever the registry knows.
KINDS = tuple(registry._MARKS)

HEAD = """# Settings

Sections and keys of a study file, and of `--set section.key=value`. A value is read as TOML where
it can be, else as text: `--set infer.particles=100`, `--set "potential.widths=[10, 10]"`,
`--set data.law=neo_hooke`. `--set` wins over the file and over other flags. An unknown key or a
value outside its limits ends with exit code 2 and one sentence. Naming another method leaves behind
what the study set for the first one, and what is set beside a preset wins over it. `study.toml` in
the folder of a run has every setting that was used.
"""


def sections() -> dict[str, type[BaseModel]]:
    """The sections of a study, in its order, with the class that each has in a built-in study."""
    study = config.load(config.names()[0])
    parts = {name: getattr(study, name) for name in type(study).model_fields}
    return {name: type(part) for name, part in parts.items() if isinstance(part, BaseModel)}


def top_level() -> list[Row]:
    """What stands in a study outside its sections."""
    return rows(config.Study, without=sections())


def section_of(kind: str) -> str:
    """The section of a study that a kind of method fills: `potential` for `potentials`."""
    return next((name for name in sections() if kind in (name, f"{name}s")), "")


def page() -> str:
    """Every setting of a study, section by section, then kinds chosen by name alone."""
    parts = [HEAD, table(top_level())]
    kinds = {section_of(kind) or kind: kind for kind in KINDS}
    inside = sections()
    for name, model in inside.items():
        text = kind_page(kinds[name], name) if name in kinds else described(model, f"{name}.")
        parts.append(f"## {name}\n\n{text}")
    for name, kind in kinds.items():
        if name not in inside:
            parts.append(f"## {name}\n\n{kind_page(kind, '')}")
    return "\n".join(parts)


def entries() -> list[tuple[str, Row]]:
    """Every setting by its whole name, such as `infer.steps`; once for each method that has it."""
    kinds = {section_of(kind) or kind: kind for kind in KINDS}
    named = [(row.name, row) for row in top_level()]
    for name, model in sections().items():
        if name not in kinds:
            named += [(f"{name}.{row.name}", row) for row in rows(model)]
    for name, kind in kinds.items():
        for method in methods(kind):
            settings = rows(method.model) if method.model else []
            named += [(f"{name}.{row.name}", row) for row in settings]
    return named


def undescribed() -> list[str]:
    """Settings of which nothing says what they mean, but for those that name the method."""
    keys = {
        f"{section_of(kind) or kind}.{method.chosen_by()}"
        for kind in KINDS
        for method in methods(kind)
    }
    return sorted({name for name, row in entries() if not row.meaning} - keys)
