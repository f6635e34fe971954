"""Cells of text column by column, in little memory: a table may have millions of them.

A Python string takes fifty bytes and more, and a list of a row as much again. Here a short cell
takes sixteen, and strings are made where one row or one column is asked for.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
from jaxtyping import Int

# Rows that are lists of strings at the same time.
_AT_ONCE = 20_000

Column = np.ndarray
"""One column, of numpy's type of text."""


class Cells:
    """Rows of text cells, all of the same length."""

    def __init__(self, columns: Sequence[Column], rows: int) -> None:
        self._columns, self._rows = list(columns), rows

    @classmethod
    def of(cls, rows: Iterable[Sequence[str]], width: int) -> "Cells":
        """From rows, which may be made one after the other."""
        parts: list[list[Column]] = [[] for _ in range(width)]
        given, count = iter(rows), 0
        while some := list(islice(given, _AT_ONCE)):
            count += len(some)
            for part, column in zip(parts, zip(*some, strict=True), strict=True):
                part.append(np.array(column, np.dtypes.StringDType()))
        empty = np.array([], np.dtypes.StringDType())
        return cls([np.concatenate(part) if part else empty for part in parts], count)

    def __len__(self) -> int:
        return self._rows

    def __iter__(self) -> Iterator[list[str]]:
        return (self[row] for row in range(self._rows))

    def __getitem__(self, row: int) -> list[str]:
        return [str(column[row]) for column in self._columns]

    def column(self, index: int) -> list[str]:
        """One column."""
        found: list[str] = self._columns[index].tolist()
        return found

    def columns(self, chosen: Sequence[int]) -> "Cells":
        """Some columns."""
        return Cells([self._columns[index] for index in chosen], self._rows)

    def rows(self, chosen: slice | Int[np.ndarray, "rows"]) -> "Cells":
        """Some rows."""
        found = [column[chosen] for column in self._columns]
        return Cells(found, len(np.arange(self._rows)[chosen]))

    def replaced(self, columns: Iterable[Sequence[str]]) -> "Cells":
        """The same number of rows with other columns, which may be made one after the other."""
        made = [np.array(column, np.dtypes.StringDType()) for column in columns]
        return Cells(made, self._rows)
