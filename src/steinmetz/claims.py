"""A folder that one process at a time writes to.

The claim is a locked file beside the folder. The system lets go of it when the process ends, in
whatever way: a killed run leaves an empty file that stops nobody. Folders that a killed run had
half written or moved aside are put right when the next one comes.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from steinmetz.errors import InputError
from steinmetz.reading import reason

# Hidden folders beside a target: what is being written, and the earlier run while it is replaced.
NEW, OLD = ".new-", ".old-"
_RANDOM = r"[a-z0-9_]{8}"


class Taken(InputError):
    """Another process writes to a folder."""


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """No other run writes to this folder meanwhile; a second one is refused in words."""
    check_name(folder)
    folder = folder.absolute()
    parents = [parent for parent in folder.parents if not parent.exists()]
    lock = folder.with_name(f".{folder.name}.lock")
    with _locked(lock, folder):
        tidy(folder)
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)
            with suppress(OSError):  # folders that were made for the lock alone go with it
                for parent in parents:
                    parent.rmdir()


def check_name(folder: Path) -> None:
    """Refuse the root and what ends in '..': nothing can be put beside them under their name."""
    if folder.absolute().name in ("", ".."):
        raise InputError(f"{folder}: cannot be replaced as a whole; name a folder in it")


@contextmanager
def _locked(lock: Path, folder: Path) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:  # files cannot be locked here
        yield
        return
    while True:
        try:
            with _opened(lock, folder) as stream:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _still_there(stream, lock):  # else the run that held it has just removed it
                    yield
                    return
        except BlockingIOError:
            words = "another run is writing there; wait for it or name another folder"
            raise Taken(f"--out {folder}: {words}") from None


def taken(folder: Path) -> bool:
    """Whether a process writes to this folder; to ask is to hold its claim for a moment."""
    folder = folder.absolute()
    try:
        import fcntl

        lock = folder.with_name(f".{folder.name}.lock")
        with open(os.open(lock, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW), "rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (ImportError, OSError):  # files cannot be locked here, or there is no such file
        return False
    return False


def _opened(lock: Path, folder: Path) -> IO[bytes]:
    """The lock file, made if need be; never one that a link leads to."""
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        return open(os.open(lock, flags, 0o644), "r+b")
    except OSError as error:
        words = f"cannot write there ({reason(error)})"
        raise InputError(f"--out {folder}: {words}") from None


def _still_there(stream: IO[bytes], lock: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), lock.stat())
    except FileNotFoundError:
        return False


def tidy(folder: Path) -> None:
    """Put right what a killed run left beside its target: the earlier run goes back to its place.

    Only for the process that holds the claim.
    """
    for path in sorted(folder.parent.glob(f".{_plain(folder.name)}.*")):
        kind = re.fullmatch(rf"{re.escape('.' + folder.name)}(\.old-|\.new-){_RANDOM}", path.name)
        if kind is None or path.is_symlink() or not path.is_dir():
            continue
        if kind[1] == OLD and not folder.exists() and any(path.iterdir()):
            os.replace(path, folder)
        else:
            shutil.rmtree(path, ignore_errors=True)


def _plain(name: str) -> str:
    """A name for `glob`, which gives some signs a meaning."""
    return re.sub(r"([*?[])", r"[\1]", name)
