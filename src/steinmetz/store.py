"""A folder of finished pieces of work: arrays by name, written whole or not at all, read without executing anything.

What is interrupted can be continued: a piece that is there is not computed again. The folder belongs to one fingerprint
(a text that says what is computed); a folder of another one is emptied.
"""

import hashlib
import os
import shutil
import tempfile
import zipfile
from pathlib import Path

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
        if not self.folder.is_dir():
            self.folder.mkdir(parents=True)
            (self.folder / _FINGERPRINT).write_text(self._mark, encoding="utf-8")
        handle, path = tempfile.mkstemp(dir=self.folder, suffix=".tmp")
        with os.fdopen(handle, "wb") as stream:
            np.savez(stream, allow_pickle=False, **arrays)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(path, self.folder / f"{name}.npz")

    def clear(self) -> None:
        """Remove everything: the work is done."""
        shutil.rmtree(self.folder, ignore_errors=True)
