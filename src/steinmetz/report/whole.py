"""Files and folders that appear whole or not at all, whatever happens on the way."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from steinmetz.claims import NEW, OLD
from steinmetz.errors import InputError


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


def check_plain(path: Path) -> None:
    """Refuse a link or a device in place of a file, which would be replaced itself."""
    if path.is_symlink():
        raise InputError(f"--out {path}: a link to {os.readlink(path)}; name the file itself")
    if path.exists() and not path.is_file():
        raise InputError(f"--out {path}: not a file; name another")


def replace(path: Path, text: str) -> None:
    """Write a file whole or not at all: a reader sees the old one or the new one."""
    replace_bytes(path, (text.rstrip("\n") + "\n").encode())


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
