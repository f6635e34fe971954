"""Exported sources compiled and called: gcc and gfortran, through ctypes."""

import ctypes
import functools
import importlib.util
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from steinmetz.exporters import base
from steinmetz.potentials.law import Law

DRIVERS = Path(__file__).parent / "exporters" / "drivers"
# Packages that bring a compiler.
PACKAGES = {"gcc": "gcc", "gfortran": "gfortran"}
# What Abaqus keeps in this file.
PARAMETERS = "      implicit real*8(a-h,o-z)\n      parameter (nprecd=2)\n"
_STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]


def need(compiler: str) -> None:
    """Skip where a compiler is not installed, naming its package."""
    if shutil.which(compiler) is None:
        pytest.skip(f"install the package '{PACKAGES[compiler]}' to compile what is exported")


@functools.lru_cache(maxsize=128)
def library(source: str, driver: str) -> ctypes.CDLL:
    """The shared library of a source with one of the drivers."""
    folder = Path(tempfile.mkdtemp(prefix="steinmetz-exported-"))
    own = DRIVERS / driver
    target = folder / "law.so"
    common = ["-O1", "-shared", "-fPIC", "-o", str(target)]
    if own.suffix == ".c":
        need("gcc")
        (folder / "law.h").write_text(source + "\n", encoding="ascii")
        command = ["gcc", *_STRICT, *common, f"-I{folder}", str(own), "-lm"]
    else:
        need("gfortran")
        (folder / "ABA_PARAM.INC").write_text(PARAMETERS, encoding="ascii")
        (folder / "law.f").write_text(source + "\n", encoding="ascii")
        command = ["gfortran", *common, f"-I{folder}", str(folder / "law.f"), str(own)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = ctypes.CDLL(str(target))
    shutil.rmtree(folder)
    return loaded


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    """Where the numbers of an array lie."""
    assert array.flags.c_contiguous
    assert array.dtype == np.float64
    return array.ctypes.data_as(ctypes.c_void_p)


def module(name: str, law: Law) -> ModuleType:
    """An exported module of Python, imported."""
    with tempfile.TemporaryDirectory(prefix="steinmetz-exported-") as folder:
        path = Path(folder) / "law.py"
        path.write_text(base.load(name).export(law) + "\n", encoding="utf-8")
        spec = importlib.util.spec_from_file_location(f"exported_{name}", path)
        assert spec is not None
        assert spec.loader is not None
        found = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
    return found
