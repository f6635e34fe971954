"""Read a table of measured rows: numbers by column name, empty cells missing.

Every complaint names its place.
"""

import csv
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from steinmetz.errors import InputError

# What people write into a cell that was not measured.
_MISSING = {"", "nan", "na", "n/a", "null", "none", "-"}
# Bytes above which a file is hardly a table of tests.
_LARGEST = 200_000_000


class Table(NamedTuple):
    """Columns by name; a missing cell is NaN.

    `lines` are line numbers in the file, for messages.
    """

    source: str
    columns: tuple[str, ...]
    values: Float[np.ndarray, "rows columns"]
    lines: Int[np.ndarray, "rows"]

    def column(self, name: str) -> Float[np.ndarray, "rows"]:
        """One column by name."""
        return self.values[:, self.columns.index(name)]


def read(path: Path) -> Table:
    """Read a CSV file: comma, semicolon or tab; # starts a comment.

    The first line names columns.
    """
    rows = _split(path)
    if not rows:
        raise InputError(f"{path}: the file has no header line; name the columns in the first line")
    header_line, header = rows[0]
    columns = tuple(name.strip() for name in header)
    _check_header(path, header_line, columns)
    if len(rows) == 1:
        raise InputError(f"{path}: the file has a header but no data rows")
    values = np.array([_numbers(path, line, columns, row) for line, row in rows[1:]])
    return Table(str(path), columns, values, np.array([line for line, _ in rows[1:]]))


def write(path: Path, columns: dict[str, Float[np.ndarray, "rows"]]) -> None:
    """A table as a CSV file that `read` reads back exactly; NaN becomes an empty cell."""
    lines = [",".join(columns)]
    for row in zip(*columns.values(), strict=True):
        lines.append(",".join("" if math.isnan(cell) else repr(float(cell)) for cell in row))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _split(path: Path) -> list[tuple[int, list[str]]]:
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(f"{path}: larger than {_LARGEST // 1_000_000} MB; split the file")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(
            f"{path}: not a text file in UTF-8; save the table as CSV (UTF-8)"
        ) from None
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {(error.strerror or 'unreadable').lower()}"
        ) from None
    if "\0" in text:
        raise InputError(
            f"{path}: not a text file (it holds NUL bytes); save the table as CSV (UTF-8)"
        )
    numbered = enumerate(text.splitlines(), start=1)
    kept = [
        (line, row)
        for line, row in numbered
        if row.strip(" \t,;") and not row.lstrip().startswith("#")
    ]
    if not kept:
        return []
    delimiter = max(",;\t", key=kept[0][1].count)
    return [(line, next(csv.reader([row], delimiter=delimiter))) for line, row in kept]


def _check_header(path: Path, line: int, columns: tuple[str, ...]) -> None:
    if all(_is_number(name) for name in columns):
        raise InputError(
            f"{path}, line {line}: the first line must name the columns, but it holds numbers"
        )
    twice = sorted({name for name in columns if name and columns.count(name) > 1})
    if twice:
        raise InputError(f"{path}, line {line}: column '{twice[0]}' appears twice; keep one")


def _numbers(path: Path, line: int, columns: tuple[str, ...], row: list[str]) -> list[float]:
    if len(row) != len(columns):
        raise InputError(
            f"{path}, line {line}: {len(row)} cells where the header names {len(columns)} columns; "
            "write missing cells as empty"
        )
    return [
        _number(path, line, name, cell.strip()) for name, cell in zip(columns, row, strict=True)
    ]


def _number(path: Path, line: int, column: str, cell: str) -> float:
    if cell.lower() in _MISSING:
        return math.nan
    if not _is_number(cell):
        raise InputError(
            f"{path}, line {line}, column '{column}': '{cell[:40]}' is not a number (decimal "
            "point, no units; empty if not measured)"
        )
    value = float(cell)
    if not math.isfinite(value):
        raise InputError(
            f"{path}, line {line}, column '{column}': '{cell}' is not finite; leave the cell empty"
        )
    return value


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell
