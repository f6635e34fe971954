"""Tables of settings, one row per field of a configuration class."""

import inspect
from collections.abc import Collection, Iterable, Mapping, Sequence
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


def row(name: str, field: FieldInfo, elsewhere: Mapping[str, str] = {}) -> Row:
    """One field. Its schema is taken alone: the class around it may hold what has none.

    `elsewhere` are the parts of the page that describe a class, by its docstring: `noise`, say.
    """
    alone: Any = Annotated[field.annotation, field]
    schema = TypeAdapter(alone).json_schema()
    places = _places(schema, elsewhere)
    default = "" if places else "required"
    if not field.is_required():
        default = value(to_jsonable_python(field.get_default(call_default_factory=True)))
    return Row(name, default, field.description or "", possible(schema, places))


def _places(schema: Schema, elsewhere: Mapping[str, str]) -> dict[str, str]:
    """Where the classes within a schema are described, by name; those that it describes not."""
    known = {name: elsewhere.get(part.get("description", "")) for name, part in _classes(schema)}
    return {name: f"`{place}`" for name, place in known.items() if place}


def _classes(schema: Schema) -> Iterable[tuple[str, Schema]]:
    """The classes that a schema consists of, by name."""
    classes: dict[str, Schema] = schema.get("$defs", {})
    return classes.items()


def rows(
    model: type[BaseModel], without: Collection[str] = (), elsewhere: Mapping[str, str] = {}
) -> list[Row]:
    """Every field of a configuration class, in its order."""
    fields = model.model_fields.items()
    return [row(name, field, elsewhere) for name, field in fields if name not in without]


def table(entries: Sequence[Row], prefix: str = "") -> str:
    """A Markdown table of settings; `prefix` is the section they stand in."""
    lines = ["| setting | default | meaning | possible |", "|---|---|---|---|"]
    for row in entries:
        cells = (f"`{prefix}{row.name}`", row.default, row.meaning, row.possible)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def described(model: type[BaseModel], prefix: str = "", elsewhere: Mapping[str, str] = {}) -> str:
    """A configuration class: the text of its docstring, its fields, and the classes within."""
    parts = [inspect.getdoc(model) or "", table(rows(model, elsewhere=elsewhere), prefix)]
    whole = model.model_json_schema()
    places = _places(whole, elsewhere)
    for name, schema in _classes(whole):
        if "properties" not in schema or name in places:
            continue
        entries = [
            Row(
                key, value(part.get("default")), part.get("description", ""), possible(part, places)
            )
            for key, part in schema["properties"].items()
        ]
        parts.append(f"{name}: {schema.get('description', '')}\n\n{table(entries)}")
    return "\n\n".join(part.strip() for part in parts if part) + "\n"
