"""Tables as they lie on the disk: named columns of text cells, with the lines they come from.

CSV with comma, semicolon or tab is read here, Excel and Parquet by `formats`. What a column means
is not asked here.
"""

import csv
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from steinmetz.data import formats
from steinmetz.data.cells import Cells
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
    rows: Cells
    lines: list[int]
    declared: dict[str, str]
    notes: list[str]

    def cells(self, index: int) -> list[str]:
        """One column."""
        return self.rows.column(index)


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
    declared: dict[str, str] = {}
    kept = _without_comments(grid, declared)
    first = next(kept, None)
    if first is None:
        words = "the file has no header line; name the columns in the first line"
        raise InputError(f"{source}: {words}")
    line, header = first[0], [name.strip() for name in first[1]]
    while header and not header[-1]:
        header.pop()
    lines, wrong = list[int](), list[tuple[int, int]]()
    cells = Cells.of(_fitting(kept, len(header), lines, wrong), len(header))
    for number, count in wrong:
        complaints.add(Place(source), _misfit(count, len(header)), number, "cells")
    _check_header(source, line, header, complaints)
    if not lines and not wrong:
        raise InputError(f"{source}: the file has a header but no data rows")
    named = [index for index, name in enumerate(header) if name]
    for index in sorted({*range(len(header))} - {*named}):
        if any(cells.column(index)):
            words = f"column {index + 1} has no name but holds values; name or delete it"
            complaints.add(Place(source), words, line)
    names = tuple(header[index] for index in named)
    return _decimal_points(Sheet(source, names, cells.columns(named), lines, declared, []))


def _fitting(
    kept: formats.Grid, width: int, lines: list[int], wrong: list[tuple[int, int]]
) -> Iterator[list[str]]:
    """Rows with as many cells as the header; `lines` get their numbers, `wrong` those of others."""
    for number, row in kept:
        cells = [cell.strip() for cell in row]
        while len(cells) > width and not cells[-1]:
            cells.pop()
        if len(cells) == width:
            lines.append(number)
            yield cells
        else:
            wrong.append((number, len(cells)))


def _misfit(cells: int, columns: int) -> str:
    return (
        f"{cells} cells where the header names {columns} columns; write missing cells as empty, "
        "and decimal commas only between semicolons or tabs"
    )


def _without_comments(grid: formats.Grid, declared: dict[str, str]) -> formats.Lines:
    """Lines that hold something; `declared` gets what comments declare."""
    for line, cells in grid:
        first = cells[0].strip() if cells else ""
        if first.startswith("#") and first.lower() not in MISSING:
            said = re.match(_DECLARATION, ",".join(cells).strip())
            if said:
                declared[said[1].lower()] = said[2]
        elif any(cell.strip() for cell in cells):
            yield line, cells


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
    columns = range(len(sheet.columns))
    cells = [cell for index in columns for cell in sheet.cells(index) if "," in cell]
    if not any(re.match(_COMMA, cell) for cell in cells):
        return sheet
    if any("." in cell and is_number(cell) for index in columns for cell in sheet.cells(index)):
        return sheet
    rows = sheet.rows.replaced(list(map(_pointed, sheet.cells(index))) for index in columns)
    return sheet._replace(rows=rows, notes=[*sheet.notes, "decimal commas read as points"])


def _pointed(cell: str) -> str:
    """A number with a decimal comma as one with a point; any other cell as it is."""
    return cell.replace(",", ".") if re.match(_COMMA, cell) else cell


def write(path: Path, grid: formats.Grid) -> None:
    """Lines of cells as a CSV file that `read` reads back exactly."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(cells for _, cells in grid)


def _split(path: Path) -> formats.Lines:
    """The cells of a text file, line by line."""
    text = formats.text(path)
    named = (line for _, line in _lines(text) if not line.lstrip().startswith("#"))
    outside = re.sub(r'"[^"]*"', "", next(named, ""))
    delimiter = max(",;\t", key=outside.count)
    try:
        for number, line in _lines(text):
            yield number, next(csv.reader([line], delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"{path}: not a table of cells ({error}); save it as CSV") from None


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that are not empty, with their numbers."""
    number, start = 1, 0
    for end in re.finditer(r"\r\n|\n|\r|\Z", text):
        line = text[start : end.start()]
        if line.strip(" \t,;"):
            yield number, line
        number, start = number + 1, end.end()


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
