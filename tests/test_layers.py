"""The tree: imports point one way, sizes stay human, nothing dangerous is called."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import steinmetz
from steinmetz import registry

ROOT = Path(steinmetz.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# From low to high: a layer may import itself and what stands before it.
LAYERS = (
    "errors", "registry", "records", "cache", "progress", "interrupts", "threads", "data", "physics", "potentials", "sparsify",
    "posterior", "infer", "predict", "assess", "export", "studies", "engine", "report", "paper", "commands", "cli", "__main__",
)  # fmt: skip
# A sampler sees a log density and nothing of mechanics.
BLIND = {"infer": {"errors", "records", "infer"}}


def layer(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Top-level parts of the package that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("steinmetz"):
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {
                alias.name.split(".")[1]
                for alias in node.names
                if alias.name.startswith("steinmetz.")
            }
    return found & set(LAYERS)


@pytest.mark.parametrize(
    "path", [p for p in FILES if p.name != "__init__.py" or p.parent != ROOT], ids=str
)
def test_imports_point_down(path):
    own = layer(path)
    allowed = BLIND.get(own, set(LAYERS[: LAYERS.index(own) + 1]))
    assert imported(path) <= allowed


@pytest.mark.parametrize("path", FILES, ids=str)
def test_nothing_dangerous_is_called(path):
    called = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called.add(
                node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            )
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name for alias in node.names} | {getattr(node, "module", "")}
            assert not names & {"pickle", "cloudpickle", "dill", "marshal", "shelve"}
    assert not called & {"eval", "exec", "sympify", "parse_expr", "compile", "system"}


@pytest.mark.parametrize("path", FILES, ids=str)
def test_modules_and_functions_stay_small(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 320
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            start = node.body[0].end_lineno if ast.get_docstring(node) else node.lineno
            assert node.end_lineno - start <= 65, f"{node.name} is too long"


def test_every_method_has_a_summary():
    for kind in ("physics", "physics.laws", "potentials", "sparsify", "infer"):
        assert registry.names(kind)
        for name in registry.names(kind):
            assert registry.summary(kind, name).endswith(".")


def test_import_alone_changes_no_setting_and_loads_nothing_heavy():
    code = "import sys, steinmetz; assert not {'jax', 'sympy', 'matplotlib', 'xarray'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_readme_example_is_short_and_runs(tmp_path, monkeypatch):
    """The Python example of the README, as it is printed there, on quick settings."""
    from engine.test_run import QUICK

    readme = Path(__file__).parent.parent / "README.md"
    code = readme.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    monkeypatch.chdir(tmp_path)
    quick = code.replace('study("hyperelasticity")', f'study("hyperelasticity", {QUICK!r})')
    assert quick != code
    done = subprocess.run([sys.executable, "-c", quick], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Ψ = " in done.stdout
    assert (tmp_path / "runs" / "gent" / "report.html").is_file()
