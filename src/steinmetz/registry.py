"""Find a method by the name of its file.

One new material, potential or sampler is one new file in its folder: `names("physics.laws")` lists the files,
`load("physics.laws", "gent")` imports one. Names and summaries are read without importing anything heavy.
"""

import ast
import difflib
import importlib
import re
from pathlib import Path
from types import ModuleType

from steinmetz.errors import InputError

_HELPERS = {"__init__", "base"}


def _folder(kind: str) -> Path:
    return Path(__file__).parent.joinpath(*kind.split("."))


def _source(kind: str, name: str) -> ast.Module:
    return ast.parse((_folder(kind) / f"{name}.py").read_text(encoding="utf-8"))


def _is_method(kind: str, name: str) -> bool:
    """A method file defines a class or function called as its folder demands (see `_MARKS`)."""
    mark = _MARKS[kind]
    return any(
        isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == mark
        for node in _source(kind, name).body
    )


# What makes a file of a folder one of its methods.
_MARKS = {
    "physics": "build",
    "physics.laws": "energy",
    "potentials": "Config",
    "sparsify": "Config",
    "infer": "Config",
    "paper.plots": "draw",
}


# What people call them.
_WORDS = {
    "physics": "physics",
    "physics.laws": "law",
    "potentials": "potential",
    "sparsify": "way to sparsify",
    "infer": "sampler",
    "paper.plots": "kind of figure",
}


def names(kind: str) -> list[str]:
    """The methods of a kind, in alphabetical order."""
    found = (path.stem for path in _folder(kind).glob("*.py"))
    return sorted(name for name in found if name not in _HELPERS and _is_method(kind, name))


def summary(kind: str, name: str) -> str:
    """First line of the method's docstring, without references."""
    text = ast.get_docstring(_source(kind, name)) or ""
    return re.sub(r" \([^()]*method §[^()]*\)", "", text.split("\n", 1)[0])


def load(kind: str, name: str) -> ModuleType:
    """Import one method, or say which ones there are."""
    known = names(kind)
    if name not in known:
        raise InputError(unknown(_WORDS[kind], name, known))
    return importlib.import_module(f"steinmetz.{kind}.{name}")


def unknown(what: str, name: str, known: list[str]) -> str:
    """One sentence for a name that does not exist, with the nearest one that does."""
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" (did you mean '{near[0]}'?)" if near else ""
    return f"there is no {what} '{name}'{hint}; possible: {', '.join(known)}"
