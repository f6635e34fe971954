"""Tables as they lie on the disk: named columns of text cells, with the lines they come from.

CSV with comma, semicolon or tab is read here, Excel and Parquet by `formats`. What a column means
is not asked here.
"""

import csv
import math
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from steinmetz.data import formats
from steinmetz.data.complaints import Complaints, Place
from steinmetz.errors import InputError

# What people and spreadsheets write into a cell that was not measured.
MISSING = {
    *("", "nan", "na", "n/a", "null", "none", "-", "--", "#n/a", "#na", "#value!", "#div/0!"),
    *("#num!", "#ref!", "#null!", "#name?", "<na>"),
}
_DECLARATION = r"^#\s*(\w+)\s*[:=]\s*(.+?)[\s,;]*$"
_COMMA = r"^[-+]?\d*,\d+([eE][-+]?\d+)?$"


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


class Sheet(NamedTuple):
    """A table as text: every row has a cell for every column.

    `declared` are comments of the form `# unit: MPa`, by their lower-case key; `notes` say what
    was understood on the way.
    """

    source: str
    columns: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]
    declared: dict[str, str]
    notes: list[str]

    def cells(self, index: int) -> list[str]:
        """One column."""
        return [row[index] for row in self.rows]


def read(path: Path, complaints: Complaints) -> Sheet:
    """The cells of a file, by its ending; the first line names columns.

    Raises where there is no table at all; lines that do not fit are complained about and left out.
    """
    if formats.is_spreadsheet(path):
        grid = formats.spreadsheet(path)
    elif path.suffix.lower() in formats.PARQUET:
        grid = formats.parquet(path)
    else:
        grid = _split(path)
    return arranged(str(path), grid, complaints)


def arranged(source: str, grid: formats.Grid, complaints: Complaints) -> Sheet:
    """A header and rows from numbered lines of cells, without comments and empty lines."""
    kept, declared = _without_comments(grid)
    if not kept:
        words = "the file has no header line; name the columns in the first line"
        raise InputError(f"{source}: {words}")
    line, header = kept[0][0], [name.strip() for name in kept[0][1]]
    while header and not header[-1]:
        header.pop()
    rows, lines = [], []
    for number, row in kept[1:]:
        cells = [cell.strip() for cell in row]
        while len(cells) > len(header) and not cells[-1]:
            cells.pop()
        if len(cells) != len(header):
            complaints.add(Place(source), _misfit(len(cells), len(header)), number, "cells")
            continue
        rows.append(cells)
        lines.append(number)
    _check_header(source, line, header, complaints)
    if len(kept) == 1:
        raise InputError(f"{source}: the file has a header but no data rows")
    named = [index for index, name in enumerate(header) if name]
    for index in sorted({*range(len(header))} - {*named}):
        if any(row[index] for row in rows):
            words = f"column {index + 1} has no name but holds values; name or delete it"
            complaints.add(Place(source), words, line)
    rows = [[row[index] for index in named] for row in rows]
    sheet = Sheet(source, tuple(header[i] for i in named), rows, lines, declared, [])
    return _decimal_points(sheet)


def _misfit(cells: int, columns: int) -> str:
    return (
        f"{cells} cells where the header names {columns} columns; write missing cells as empty, "
        "and decimal commas only between semicolons or tabs"
    )


def _without_comments(grid: formats.Grid) -> tuple[formats.Grid, dict[str, str]]:
    """Lines that hold something, and what comments declare."""
    kept, declared = [], {}
    for line, cells in grid:
        first = cells[0].strip() if cells else ""
        if first.startswith("#") and first.lower() not in MISSING:
            said = re.match(_DECLARATION, ",".join(cells).strip())
            if said:
                declared[said[1].lower()] = said[2]
        elif any(cell.strip() for cell in cells):
            kept.append((line, cells))
    return kept, declared


def _check_header(source: str, line: int, header: list[str], complaints: Complaints) -> None:
    if all(is_number(name) for name in header):
        words = "the first line must name the columns, but it holds numbers"
        raise InputError(f"{source}, line {line}: {words}")
    for name in sorted({name for name in header if name and header.count(name) > 1}):
        complaints.add(Place(source), f"column '{name}' appears twice; keep one", line)
    if len(header) == 1 and len(header[0].split()) > 1 and "(" not in header[0]:
        words = f"one column '{header[0][:60]}'; separate columns by comma, semicolon or tab"
        complaints.add(Place(source), words, line)


def _decimal_points(sheet: Sheet) -> Sheet:
    """Decimal commas become points where no cell has a point; else they stay as they are."""
    cells = [cell for row in sheet.rows for cell in row]
    comma = any(re.match(_COMMA, cell) for cell in cells)
    if not comma or any("." in cell and is_number(cell) for cell in cells):
        return sheet
    rows = [[c.replace(",", ".") if re.match(_COMMA, c) else c for c in row] for row in sheet.rows]
    return sheet._replace(rows=rows, notes=[*sheet.notes, "decimal commas read as points"])


def write(path: Path, grid: formats.Grid) -> None:
    """Lines of cells as a CSV file that `read` reads back exactly."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(cells for _, cells in grid)


def _split(path: Path) -> formats.Grid:
    lines = [
        (number, line)
        for number, line in enumerate(re.split(r"\r\n|\n|\r", formats.text(path)), start=1)
        if line.strip(" \t,;")
    ]
    named = (line for _, line in lines if not line.lstrip().startswith("#"))
    outside = re.sub(r'"[^"]*"', "", next(named, ""))
    delimiter = max(",;\t", key=outside.count)
    try:
        return [(number, next(csv.reader([line], delimiter=delimiter))) for number, line in lines]
    except csv.Error as error:
        raise InputError(f"{path}: not a table of cells ({error}); save it as CSV") from None


def is_number(cell: str) -> bool:
    """Whether a cell is one number as Python writes it, NaN and infinity among them."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def number(cell: str) -> float:
    """A cell as a number; NaN where it is missing or none."""
    return float(cell) if cell.lower() not in MISSING and is_number(cell) else math.nan
