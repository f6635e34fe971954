"""What pages say about files: every path exists, and every function that is named with its file."""

import ast
import re
from pathlib import Path

import pytest
from pages.settings import entries

from .blocks import PAGES, ROOT

PATH = re.compile(r"`((?:src|tests|docs|examples|benchmarks)/[\w./*-]+)`")
# A file of the package, as pages about it name it: `engine/run.py`.
MODULE = re.compile(r"`([a-z]+/(?:[a-z_]+/)*[a-z_]+\.(?:py|toml|html))`")
# A function, class, method or constant with its file below src/steinmetz: `engine/run.py:finish`.
FUNCTION = re.compile(r"`([\w/]+\.py):([\w.]+)`")
PACKAGE = ROOT / "src" / "steinmetz"


@pytest.mark.parametrize("page", PAGES)
def test_files_that_a_page_names_exist(page: str) -> None:
    named = PATH.findall((ROOT / page).read_text(encoding="utf-8"))
    assert [path for path in named if not any(ROOT.glob(path))] == []


@pytest.mark.parametrize(
    "page", ["docs/stages.md", "docs/walk.md", "docs/notation.md", "docs/add.md"]
)
def test_modules_that_a_page_names_exist(page: str) -> None:
    named = MODULE.findall((ROOT / page).read_text(encoding="utf-8"))
    folders = (PACKAGE, ROOT)
    assert [
        path for path in named if not any((folder / path).is_file() for folder in folders)
    ] == []


def defined(path: Path) -> set[str]:
    """Names of a module: functions, classes, constants, and `Class.method` with `method`."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            inside = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            inside |= {
                part.target.id
                for part in node.body
                if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
            }
            names |= inside | {f"{node.name}.{name}" for name in inside}
        if isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def missing(text: str) -> list[str]:
    """Functions that a text names with their file and that do not exist."""
    named = [(PACKAGE / path, name) for path, name in FUNCTION.findall(text)]
    return [
        f"{path.name}:{name}"
        for path, name in named
        if not path.is_file() or name not in defined(path)
    ]


@pytest.mark.parametrize("page", PAGES)
def test_functions_that_a_page_names_exist(page: str) -> None:
    assert missing((ROOT / page).read_text(encoding="utf-8")) == []


def faults(table: str) -> list[str]:
    """Files, functions and tests that an equation table names and that do not exist."""
    wrong = []
    for row in re.findall(r"^\| (?!§|--).*\|$", table, re.MULTILINE):
        _, _, functions, tests = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        files: list[Path] = []
        for span in re.findall(r"`([^`]+)`", functions):
            path, _, name = span.rpartition(": ") if ".py" in span else ("", "", span)
            path, name = (name, "") if name.endswith(".py") else (path, name)
            files = list(PACKAGE.glob(path)) if path else files
            if not files or (name and not any(name in defined(file) for file in files)):
                wrong.append(span)
        spans = re.findall(r"`([^`]+)`", tests)
        wrong += [span for span in spans if not (ROOT / "tests" / span).is_file()]
    return wrong


def test_equation_table() -> None:
    assert faults((ROOT / "docs" / "equations.md").read_text(encoding="utf-8")) == []


def test_a_function_that_is_gone_is_noticed() -> None:
    row = "| 1 | x = y | `registry.py: names`, `{}`; `errors.py` | `{}` |\n"
    assert faults(row.format("unknown", "conftest.py")) == []
    assert faults(row.format("nowhere", "test_nowhere.py")) == ["nowhere", "test_nowhere.py"]
    assert missing("`registry.py:names` and `registry.py:Kind.folder`") == []
    assert missing("`registry.py:nowhere`, `nowhere.py:f`") == [
        "registry.py:nowhere",
        "nowhere.py:f",
    ]


@pytest.fixture(scope="module")
def known() -> dict[str, bool]:
    """Every setting there is, and whether it is a table whose keys are free."""
    return {name: "a table, each" in row.possible for name, row in entries()}


@pytest.mark.parametrize("page", [page for page in PAGES if page != "CHANGELOG.md"])
def test_settings_that_a_page_names_exist(page: str, known: dict[str, bool]) -> None:
    sections = {name.partition(".")[0] for name in known if "." in name}
    setting = re.compile(rf"`(?:--set [\"']?)?((?:{'|'.join(sections)})(?:\.[a-z_]+)+)(?![\w.(])")
    named = set(setting.findall((ROOT / page).read_text(encoding="utf-8")))
    unknown = {
        name
        for name in named - known.keys()
        if not known.get(name.rpartition(".")[0]) and not name.endswith((".py", ".preset"))
    }
    assert unknown == set()
