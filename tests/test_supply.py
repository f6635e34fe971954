"""What the package needs: whose licence it is, what is listed, and that it installs cleanly."""

import re
import subprocess
import venv
from pathlib import Path

import newer
import pytest
import sbom

ROOT = Path(__file__).parent.parent

# Licences that ask the same of what is linked with them.
COPYLEFT = r"\b(A?GPL|LGPL|GNU|EUPL|CDDL|OSL|SSPL|CC-BY-SA)"


def test_nothing_that_the_core_needs_is_copyleft() -> None:
    packages = sbom.core()
    assert {"jax", "numpy", "pydantic", "jinja2", "markupsafe"} <= packages.keys()
    found = {name: sbom.licence(package) for name, package in packages.items()}
    assert {name: said for name, said in found.items() if re.search(COPYLEFT, said)} == {}
    assert {name for name, said in found.items() if said == "unknown"} == set()


def test_bill_of_materials_lists_every_dependency() -> None:
    document = sbom.bill()
    components, links = document["components"], document["dependencies"]
    assert isinstance(components, list)
    assert isinstance(links, list)
    known = {each["bom-ref"] for each in components}
    wanted = {ref for each in links for ref in each["dependsOn"]}
    assert wanted == known
    assert len(known) > 20


def test_lock_has_a_hash_for_every_pinned_version() -> None:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()[1:]
    form = r"([A-Za-z0-9._-]+)==(\S+) --hash=sha256:[0-9a-f]{64}"
    locked = {sbom.plain(m[1]): m[2] for m in (re.fullmatch(form, line) for line in lines) if m}
    assert len(locked) == len(lines)
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pinned = dict(line.split("==") for line in text.splitlines() if "==" in line)
    versions = {sbom.plain(name): version for name, version in pinned.items()}
    assert {n: v for n, v in locked.items() if versions.get(n, v) != v} == {}
    assert "://" not in "\n".join(lines)


@pytest.mark.long
def test_wheel_and_sdist_install_in_a_clean_place(tmp_path: Path) -> None:
    """Built from the tree; the sdist alone, then the wheel, runs with all its files."""
    venv.create(tmp_path / "clean", with_pip=True)
    python = str(tmp_path / "clean" / "bin" / "python")

    def call(*words: str, cwd: Path = tmp_path) -> str:
        done = subprocess.run([python, *words], cwd=cwd, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    pip = ("-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "constraints.txt"))
    call(*pip, "setuptools>=77")
    source = tmp_path / "source"
    subprocess.run(
        ["git", "clone", "--quiet", "--depth", "1", f"file://{ROOT}", str(source)], check=True
    )
    out, build = (
        str(tmp_path / "dist"),
        "from setuptools.build_meta import build_{0} as b; b({1!r})",
    )
    for kind in ("sdist", "wheel"):
        call("-c", build.format(kind, out), cwd=source)
    for ending in ("*.tar.gz", "*.whl"):
        (made,) = (tmp_path / "dist").glob(ending)
        call(*pip, "--force-reinstall" if ending == "*.whl" else "--upgrade", str(made))
        assert "steinmetz 0." in call("-m", "steinmetz", "--version")
        assert "hyper-comparison" in call("-m", "steinmetz", "list")
        call("-m", "steinmetz", "template", "uniaxial", "--out", f"{made.name}.csv")
        assert "uniaxial" in call("-m", "steinmetz", "check", f"{made.name}.csv")
    where = call("-c", "import steinmetz; print(steinmetz.__file__)")
    files = {path.suffix for path in Path(where.strip()).parent.rglob("*")}
    assert {".html", ".css", ".js", ".toml", ".typed"} <= files


def _answering(folder: Path, name: str, answer: str) -> str:
    """A command that answers whatever it is asked, or fails."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{answer}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_newest_python_that_works_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name may lead to nothing, an early release is not taken, and pyenv's are found."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    _answering(tmp_path / "bin", "python3.21", "exit 1")
    _answering(tmp_path / "bin", "python3.20", """echo '[3, 20, "beta"]'""")
    usual = _answering(tmp_path / "bin", "python3.18", """echo '[3, 18, "final"]'""")
    _answering(tmp_path / "bin", "python3.17", """echo '[3, 11, "final"]'""")
    kept = tmp_path / "pyenv" / "versions" / "3.19.2" / "bin"
    newest = _answering(kept, "python3.19", """echo '[3, 19, "final"]'""")
    assert newer.working(newer.candidates((3, 11)), (3, 11)) == [newest, usual]
    assert newer.working(newer.candidates((3, 18)), (3, 18)) == [newest]


def test_without_a_newer_python_nothing_is_tested_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["newer.py", str(tmp_path / "venv"), "tests"])
    newer.main()
    assert "can be had: not tested with one" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("sys.argv", ["newer.py", "--list"])
    with pytest.raises(SystemExit, match="1"):
        newer.main()
