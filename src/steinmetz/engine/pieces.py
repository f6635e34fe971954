"""Finished pieces of work by their content: what was asked for once is not computed again, whoever asks."""

import json
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from steinmetz.cache import Store

# Raised when the same words would mean other numbers than before.
_EDITION = 1
_FACTS = "facts"


class Piece(NamedTuple):
    """Arrays by name, and everything else in plain types."""

    arrays: dict[str, np.ndarray]
    facts: dict[str, Any]


class Pieces:
    """A folder of pieces; each is known by a text that says what it is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def store(self, said: Any) -> Store:
        """Where the pieces of one text are kept; also for what is not finished yet."""
        words = {"version": metadata.version("steinmetz"), "edition": _EDITION, "said": said}
        return Store(self.folder, json.dumps(words, sort_keys=True))

    def find(self, said: Any, name: str) -> Piece | None:
        """What is there under a name."""
        stored = self.store(said).get(name)
        if stored is None or _FACTS not in stored:
            return None
        try:
            facts = json.loads(stored.pop(_FACTS).tobytes().decode())
        except ValueError:
            return None
        return Piece(stored, facts)

    def get(self, said: Any, name: str, compute: Callable[[Store], Piece]) -> Piece:
        """What is there, else what `compute` gives; it may keep unfinished work in the store it gets."""
        found = self.find(said, name)
        if found is None:
            store = self.store(said)
            found = compute(store)
            text = json.dumps(found.facts, allow_nan=False).encode()
            store.put(name, **found.arrays, **{_FACTS: np.frombuffer(text, np.uint8)})
        return found
