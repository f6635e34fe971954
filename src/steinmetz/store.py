"""A folder of finished pieces of work: arrays by name, written whole or not at all, read without executing anything.

What is interrupted can be continued: a piece that is there is not computed again. The folder belongs to one fingerprint
(a text that says what is computed); a folder of another one is emptied.
"""

import hashlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np

_FINGERPRINT = "fingerprint"


class Store:
    """Pieces in `folder`, which is made when the first of them is kept."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder = folder
        self._mark = hashlib.sha256(fingerprint.encode()).hexdigest()
        if folder.is_dir() and self._owner() != self._mark:
            shutil.rmtree(folder)
        self.found = folder.is_dir()

    def _owner(self) -> str | None:
        try:
            return (self.folder / _FINGERPRINT).read_text(encoding="utf-8")
        except OSError:
            return None

    def get(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays kept under a name; None where there are none, or the file is damaged."""
        try:
            with (self.folder / f"{name}.npz").open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
                return {key: stored[key] for key in stored.files}
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
            return None

    def put(self, name: str, **arrays: np.ndarray) -> None:
        """Keep arrays: written beside, flushed, then renamed."""
        self.folder.mkdir(parents=True, exist_ok=True)  # two threads may come here at once
        if self._owner() is None:
            self._write(_FINGERPRINT, lambda stream: stream.write(self._mark.encode()))
        self._write(f"{name}.npz", lambda stream: np.savez(stream, allow_pickle=False, **arrays))

    def _write(self, name: str, fill: Callable[[IO[bytes]], object]) -> None:
        handle, path = tempfile.mkstemp(dir=self.folder, suffix=".tmp")
        with os.fdopen(handle, "wb") as stream:
            fill(stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(path, self.folder / name)

    def clear(self) -> None:
        """Remove everything: the work is done."""
        shutil.rmtree(self.folder, ignore_errors=True)
