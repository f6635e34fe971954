"""The methods that figures compare (`arms.toml`): their settings, and how they are drawn.

An arm is named sparsifier+sampler, such as L0+SVGD; a sparsifier alone is a fit.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from steinmetz import registry
from steinmetz.errors import InputError

_FOLDER = Path(__file__).parent
# Settings of a study as `--set` takes them: whatever TOML can say.
Settings = dict[str, Any]
Entry = TypeVar("Entry")


class Frozen(BaseModel):
    """What TOML says: no field more, and none changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Sized(Frozen):
    """Settings of a study, and those of one scale over them."""

    change: Settings = {}
    quick: Settings = {}
    full: Settings = {}

    def at(self, scale: str) -> Settings:
        """All settings at a scale."""
        return {**self.change, **(self.quick if scale == "quick" else self.full)}


class Method(Sized):
    """A sparsifier or sampler with its settings, and what it is, in words for the page."""

    about: str


class Look(Frozen):
    """Colour and line of an arm, the same in every figure."""

    colour: str
    line: str | tuple[float, tuple[float, ...]] = "-"


class Arms(Frozen):
    """Sparsifiers, samplers and the looks of their pairs, by the names the figures give them."""

    sparsifiers: dict[str, Method]
    samplers: dict[str, Method]
    looks: dict[str, Look]

    def methods(self, arm: str) -> list[Method]:
        """Settings of an arm: of its sparsifier and, if it has one, of its sampler."""
        sparsifier, _, sampler = arm.partition("+")
        methods = [entry("sparsifier", sparsifier, self.sparsifiers)]
        return methods + ([entry("sampler", sampler, self.samplers)] if sampler else [])

    def look(self, arm: str) -> Look:
        """How an arm is drawn."""
        return entry("look of an arm", arm, self.looks)


def entry(what: str, name: str, known: Mapping[str, Entry]) -> Entry:
    """An entry by its name, or one sentence with those that there are."""
    if name not in known:
        raise InputError(registry.unknown(what, name, list(known)))
    return known[name]


def read(name: str) -> Settings:
    """A TOML file of this folder."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def arms() -> Arms:
    """All of them."""
    return Arms.model_validate(read("arms"))
