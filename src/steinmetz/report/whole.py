"""Files and folders that appear whole or not at all, whatever happens on the way."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from steinmetz.claims import NEW, OLD
from steinmetz.errors import InputError
from steinmetz.reading import reason


@contextmanager
def whole(folder: Path) -> Iterator[Path]:
    """A folder that appears complete or not at all; an earlier run of that name is replaced.

    Between the two renames there is none of that name for a moment: an interrupt there puts the
    earlier run back, and after a kill `claims.tidy` does.
    """
    work = _beside(folder, NEW)
    try:
        yield work
        work.chmod(0o755)
        old = _beside(folder, OLD) if folder.exists() else None
        try:
            if old is not None:
                os.replace(folder, old)
            os.replace(work, folder)
        except BaseException:
            if old is not None and not folder.exists():
                os.replace(old, folder)
            raise
        if old is not None:
            shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _beside(folder: Path, kind: str) -> Path:
    """A hidden folder that only this process writes to."""
    return Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}{kind}"))


@contextmanager
def writable(target: Path, option: str = "--out") -> Iterator[None]:
    """What the system says of a target that it cannot look at or write, as one sentence."""
    try:
        yield
    except OSError as error:
        words = f"cannot write there ({reason(error)})"
        raise InputError(f"{option} {target}: {words}") from None


def check_file(path: Path, ending: str = "", option: str = "--out") -> None:
    """Refuse, before anything is computed, a file that cannot be written or is named otherwise.

    A link or a device would be replaced itself.
    """
    parent, words = path.absolute().parent, ""
    with writable(path, option):
        if path.is_symlink():
            words = f"a link to {os.readlink(path)}; name the file itself"
        elif path.is_dir():
            words = "there is a folder of that name; name a file"
        elif ending and path.suffix.lower() != ending:
            words = f"the file is written as {ending}; name it so"
        elif path.exists() and not path.is_file():
            words = "not a file; name another"
        elif not parent.is_dir():
            words = f"there is no folder {parent}"
        if words:
            raise InputError(f"{option} {path}: {words}")
        with tempfile.TemporaryFile(dir=parent):  # permissions alone do not tell
            pass


def replace(path: Path, text: str) -> None:
    """Write a file whole or not at all: a reader sees the old one or the new one."""
    whole_text = text.rstrip("\n") + "\n"  # names of files in it may be any bytes
    replace_bytes(path, whole_text.encode(errors="surrogateescape"))


def replace_bytes(path: Path, content: bytes) -> None:
    """The same of a file that is no text."""
    handle, beside = tempfile.mkstemp(dir=path.absolute().parent, prefix=".steinmetz-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(beside, 0o644)
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
