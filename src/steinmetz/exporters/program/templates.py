"""Texts of files in which a law is put: what is the same for all laws, by language."""

from collections.abc import Sequence
from importlib import resources


def filled(name: str, **parts: str | Sequence[str]) -> str:
    """A template with `@part@` replaced; a part of several lines keeps the indent of its place."""
    lines = []
    for line in resources.files("steinmetz.exporters.program").joinpath(name).read_text(
        encoding="utf-8"
    ).splitlines():  # fmt: skip
        lines += _line(line, parts)
    return "\n".join(lines).strip()


def _line(line: str, parts: "dict[str, str | Sequence[str]]") -> list[str]:
    for name, part in parts.items():
        mark = f"@{name}@"
        if mark in line and not isinstance(part, str):
            before = line[: line.index(mark)]
            return [(before + each).rstrip() for each in part]
        if mark in line:
            line = line.replace(mark, str(part))
    return [line]
