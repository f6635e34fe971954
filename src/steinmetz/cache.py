"""What is finished is not computed again: a folder of arrays, and of results by their content.

Files are written whole or not at all, and read without executing anything: arrays as NPZ without
objects, everything else as JSON. `Cache` belongs to one piece of work, and what an interrupt leaves
in it is continued; `ContentCache` holds finished results, each known by what it was computed from.
"""

import hashlib
import io
import json
import os
import re
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import TypeVar

import numpy as np
from pydantic import BaseModel

# Names of our files in a folder, where other people's files may lie as well.
_OURS = r"[0-9a-f]{16}-[A-Za-z0-9_-]+\.(npz|json)|.*\.tmp|\.lock"
# Held by the process that changes a manifest.
_LOCK = ".lock"
# Raised when the same content would mean other numbers than before.
_EDITION = 1
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
    are never taken for ours. A manifest lists the SHA-256 of every file; one that does not match it
    is taken for damaged, which is as if it were not there.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder = folder
        self._mark = hashlib.sha256(fingerprint.encode()).hexdigest()[:16]
        self._manifest = folder / f"{self._mark}-manifest.json"
        self._lock = threading.Lock()

    @property
    def found(self) -> bool:
        """Whether something of this work is kept."""
        return bool(self._listed())

    def get(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays kept under a name; None where there are none, or the file is damaged."""
        file = f"{self._mark}-{name}.npz"
        try:
            content = (self.folder / file).read_bytes()
            if hashlib.sha256(content).hexdigest() != self._listed().get(file):
                return None
            with np.load(io.BytesIO(content), allow_pickle=False) as stored:
                return {key: stored[key] for key in stored.files}
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
            return None

    def put(self, name: str, **arrays: np.ndarray) -> None:
        """Keep arrays: written beside, flushed and renamed; then the manifest, in the same way."""
        self.folder.mkdir(parents=True, exist_ok=True)  # two threads may come here at once
        packed = io.BytesIO()
        np.savez(packed, allow_pickle=False, **arrays)
        content, file = packed.getvalue(), f"{self._mark}-{name}.npz"
        with self._lock, _alone(self.folder):
            self._write(file, content)
            listed = {**self._listed(), file: hashlib.sha256(content).hexdigest()}
            self._write(self._manifest.name, json.dumps(listed, indent=1, sort_keys=True).encode())

    def _listed(self) -> dict[str, str]:
        """The manifest: SHA-256 by file name; empty where there is none that can be read."""
        try:
            listed = json.loads(self._manifest.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return listed if isinstance(listed, dict) else {}

    def _write(self, name: str, content: bytes) -> None:
        """Whole or not at all: a reader sees the old file or the new one."""
        handle, path = tempfile.mkstemp(dir=self.folder, suffix=".tmp")
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(path, self.folder / name)

    def clear(self) -> None:
        """Remove our files, and the folder if nothing else is in it: the work is done."""
        if not self.folder.is_dir():
            return
        for path in self.folder.iterdir():
            if re.fullmatch(_OURS, path.name):
                path.unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """No other process changes a manifest of this folder meanwhile, where files can be locked."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (folder / _LOCK).open("ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)  # let go of when the file is closed, or the process dies
        yield


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
