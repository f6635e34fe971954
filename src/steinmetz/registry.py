"""Find a plug-in by the name of its file.

One new material, experiment, law, potential, penalty, sampler, score, exporter or study is one new
file: `names("laws")` lists the files of a kind, `load("laws", "gent")` imports one. Files are
looked for in the package and in every folder that the environment variable STEINMETZ_PLUGINS names
(joined as in PATH), each with a sub-folder per kind. Names and summaries are read without importing
anything.
"""

import ast
import difflib
import importlib
import importlib.util
import os
import re
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypeVar

from steinmetz.errors import InputError

T = TypeVar("T")
# Where people keep plug-ins of their own.
VARIABLE = "STEINMETZ_PLUGINS"


class Kind(NamedTuple):
    """A kind of plug-in.

    Its folder, what people call one, what a file of it defines, its file type.
    """

    folder: str
    word: str
    plural: str
    mark: str
    suffix: str = ".py"


KINDS = {
    kind.folder: kind
    for kind in (
        Kind("studies", "study", "studies", "", ".toml"),
        Kind("materials", "material", "materials", "Config"),
        Kind("experiments", "experiment", "experiments", "Config"),
        Kind("laws", "law", "generating laws", "energy"),
        Kind("potentials", "potential", "potentials", "Config"),
        Kind("sparsify", "penalty", "penalties", "Config"),
        Kind("infer", "sampler", "samplers", "Config"),
        Kind("scores", "score", "scores", "score"),
        Kind("exporters", "exporter", "exporters", "export"),
    )
}


def folders(kind: str) -> list[Path]:
    """The folders in which files of a kind are looked for, the package's own first."""
    mine = [Path(part) / kind for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    return [Path(__file__).parent / kind, *mine]


def files(kind: str) -> dict[str, Path]:
    """Every plug-in of a kind by name; two files of one name are refused."""
    known: dict[str, Path] = {}
    for folder in folders(kind):
        for path in sorted(folder.glob(f"*{KINDS[kind].suffix}")):
            if _is_plugin(kind, path) and known.setdefault(path.stem, path) != path:
                word = KINDS[kind].word
                raise InputError(
                    f"{path}: there is a {word} '{path.stem}' already; rename the file"
                )
    return dict(sorted(known.items()))


def names(kind: str) -> list[str]:
    """The plug-ins of a kind, in alphabetical order."""
    return list(files(kind))


def _is_plugin(kind: str, path: Path) -> bool:
    """A plug-in defines a class or function with the name its kind demands.

    Other files are helpers.
    """
    mark = KINDS[kind].mark
    if not mark:
        return True
    body = _source(path).body
    return any(isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == mark for n in body)


def _source(path: Path) -> ast.Module:
    return _parsed(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=1024)
def _parsed(path: Path, changed: int) -> ast.Module:
    """A file is parsed once, and again when it has changed."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not a Python file: {error}") from None


def path_of(kind: str, name: str) -> Path:
    """The file of a plug-in, or a sentence that says which ones there are."""
    known = files(kind)
    if name not in known:
        raise InputError(unknown(KINDS[kind].word, name, list(known)))
    return known[name]


def summary(kind: str, name: str) -> str:
    """First line of the plug-in's docstring, without references to the method page."""
    text = ast.get_docstring(_source(path_of(kind, name))) or ""
    return re.sub(r" \([^()]*method §[^()]*\)", "", text.split("\n", 1)[0])


def load(kind: str, name: str) -> ModuleType:
    """Import one plug-in, or say which ones there are."""
    path = path_of(kind, name)
    if path.parent == folders(kind)[0]:
        return importlib.import_module(f"steinmetz.{kind}.{name}")
    full = f"steinmetz_plugins.{kind}.{name}"
    module = sys.modules.get(full)
    if module is None or module.__file__ != str(path):
        spec = importlib.util.spec_from_file_location(full, path)
        if spec is None or spec.loader is None:
            raise InputError(f"{path} cannot be imported")
        module = importlib.util.module_from_spec(spec)
        sys.modules[full] = module
        spec.loader.exec_module(module)
    return module


def load_as(kind: str, name: str, protocol: type[T]) -> T:
    """The same as what a file of this kind must be; one that lacks a part is refused."""
    module = load(kind, name)
    if isinstance(module, protocol):
        return module
    needed = sorted(
        n for n in (*protocol.__annotations__, *vars(protocol)) if not n.startswith("_")
    )
    lacking = ", ".join(n for n in needed if not hasattr(module, n))
    raise InputError(f"{module.__file__}: a {KINDS[kind].word} also needs {lacking}")


def unknown(what: str, name: str, known: list[str]) -> str:
    """One sentence for a name that does not exist, with the nearest one that does."""
    near = [other for other in known if other.lower() == name.lower()]
    near = near or difflib.get_close_matches(name, known, n=1)
    hint = f" (did you mean '{near[0]}'?)" if near else ""
    return f"there is no {what} '{name}'{hint}; possible: {', '.join(known)}"
