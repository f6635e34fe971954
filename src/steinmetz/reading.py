"""Files that others wrote, read with care; everything that is read from outside comes through here.

Only regular files are read (a pipe would block, a device never ends), never more bytes than a cap
(the size that a file system states need not be true), and nothing is executed. What cannot be read
is one sentence with the place.
"""

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

from steinmetz.errors import InputError

# Bytes above which a file is hardly one of ours.
LARGEST = 200_000_000
# Bytes above which a file is hardly a study.
_LARGEST_STUDY = 2_000_000
_PIECE = 1 << 20
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


def check_folder(folder: Path) -> None:
    """Refuse a run directory with a link that leaves it, or with anything but files and folders."""
    root = folder.resolve()
    for path in folder.rglob("*"):
        try:
            mode, target = path.lstat().st_mode, path.resolve()
        except (OSError, RuntimeError):  # a link to itself
            raise InputError(f"{path}: a link that leads nowhere; remove it") from None
        if stat.S_ISLNK(mode) and not target.is_relative_to(root):
            words = f"a link that leaves the run directory (to {target})"
            raise InputError(f"{path}: {words}; put the file itself there")
        if not (stat.S_ISLNK(mode) or stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise InputError(f"{path}: neither a file nor a folder; remove it")
