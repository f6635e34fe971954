"""A folder of finished pieces of work: arrays by name, written whole or not at all, read without executing anything.

What is interrupted can be continued: a piece that is there is not computed again. Pieces carry the fingerprint of a
text that says what is computed, so that those of another study are never taken for ours.
"""

import hashlib
import io
import json
import os
import re
import tempfile
import threading
import zipfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

# Raised when the same words would mean other numbers than before.
_EDITION = 1
_FACTS = "facts"
_PIECE = r"[0-9a-f]{16}-[A-Za-z0-9_-]+\.(npz|json)|.*\.tmp"


class Cache:
    """Pieces in `folder`, which is made when the first of them is kept.

    A manifest lists the SHA-256 of every piece; a piece that does not match it is taken for damaged.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder = folder
        self._mark = hashlib.sha256(fingerprint.encode()).hexdigest()[:16]
        self._manifest = folder / f"{self._mark}-manifest.json"
        self._lock = threading.Lock()

    @property
    def found(self) -> bool:
        """Whether there are pieces of this work."""
        return bool(self._listed())

    def get(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays kept under a name; None where there are none, or the file is damaged."""
        piece = f"{self._mark}-{name}.npz"
        try:
            content = (self.folder / piece).read_bytes()
            if hashlib.sha256(content).hexdigest() != self._listed().get(piece):
                return None
            with np.load(io.BytesIO(content), allow_pickle=False) as stored:
                return {key: stored[key] for key in stored.files}
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
            return None

    def put(self, name: str, **arrays: np.ndarray) -> None:
        """Keep arrays: written beside, flushed, then renamed; then the manifest, in the same way."""
        self.folder.mkdir(parents=True, exist_ok=True)  # two threads may come here at once
        packed = io.BytesIO()
        np.savez(packed, allow_pickle=False, **arrays)
        content, piece = packed.getvalue(), f"{self._mark}-{name}.npz"
        with self._lock:
            self._write(piece, content)
            listed = {**self._listed(), piece: hashlib.sha256(content).hexdigest()}
            self._write(self._manifest.name, json.dumps(listed, indent=1, sort_keys=True).encode())

    def _listed(self) -> dict[str, str]:
        try:
            listed = json.loads(self._manifest.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return listed if isinstance(listed, dict) else {}

    def _write(self, name: str, content: bytes) -> None:
        handle, path = tempfile.mkstemp(dir=self.folder, suffix=".tmp")
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
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


class Piece(NamedTuple):
    """Arrays by name, and everything else in plain types."""

    arrays: dict[str, np.ndarray]
    facts: dict[str, Any]


class ContentCache:
    """A folder of pieces; each is known by a text that says what it is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def store(self, content: Any) -> Cache:
        """Where the pieces of one text are kept; also for what is not finished yet."""
        words = {"version": metadata.version("steinmetz"), "edition": _EDITION, "content": content}
        return Cache(self.folder, json.dumps(words, sort_keys=True))

    def find(self, content: Any, name: str) -> Piece | None:
        """What is there under a name."""
        stored = self.store(content).get(name)
        if stored is None or _FACTS not in stored:
            return None
        try:
            facts = json.loads(stored.pop(_FACTS).tobytes().decode())
        except ValueError:
            return None
        return Piece(stored, facts)

    def get(self, content: Any, name: str, compute: Callable[[Cache], Piece]) -> Piece:
        """What is there, else what `compute` gives; it may keep unfinished work in the store it gets."""
        found = self.find(content, name)
        if found is None:
            store = self.store(content)
            found = compute(store)
            text = json.dumps(found.facts, allow_nan=False).encode()
            store.put(name, **found.arrays, **{_FACTS: np.frombuffer(text, np.uint8)})
        return found
