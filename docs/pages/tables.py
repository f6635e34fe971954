"""Tables of settings, one row per field of a configuration class."""

import inspect
from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from pages.words import Schema, possible, value


class Row(NamedTuple):
    """One setting: its name, its default as text, what it means, and what it may be."""

    name: str
    default: str
    meaning: str
    possible: str


def row(name: str, field: FieldInfo) -> Row:
    """One field. Its schema is taken alone: the class around it may hold what has none."""
    default = "required"
    if not field.is_required():
        default = value(to_jsonable_python(field.get_default(call_default_factory=True)))
    alone: Any = Annotated[field.annotation, field]
    schema = TypeAdapter(alone).json_schema()
    return Row(name, default, field.description or "", possible(schema))


def rows(model: type[BaseModel], without: Collection[str] = ()) -> list[Row]:
    """Every field of a configuration class, in its order."""
    fields = model.model_fields.items()
    return [row(name, field) for name, field in fields if name not in without]


def nested(model: type[BaseModel]) -> Iterator[tuple[str, Schema]]:
    """The classes that fields of `model` consist of, as JSON schemas by name."""
    yield from model.model_json_schema().get("$defs", {}).items()


def table(entries: Sequence[Row], prefix: str = "") -> str:
    """A Markdown table of settings; `prefix` is the section they stand in."""
    lines = ["| setting | default | meaning | possible |", "|---|---|---|---|"]
    for row in entries:
        cells = (f"`{prefix}{row.name}`", row.default, row.meaning, row.possible)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def described(model: type[BaseModel], prefix: str = "") -> str:
    """A configuration class: the text of its docstring, its fields, and the classes within."""
    parts = [inspect.getdoc(model) or "", table(rows(model), prefix)]
    for name, schema in nested(model):
        if "properties" not in schema:
            continue
        entries = [
            Row(key, value(part.get("default")), part.get("description", ""), possible(part))
            for key, part in schema["properties"].items()
        ]
        parts.append(f"{name}: {schema.get('description', '')}\n\n{table(entries)}")
    return "\n\n".join(part.strip() for part in parts if part) + "\n"
