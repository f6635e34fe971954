"""What is finished is not computed again: a folder of arrays, and of results by their content.

Files are written whole or not at all, and read without executing anything: arrays as NPZ without
objects, everything else as JSON. `Cache` belongs to one piece of work, and what an interrupt leaves
in it is continued; `ContentCache` holds finished results, each known by what it was computed from.
"""

import hashlib
import io
import json
import logging
import os
import re
import tempfile
import threading
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import TypeVar

import numpy as np
from pydantic import BaseModel

from steinmetz import reading

# Names of our files in a folder, where other people's files may lie as well.
_OURS = r"[0-9a-f]{16}-[A-Za-z0-9_-]+\.(npz|before)|tmp\w{8}\.tmp"
# Bytes of the SHA-256 that ends a file, and those above which it is hardly one of ours.
_DIGEST, _LARGEST = 32, 64_000_000_000
# Raised when the same content would mean other numbers than before.
_EDITION = 2
# Where the JSON of a result stands among its arrays.
_JSON = "json"
# What stands in that JSON in place of an array: {"$array": name}.
_ARRAY = "$array"

Content = Mapping[str, object]
"""What a result was computed from, in plain types: the same content is the same result."""

Result = TypeVar("Result", bound=BaseModel)


class Cache:
    """Arrays by name in `folder`, which is made when the first of them is kept.

    Files carry the fingerprint of a text that says what is computed, so that those of another study
    are never taken for ours, and end with the SHA-256 of what is in them. The version before is
    kept beside every file: where the last one is damaged, that one is used, and it is said.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder, self.fingerprint = folder, fingerprint
        self._mark = hashlib.sha256(fingerprint.encode()).hexdigest()[:16]
        self._full = False
        self._lock = threading.Lock()

    @property
    def found(self) -> bool:
        """Whether something of this work is kept."""
        return any(self.folder.glob(f"{self._mark}-*"))

    def get(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays kept under a name: the last that are whole; None where there are none."""
        last, before = self._paths(name)
        for path in (last, before):
            arrays = _arrays(path)
            if arrays is not None:
                if path == before:
                    _said(f"{last} is damaged or missing; going on from the one before it")
                return arrays
        if last.exists():
            _said(f"{last} is damaged, and none before it is kept; this is computed again")
        return None

    def packed(self) -> dict[str, bytes]:
        """All that is kept and whole, by name, for a process that cannot read this folder."""
        files = [path.name for path in self.folder.glob(f"{self._mark}-*")]
        found = {
            name: self.get(name) for name in {Path(f).stem[len(self._mark) + 1 :] for f in files}
        }
        return {name: _bytes(arrays) for name, arrays in found.items() if arrays is not None}

    def put(self, name: str, **arrays: np.ndarray) -> None:
        """Keep arrays: written beside, flushed and renamed, the last ones kept as those before.

        A full disk costs what would have been kept, not the work: it is said, once.
        """
        content = _bytes(arrays)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)  # two threads may come here at once
            with self._lock:
                self._write(*self._paths(name), content + hashlib.sha256(content).digest())
            self._full = False
        except OSError as error:
            if not self._full:
                why = (error.strerror or "error").lower()
                _said(f"cannot keep unfinished work in {self.folder} ({why}); going on without")
            self._full = True

    def _paths(self, name: str) -> tuple[Path, Path]:
        """The file of a name, and the one before it."""
        stem = f"{self._mark}-{name}"
        return self.folder / f"{stem}.npz", self.folder / f"{stem}.before"

    def _write(self, last: Path, before: Path, content: bytes) -> None:
        """Whole or not at all: at every moment, one of the two is whole."""
        handle, path = tempfile.mkstemp(dir=self.folder, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            with suppress(FileNotFoundError):
                os.replace(last, before)
            os.replace(path, last)
        except BaseException:
            Path(path).unlink(missing_ok=True)
            raise

    def clear(self) -> None:
        """Remove our files, and the folder if nothing else is in it: the work is done."""
        if not self.folder.is_dir():
            return
        for path in self.folder.iterdir():
            if re.fullmatch(_OURS, path.name):
                path.unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()


class Copied(Cache):
    """What another process keeps, as it was when the work began; nothing is kept here."""

    def __init__(self, pieces: Mapping[str, bytes]) -> None:
        self._pieces = {name: _unzipped(content) for name, content in pieces.items()}

    @property
    def found(self) -> bool:
        """Whether something of this work is kept."""
        return bool(self._pieces)

    def get(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays kept under a name; None where there are none."""
        return self._pieces.get(name)

    def put(self, name: str, **arrays: np.ndarray) -> None:
        """The other process keeps them."""

    def clear(self) -> None:
        """The other process does."""


def _bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Arrays by name as NPZ."""
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, **arrays)
    return packed.getvalue()


def _unzipped(content: bytes) -> dict[str, np.ndarray]:
    """Arrays by name from NPZ, without objects."""
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        return {key: stored[key] for key in stored.files}


def _arrays(path: Path) -> dict[str, np.ndarray] | None:
    """The arrays of a file that ends with the SHA-256 of the rest; None if it does not."""
    try:
        whole = reading.content(path, _LARGEST)
        content, digest = whole[:-_DIGEST], whole[-_DIGEST:]
        if hashlib.sha256(content).digest() != digest:
            return None
        return _unzipped(content)
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
        return None


def _said(words: str) -> None:
    """Tell people; without a handler of their own, on standard error."""
    logging.getLogger("steinmetz").warning("steinmetz: %s", words)


class ContentCache:
    """A folder of finished results, whoever asks for them.

    A result is a pydantic model; with its content, the name of its class says which one it is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def unfinished(self, content: Content) -> Cache:
        """Where work on this content may keep what it has so far."""
        text = {"version": metadata.version("steinmetz"), "edition": _EDITION, "content": content}
        return Cache(self.folder, json.dumps(text, sort_keys=True))

    def find(self, content: Content, kind: type[Result]) -> Result | None:
        """The result of a kind that is kept; None where there is none, or it cannot be read."""
        stored = self.unfinished(content).get(kind.__name__)
        try:
            return None if stored is None else _unpacked(stored, kind)
        except (KeyError, ValueError):
            return None

    def keep(self, content: Content, result: Result) -> Result:
        """Keep a finished result, and give it back."""
        self.unfinished(content).put(type(result).__name__, **_packed(result))
        return result

    def get(
        self, content: Content, kind: type[Result], compute: Callable[[Cache], Result]
    ) -> Result:
        """What is kept, else what `compute` gives; it may keep unfinished work in its argument."""
        kept = self.find(content, kind)
        return self.keep(content, compute(self.unfinished(content))) if kept is None else kept


def _packed(result: BaseModel) -> dict[str, np.ndarray]:
    """All arrays of a result, however deep, by number, and the JSON of the rest.

    A float that is not a number stays one: Python writes and reads NaN.
    """
    arrays: dict[str, np.ndarray] = {}

    def name_of(value: object) -> dict[str, str]:
        if not isinstance(value, np.ndarray):
            raise TypeError(f"{type(value).__name__} is neither JSON nor an array")
        name = f"array{len(arrays)}"
        arrays[name] = value
        return {_ARRAY: name}

    text = json.dumps(result.model_dump(), default=name_of)
    return {**arrays, _JSON: np.frombuffer(text.encode(), np.uint8)}


def _unpacked(stored: dict[str, np.ndarray], kind: type[Result]) -> Result:
    """The result again, every field checked; raises KeyError or ValueError."""

    def restored(entry: dict[str, object]) -> object:
        return stored[str(entry[_ARRAY])] if _ARRAY in entry else entry

    return kind.model_validate(json.loads(stored[_JSON].tobytes(), object_hook=restored))
