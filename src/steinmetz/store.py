"""A folder of finished pieces of work: arrays by name, written whole or not at all, read without executing anything.

What is interrupted can be continued: a piece that is there is not computed again. Pieces carry the fingerprint of a
text that says what is computed, so that those of another study are never taken for ours.
"""

import hashlib
import os
import re
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np

_PIECE = r"[0-9a-f]{16}-[A-Za-z0-9_-]+\.npz|.*\.tmp"


class Store:
    """Pieces in `folder`, which is made when the first of them is kept."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder = folder
        self._mark = hashlib.sha256(fingerprint.encode()).hexdigest()[:16]

    @property
    def found(self) -> bool:
        """Whether there are pieces of this work."""
        return self.folder.is_dir() and any(self.folder.glob(f"{self._mark}-*.npz"))

    def get(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays kept under a name; None where there are none, or the file is damaged."""
        try:
            with (
                (self.folder / f"{self._mark}-{name}.npz").open("rb") as stream,
                np.load(stream, allow_pickle=False) as stored,
            ):
                return {key: stored[key] for key in stored.files}
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
            return None

    def put(self, name: str, **arrays: np.ndarray) -> None:
        """Keep arrays: written beside, flushed, then renamed."""
        self.folder.mkdir(parents=True, exist_ok=True)  # two threads may come here at once
        self._write(f"{self._mark}-{name}.npz", lambda stream: np.savez(stream, allow_pickle=False, **arrays))

    def _write(self, name: str, fill: Callable[[IO[bytes]], object]) -> None:
        handle, path = tempfile.mkstemp(dir=self.folder, suffix=".tmp")
        with os.fdopen(handle, "wb") as stream:
            fill(stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(path, self.folder / name)

    def clear(self) -> None:
        """Remove the pieces, and the folder if nothing else is in it: the work is done."""
        if not self.folder.is_dir():
            return
        for path in self.folder.iterdir():
            if re.fullmatch(_PIECE, path.name):
                path.unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()
