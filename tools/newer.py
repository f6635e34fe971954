"""Tests with a newer Python and the newest packages that install there, without pinned versions.

`python tools/newer.py FOLDER TEST...` looks for a Python newer than its own, among commands and
under pyenv, makes a virtual environment in FOLDER with the newest that works, installs the package
with lower bounds alone, and runs the tests there. Where none can be had, it says so and that is no
failure: the tests of `make test` have passed without it. `python tools/newer.py --list` names those
that work, and fails where there are none.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXTRAS = "[dev,tables]"
# What a virtual environment needs; a Python that was built without one of these is of no use.
_ASK = (
    "import json, sys, venv, ensurepip, ssl, zlib, ctypes; "
    "print(json.dumps([*sys.version_info[:2], sys.version_info.releaselevel]))"
)
_MADE = ".ready"


def candidates(oldest: tuple[int, int]) -> list[str]:
    """Commands that may be a Python above a version: newest first, those of pyenv after others."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = []
    for minor in range(oldest[1] + 20, oldest[1], -1):
        name = f"python{oldest[0]}.{minor}"
        on_path = [shutil.which(name)]
        kept = sorted(root.glob(f"versions/{oldest[0]}.{minor}.*/bin/{name}"), reverse=True)
        found += [each for each in (*on_path, *map(str, kept)) if each]
    return found


def version(python: str) -> tuple[int, int] | None:
    """Which released version answers, if any does: a name on the path may lead to nothing."""
    try:
        asked = [python, "-c", _ASK]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=True)
        major, minor, level = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return (major, minor) if level == "final" else None


def working(pythons: Iterable[str], oldest: tuple[int, int]) -> list[str]:
    """Those that start, are released and are above a version."""
    versions = {python: version(python) for python in pythons}
    return [python for python, found in versions.items() if found is not None and found > oldest]


def installed(python: str, folder: Path) -> bool:
    """Whether the package and its newest dependencies are in a new environment of this Python."""
    shutil.rmtree(folder, ignore_errors=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--editable"]
    for words in ([python, "-m", "venv", str(folder)], [*pip, f"{ROOT}{EXTRAS}"]):
        done = subprocess.run(words, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            why = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            print(f"{python} cannot be used ({why})", file=sys.stderr)
            return False
    (folder / _MADE).touch()
    return True


def newer() -> list[str]:
    """Every Python above this one that works, the newest first."""
    here = (sys.version_info.major, sys.version_info.minor)
    return working(candidates(here), here)


def ready(folder: Path) -> bool:
    """Whether an environment is there: as before, or newly made with the newest Python."""
    made = folder / _MADE
    if made.exists() and made.stat().st_mtime >= (ROOT / "pyproject.toml").stat().st_mtime:
        return True
    return any(installed(python, folder) for python in newer())


def main() -> None:
    """Run the tests, or say why there are none."""
    if sys.argv[1] == "--list":
        print("\n".join(found := newer()))
        raise SystemExit(0 if found else 1)
    folder, tests = Path(sys.argv[1]), sys.argv[2:]
    if not ready(folder):
        here = f"{sys.version_info.major}.{sys.version_info.minor}"
        print(f"no Python newer than {here} can be had: not tested with one", file=sys.stderr)
        return
    python = str(folder / "bin" / "python")
    about = "import platform, jax; print(platform.python_version(), 'with jax', jax.__version__)"
    subprocess.run([python, "-c", about], check=True)
    raise SystemExit(subprocess.run([python, "-m", "pytest", *tests]).returncode)


if __name__ == "__main__":
    main()
