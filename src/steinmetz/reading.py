"""Files that others wrote, read with care; everything that is read from outside comes through here.

Only regular files are read (a pipe would block, a device never ends), never more bytes than a cap
(the size that a file system states need not be true), and nothing is executed. What cannot be read
is one sentence with the place.
"""

import json
import os
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from steinmetz.errors import InputError

# Bytes above which a file is hardly one of ours.
LARGEST = 200_000_000
# Bytes above which a file is hardly a study.
_LARGEST_STUDY = 2_000_000
_PIECE = 1 << 20
# Memory that another package may take for a file: so many times its bytes, and this beside them.
_TIMES, _BESIDE = 30, 700_000_000
_KINDS = (
    (stat.S_ISDIR, "is a directory"),
    (stat.S_ISFIFO, "is a pipe, not a file; save what it gives to a file first"),
    (stat.S_ISSOCK, "is a socket, not a file"),
    (stat.S_ISCHR, "is a device, not a file"),
    (stat.S_ISBLK, "is a device, not a file"),
)


def reason(error: OSError | ValueError) -> str:
    """Why a file cannot be read or written, in the words of the system."""
    return (getattr(error, "strerror", None) or "unreadable").lower()


def trouble(error: BaseException) -> str:
    """What another package says of a file it cannot read, on one line."""
    if isinstance(error, MemoryError):
        return "it would take too much memory"
    said = str(error).strip().splitlines() or [type(error).__name__]
    return said[0][:120]


def content(path: Path, largest: int = LARGEST) -> bytes:
    """The bytes of a regular file, or one sentence about why they cannot be had."""
    pieces: list[bytes] = []
    try:  # a pipe is opened without waiting for its other end
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            _check_kind(path, os.fstat(stream.fileno()).st_mode)
            while largest >= 0 and (piece := stream.read(min(_PIECE, largest + 1))):
                pieces.append(piece)
                largest -= len(piece)
    except InputError:
        raise
    except IsADirectoryError:
        raise InputError(f"cannot read {path}: is a directory") from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {reason(error)}") from None
    if largest < 0:
        most = (sum(map(len, pieces)) + largest) // 1_000_000
        raise InputError(f"{path}: larger than {most} MB; split the file")
    return b"".join(pieces)


def _check_kind(path: Path, mode: int) -> None:
    for is_one, words in _KINDS:
        if is_one(mode):
            raise InputError(f"cannot read {path}: {words}")


def parsed(path: Path) -> Any:
    """What a JSON file holds."""
    try:
        return json.loads(content(path).decode())
    except InputError:
        raise
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{path} is not a JSON file ({place}: {error.msg})") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not a JSON file") from None


def toml(path: Path, name: str) -> dict[str, object]:
    """The tables of a TOML file, which is called by the name it was asked for."""
    try:
        return tomllib.loads(content(path, _LARGEST_STUDY).decode())
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name} is not valid TOML: {error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{name} is not a text file in UTF-8") from None
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not valid TOML: {error}") from None


@contextmanager
def little_memory(size: int) -> Iterator[None]:
    """Another package reads a file of this size: numbers in it may not make it take any memory.

    What is too much is a MemoryError here, where the system knows such limits, and not the end of
    the process: one node with the number 10⁹ makes some readers of meshes ask for 16 GB.
    """
    try:
        import resource

        limit, most = resource.getrlimit(resource.RLIMIT_AS)
        taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        allowed = taken * resource.getpagesize() + _TIMES * size + _BESIDE
    except (ImportError, OSError, ValueError, IndexError):  # no such limits here
        yield
        return
    if limit != resource.RLIM_INFINITY:
        allowed = min(allowed, limit)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def leads_to(path: Path) -> Path:
    """Where a path leads, there or not; links that lead in a circle are refused."""
    try:
        return path.resolve(strict=True)
    except FileNotFoundError:
        return path.resolve()
    except (OSError, RuntimeError):  # newer Pythons raise one of them, and only if strict
        raise InputError(f"{path}: a link that leads nowhere; remove it") from None


def check_folder(folder: Path) -> None:
    """Refuse a run directory with a link that leaves it, or with anything but files and folders."""
    root = leads_to(folder)
    for path in folder.rglob("*"):
        mode, target = path.lstat().st_mode, leads_to(path)
        if stat.S_ISLNK(mode) and not target.is_relative_to(root):
            words = f"a link that leaves the run directory (to {target})"
            raise InputError(f"{path}: {words}; put the file itself there")
        if not (stat.S_ISLNK(mode) or stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise InputError(f"{path}: neither a file nor a folder; remove it")
