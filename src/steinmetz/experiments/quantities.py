"""Columns of text as numbers of declared quantities: units, the row of units, conversions."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from steinmetz.data import headers, table, units
from steinmetz.data.complaints import Complaints, Place
from steinmetz.data.headers import Meaning
from steinmetz.data.table import Sheet

Column = Float[np.ndarray, "rows"]
# Which unit a quantity has; the others are plain numbers.
_KINDS: dict[headers.Quantity, units.Kind] = {"stress": "stress", "force": "force", "area": "area"}
_PLAIN = ("other", "mode", "curve")
# Beyond these a number is a slip, and squares of it would overflow.
_LARGEST = {"ratio": 1e3, "stress": 1e30, "force": 1e30, "area": 1e30}
_LARGEST_TRUE_STRAIN = 6.9
# Quantities that are logarithms of a stretch.
TRUE = ("true strain", "lateral true strain")


class Measured(NamedTuple):
    """A column in the unit it was declared in; `unit` is None where none is declared.

    `empty` marks cells without a value; a cell that is no number is not empty, but NaN too.
    """

    meaning: Meaning
    values: Column
    empty: Bool[np.ndarray, "rows"]
    unit: units.Unit | None


def holds_units(sheet: Sheet) -> bool:
    """Whether the first row below the header holds units and no number."""
    if not len(sheet.rows):
        return False
    found = []
    for header, cell in zip(sheet.columns, sheet.rows[0], strict=True):
        plain = headers.read(header).quantity in _PLAIN
        unit = units.parse(cell)
        missing = cell.lower() in table.MISSING
        if table.is_number(cell) and not missing:
            return False
        if not plain and unit is None and not missing:
            return False
        found += [] if plain or unit is None or unit.name == "1" else [unit]
    return bool(found)


def meanings(sheet: Sheet, complaints: Complaints) -> tuple[Sheet, list[Meaning]]:
    """What every column means, units of a row below the header among it; that row is left out."""
    read = [headers.read(header) for header in sheet.columns]
    if not holds_units(sheet):
        return sheet, read
    found = []
    for meaning, cell in zip(read, sheet.rows[0], strict=True):
        below = "" if cell.lower() in table.MISSING else cell.strip("[]() ")
        both = units.parse(meaning.unit), units.parse(below)
        if meaning.unit and below and both[0] != both[1]:
            words = f"the header says '{meaning.unit}', the row of units '{below}'; correct one"
            complaints.add(Place(sheet.source, meaning.header), words, sheet.lines[0])
        found.append(meaning._replace(unit=meaning.unit or below))
    note = f"line {sheet.lines[0]} read as units"
    rest = sheet._replace(rows=sheet.rows.rows(slice(1, None)), lines=sheet.lines[1:])
    return rest._replace(notes=[*sheet.notes, note]), found


def read(sheet: Sheet, index: int, meaning: Meaning, complaints: Complaints) -> Measured:
    """The numbers of one column; what is no finite number is complained about."""
    place = Place(sheet.source, meaning.header)
    kind = _KINDS.get(meaning.quantity, "ratio")
    unit = _unit(meaning, kind, place, complaints)
    largest = _LARGEST_TRUE_STRAIN if meaning.quantity in TRUE else _LARGEST[kind]
    largest /= unit.size if kind == "ratio" and unit else 1.0
    values = np.full(len(sheet.rows), math.nan)
    for row, cell in enumerate(sheet.cells(index)):
        if cell.lower() in table.MISSING:
            continue
        fault, name = _fault(cell, largest)
        if fault:
            complaints.add(place, fault, sheet.lines[row], name)
        else:
            values[row] = float(cell)
    empty = np.array([cell.lower() in table.MISSING for cell in sheet.cells(index)], bool)
    return Measured(meaning, values, empty, unit)


def _unit(
    meaning: Meaning, kind: units.Kind, place: Place, complaints: Complaints
) -> units.Unit | None:
    if not meaning.unit:
        return None
    unit = units.parse(meaning.unit)
    if unit is None or unit.kind != kind:
        word = "strain or stretch" if kind == "ratio" else kind
        words = f"'{meaning.unit}' is not a unit of {word}; possible: {units.names(kind)}"
        complaints.add(place, words)
        return None
    return unit


def _fault(cell: str, largest: float) -> tuple[str, str]:
    """What is wrong with a cell that should be a number, and the kind of fault; else empty."""
    if not table.is_number(cell):
        hint = "decimal point, no units; empty if not measured"
        return f"'{cell[:40]}' is not a number ({hint})", "number"
    value = float(cell)
    if not math.isfinite(value):
        return f"'{cell[:40]}' is not finite; leave the cell empty", "finite"
    if abs(value) > largest:
        return f"{value:.4g} is beyond all measure; correct it or leave the cell empty", "size"
    return "", ""


def stretch(column: Measured) -> tuple[Column, str]:
    """A stretch, strain or shear as what experiments ask for, and a note on the conversion."""
    size = 1.0 if column.unit is None else column.unit.size
    values, header = column.values * size, column.meaning.header
    if column.meaning.quantity in ("strain", "lateral strain"):
        return 1 + values, f"'{header}' read as engineering strain: stretch = 1 + strain"
    if column.meaning.quantity in TRUE:
        return np.exp(values), f"'{header}' read as true strain: stretch = exp(strain)"
    return values, "" if size == 1 else f"'{header}' in percent"
