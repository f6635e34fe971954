"""What a setting may be and what it is by default, in words, from its JSON schema."""

from collections.abc import Mapping, Sequence
from typing import Any

import tomli_w

# Numbers of five digits and more are grouped, so that limits can be read.
_GROUPED_FROM = 10_000

# A JSON schema, or a part of one; its values are what JSON can hold.
Schema = Mapping[str, Any]


def possible(schema: Schema, places: Mapping[str, str] = {}) -> str:
    """What a JSON schema allows, in words: `whole number, 1 to 64`, `"rbf" or "imq"`.

    `places` says where a table within it is described, by the name of its class.
    """
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f"a table, see {places.get(name, name)} below"
    if "const" in schema:
        return value(schema["const"])
    if "enum" in schema:
        return either([value(entry) for entry in schema["enum"]])
    if "anyOf" in schema:
        given = [entry for entry in schema["anyOf"] if entry.get("type") != "null"]
        choices = [possible(entry, places) for entry in given]
        return "; or ".join(choices) if any("," in word for word in choices) else either(choices)
    if schema.get("type") == "array":
        return _list(schema, places)
    if schema.get("type") == "object":
        entries = schema.get("additionalProperties")
        return (
            f"a table, each value {possible(entries)}" if isinstance(entries, dict) else "a table"
        )
    if schema.get("type") == "string":
        return f"text that matches `{schema['pattern']}`" if "pattern" in schema else "text"
    if schema.get("type") == "boolean":
        return "`true` or `false`"
    words = {"integer": "whole number", "number": "number"}
    return ", ".join(filter(None, [words.get(schema.get("type", ""), ""), limits(schema)]))


def _list(schema: Schema, places: Mapping[str, str]) -> str:
    """What a list may hold; a tuple of equal entries is a list of fixed length."""
    fixed = schema.get("prefixItems")
    if fixed:
        words = list(dict.fromkeys(possible(entry, places) for entry in fixed))
        each = f"each {words[0]}" if len(words) == 1 else "; ".join(words)
        return f"list of {len(fixed)}, {each}"
    count = limits({"minimum": schema.get("minItems"), "maximum": schema.get("maxItems")})
    several = f"list of {count}" if count else "list"
    return f"{several}, each {possible(schema.get('items', {}), places)}".removesuffix(", each ")


def limits(schema: Schema) -> str:
    """The bounds of a number: `0 to 10`, `above 0, at most 1`, `at least 1`."""
    least, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    most, below = schema.get("maximum"), schema.get("exclusiveMaximum")
    if least is not None and most is not None:
        return f"{number(least)} to {number(most)}"
    bounds = {"at least": least, "above": above, "at most": most, "below": below}
    return ", ".join(f"{word} {number(n)}" for word, n in bounds.items() if n is not None)


def number(value: float) -> str:
    """A number as people write it: no point where it is whole, thousands apart."""
    if value == int(value) and abs(value) < 1e15:
        whole = int(value)
        return f"{whole:,}".replace(",", " ") if abs(whole) >= _GROUPED_FROM else str(whole)
    return f"{value:g}"


def value(entry: object) -> str:
    """A value as it stands in a TOML file."""
    if entry is None:
        return "none"
    if isinstance(entry, dict) and not entry:
        return "`{}`"
    if isinstance(entry, dict):
        return "`{ " + ", ".join(f"{key} = {bare(part)}" for key, part in entry.items()) + " }`"
    return f"`{bare(entry)}`"


def bare(entry: object) -> str:
    """TOML text of one value on one line."""
    if isinstance(entry, list | tuple):
        return "[" + ", ".join(bare(part) for part in entry) + "]"
    return tomli_w.dumps({"x": entry}).removeprefix("x = ").strip()


def either(words: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
