"""Compile CalculiX with an exported material: packages of distributions cannot take one.

`python tools/calculix.py umat_user.f ccx` fetches the sources of CalculiX and the libraries that
it needs from Debian into `build/calculix`, compiles them once (about two minutes), and links `ccx`
with the routine in place of the empty one. Nothing is installed and nobody has to be root; gcc,
gfortran, make, tar, apt-get and dpkg must be there.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

SOURCE = "calculix-ccx"
LIBRARIES = ("libspooles-dev", "libarpack2-dev", "liblapack-dev", "libblas-dev")
PROGRAMS = ("gcc", "gfortran", "make", "tar", "apt-get", "dpkg")
DEFAULT = Path(__file__).parents[1] / "build" / "calculix"
_MIRROR = "http://deb.debian.org/debian"
# The static ones, each after what needs it.
_ARCHIVES = ("libspooles.a", "libarpack.a", "liblapack.a", "libblas.a")
_DEFINED = ("-DARCH=Linux", "-DSPOOLES", "-DARPACK", "-DMATRIXSTORAGE", "-DUSE_MT=1")


class Missing(Exception):
    """Something that cannot be had, with what was answered."""


class Kit(NamedTuple):
    """Everything compiled but for the material: the main file, and the rest as a library."""

    main: Path
    archive: Path
    root: Path

    def link(self, routine: Path, target: Path) -> None:
        """`ccx` with a routine, which goes before the one in the library."""
        found = (next(self.root.rglob(name)) for name in _ARCHIVES)
        rest: list[str | Path] = [self.archive, *found, "-lpthread", "-lm", "-fopenmp"]
        _call(
            ["gfortran", "-w", *_flags(self.root), self.main, routine, *rest, "-o", target],
            self.main.parent,
        )


def kit(folder: Path = DEFAULT) -> Kit:
    """The sources compiled in a folder, if they are not there already."""
    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    if absent:
        raise Missing(f"install {', '.join(absent)} to compile CalculiX")
    root = folder / "root"
    if not any(folder.glob("CalculiX/*/src/ccx_*.c")):
        _fetch(folder, root)
    main = next(folder.glob("CalculiX/*/src/ccx_*.c"))
    archive = main.with_suffix(".a")
    fortran = "FFLAGS=-w -O1 -fallow-argument-mismatch"
    flags = f"CFLAGS=-w -O1 {' '.join(_flags(root))}"
    _call(["make", "-j2", "CC=gcc", "FC=gfortran", flags, fortran, archive.name], main.parent)
    return Kit(main, archive, root)


def _flags(root: Path) -> list[str]:
    return [f"-I{root / 'usr' / 'include' / 'spooles'}", *_DEFINED]


def _fetch(folder: Path, root: Path) -> None:
    """Sources and libraries of the release that is installed, by lists of our own."""
    release = dict(
        line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if line
    )
    suite = release.get("VERSION_CODENAME", "stable").strip('"')
    lists, fetched = folder / "sources.list", folder / "fetched"
    for each in (root, fetched, folder / "state" / "lists" / "partial", folder / "cache"):
        each.mkdir(parents=True, exist_ok=True)
    kinds = ("deb", "deb-src")
    lists.write_text("".join(f"{kind} {_MIRROR} {suite} main\n" for kind in kinds))
    own = {
        "Dir::Etc::SourceList": lists,
        "Dir::Etc::SourceParts": "-",
        "Dir::State": folder / "state",
        "Dir::State::Status": "/var/lib/dpkg/status",
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": "",
    }
    apt = ["apt-get", "-q", *(f"-o{key}={value}" for key, value in own.items())]
    _call([*apt, "update"], fetched)
    _call([*apt, "source", "--download-only", SOURCE], fetched)
    _call([*apt, "download", *LIBRARIES], fetched)
    for package in fetched.glob("*.deb"):
        _call(["dpkg", "-x", package, root], fetched)
    _call(["tar", "-xf", next(fetched.glob("*.orig.tar.*"))], fetched)
    (fetched / "CalculiX").rename(folder / "CalculiX")


def _call(command: Sequence[str | Path], folder: Path) -> None:
    """Run a program; what it says is the error where it fails."""
    words = [str(word) for word in command]
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-3:]
        raise Missing(f"`{words[0]} … {words[-1]}` failed: {' '.join(said)}")


def main() -> None:
    """Link the routine that is named first into the program that is named second."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    routine, target = (Path(word).absolute() for word in sys.argv[1:])
    if not routine.is_file():
        sys.exit(f"{routine} is not there: write it with `steinmetz export DIR --to calculix`")
    try:
        kit().link(routine, target)
    except Missing as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
