"""Methods of one kind, as the registry finds them: what they share, and what each adds."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from pydantic import BaseModel

from pages.tables import Row, rows, table
from pages.words import bare, value
from steinmetz import registry


class Method(NamedTuple):
    """A method as the registry finds it: name, one sentence, configuration class if it has one."""

    name: str
    summary: str
    model: type[BaseModel] | None
    presets: Mapping[str, Mapping[str, Any]]
    advice: Mapping[str, Mapping[str, Any]]
    parameters: Mapping[str, float]

    def settings(self) -> list[Row]:
        """What can be chosen: not the field that names the method, nor one with a single value."""
        entries = rows(self.model) if self.model else []
        only = value(self.name)
        return [row for row in entries if row.default not in (only, row.possible)]

    def chosen_by(self) -> str:
        """The field that names the method, if its settings have one."""
        entries = rows(self.model) if self.model else []
        return next((row.name for row in entries if row.default == value(self.name)), "")


def methods(kind: str) -> list[Method]:
    """All methods of a kind."""
    group = []
    for name in registry.names(kind):
        module = registry.load(kind, name)
        entries = [getattr(module, word, {}) for word in ("PRESETS", "TRAINING", "PARAMETERS")]
        model = getattr(module, "Config", None)
        group.append(Method(name, registry.summary(kind, name), model, *entries))
    return group


def shared(group: Sequence[Method]) -> list[Row]:
    """Settings that every method of a group has with one meaning; defaults may differ."""
    tables = {method.name: {row.name: row for row in method.settings()} for method in group}
    if len(tables) < 2:
        return []
    entries = []
    for name, row in next(iter(tables.values())).items():
        same = {method: rows[name] for method, rows in tables.items() if name in rows}
        texts = {(other.meaning, other.possible) for other in same.values()}
        if len(same) == len(tables) and len(texts) == 1:
            defaults = {method: other.default for method, other in same.items()}
            entries.append(row._replace(default=_defaults(defaults)))
    return entries


def _defaults(by_name: Mapping[str, str]) -> str:
    """One default, or each with the methods that have it."""
    if len(set(by_name.values())) == 1:
        return next(iter(by_name.values()))
    order = list(dict.fromkeys(by_name.values()))
    pairs = sorted(by_name.items(), key=lambda pair: order.index(pair[1]))
    return "; ".join(
        f"{default} ({', '.join(f'`{name}`' for name, _ in same)})"
        for default, same in groupby(pairs, key=lambda pair: pair[1])
    )


def kind_page(kind: str, section: str) -> str:
    """A kind of method: what all of its methods share, then one by one what is theirs."""
    group = methods(kind)
    if not any(method.model for method in group):
        return _plain(group)
    prefix = f"{section}." if section else ""
    common = shared(group)
    parts = [f"All of them have:\n\n{table(common, prefix)}"] if common else []
    return "\n".join([*parts, *(_method(method, common, prefix) for method in group)])


def _plain(group: Sequence[Method]) -> str:
    """Methods without settings: a table of names, with the numbers they can be given, if any."""
    numbers = [value(dict(method.parameters)) if method.parameters else "" for method in group]
    ends = [f" {text} |" for text in numbers] if any(numbers) else [""] * len(group)
    lines = ["| name | what it is | parameters |", "|---|---|---|"]
    lines = lines if any(numbers) else ["| name | what it is |", "|---|---|"]
    for method, end in zip(group, ends, strict=True):
        lines.append(f"| `{method.name}` | {method.summary} |{end}")
    return "\n".join(lines) + "\n"


def _method(method: Method, common: Sequence[Row], prefix: str) -> str:
    """One method: its sentence, the settings that only it has, presets and advice."""
    key = method.chosen_by()
    choice = f"`{prefix}{key} = {bare(method.name)}`. " if key else ""
    parts = [f"### {method.name}\n\n{choice}{method.summary}\n"]
    known = {row.name for row in common}
    rest = [row for row in method.settings() if row.name not in known]
    if rest:
        parts.append(table(rest, prefix))
    for name, settings in method.presets.items():
        parts.append(f'`{prefix}preset = "{name}"` stands for {value(dict(settings))}.\n')
    for other, settings in method.advice.items():
        parts.append(f"With `{other}` other defaults suit it: {value(dict(settings))}.\n")
    return "\n".join(parts)
