"""Predicted rows of a table as a CSV file, a DataFrame and a few lines."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from steinmetz.assess import measures
from steinmetz.data import formats
from steinmetz.engine.predicted import Predicted
from steinmetz.errors import InputError
from steinmetz.report import whole

if TYPE_CHECKING:
    import pandas

Cell = str | float
# Rows up to which the table is printed too.
_SHORT = 20
# What every component is given by, as a column ends.
_ENDS = ("law", "median", "lower", "upper", "new_lower", "new_upper")


def target_of(table: Path, out: Path | None) -> Path:
    """The file to write: the one that is named, else TABLE-predicted.csv, which must be free."""
    source = formats.file_of(str(table))
    target = out or Path(f"{source.stem}-predicted.csv")
    if out is None and target.exists():
        raise InputError(
            f"there is a file {target} already; name another with --out, or the same to replace it"
        )
    whole.check_file(target)
    if target.exists() and source.exists() and target.samefile(source):
        raise InputError(f"--out {target}: that is the table itself; name another file")
    return target


def rows(found: Sequence[Predicted]) -> list[dict[str, Cell]]:
    """A record per row of the table, in its order; what is not known is not a number."""
    placed: list[tuple[int, dict[str, Cell]]] = []
    for each in found:
        table, several = each.asked.table, len(found) > 1
        numbers = _numbers(each)
        for place, line in enumerate(table.lines):
            head: dict[str, Cell] = {"mode": each.asked.experiment.name} if several else {}
            own = {name: float(column[place]) for name, column in numbers.items()}
            last = {"extrapolated": "yes" if each.extrapolated[place] else "no"}
            placed.append((int(line), {**head, **own, **last}))
    return [row for _, row in sorted(placed, key=lambda pair: pair[0])]


def _numbers(each: Predicted) -> dict[str, np.ndarray]:
    """Columns of one test: its state, then component by component."""
    table = each.asked.table
    found = {name: table.column(name) for name in each.asked.experiment.columns}
    for index, name in enumerate(each.components):
        if name in each.asked.measured:
            found[f"{name}_measured"] = each.measured[:, index]
        parts = (each.law, *each.limits)
        for end, values in zip(_ENDS, parts, strict=True):
            found[f"{name}_{end}"] = values[:, index]
    return found


def names(records: Sequence[dict[str, Cell]]) -> list[str]:
    """All columns, `extrapolated` last."""
    every = dict.fromkeys(name for record in records for name in record)
    return [*(name for name in every if name != "extrapolated"), "extrapolated"]


def frame(found: Sequence[Predicted], unit: str) -> "pandas.DataFrame":
    """The same as a DataFrame; `extrapolated` is true or false, `attrs["unit"]` that of stress."""
    import pandas

    records = rows(found)
    made = pandas.DataFrame(records, columns=names(records))
    made["extrapolated"] = made["extrapolated"] == "yes"
    made.attrs["unit"] = unit
    return made


def text(found: Sequence[Predicted], unit: str) -> str:
    """The file: a unit in the header of every stress, empty cells where nothing is known."""
    records, stream = rows(found), io.StringIO()
    columns = names(records)
    states = {name for each in found for name in each.asked.experiment.columns}
    plain = {"mode", "extrapolated", *states}
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([f"{n} ({unit})" if unit and n not in plain else n for n in columns])
    for record in records:
        writer.writerow([_cell(record.get(name, np.nan)) for name in columns])
    return stream.getvalue()


def _cell(value: Cell) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.10g}" if np.isfinite(value) else ""


def save(found: Sequence[Predicted], unit: str, target: Path) -> None:
    """Write the file, whole or not at all."""
    whole.replace(target, text(found, unit))


def screen(found: Sequence[Predicted], unit: str, target: Path, level: float) -> str:
    """What was predicted, how many rows extrapolate, and the rows themselves if they are few."""
    lines = [""]
    records = rows(found)
    if len(records) <= _SHORT:
        lines += [*_printed(records, level, unit), ""]
    for each in found:
        test = each.asked.experiment.name.replace("_", " ")
        beyond, count = int(each.extrapolated.sum()), len(each.law)
        words = "none extrapolated" if beyond == 0 else f"{beyond} extrapolated: no data reach them"
        lines.append(f"  test        {test}, {count} {'row' if count == 1 else 'rows'}, {words}")
        lines += [f"  measured    {sentence}" for sentence in _judged(each, level)]
        lines += [f"  note        {note}" for note in each.asked.notes]
    if any(np.isnan(each.limits.new_lower).any() for each in found):
        lines.append("  note        without a known noise there is no band of new data")
    return "\n".join([*lines, f"  table       {target}"])


def _printed(records: Sequence[dict[str, Cell]], level: float, unit: str) -> list[str]:
    """States, law and band of the laws, in columns."""
    kept = [n for n in names(records) if not n.endswith(("_median", "_new_lower", "_new_upper"))]
    cells = [kept] + [[_short(record.get(name, np.nan)) for name in kept] for record in records]
    widths = [max(len(row[index]) for row in cells) for index in range(len(kept))]
    lines = [
        "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    ]
    of = f"stress in {unit}; " if unit else ""
    return [*lines, "", f"  {of}lower and upper are the ends of the {100 * level:g} % band of laws"]


def _short(value: Cell) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.4g}" if np.isfinite(value) else "–"


def _judged(each: Predicted, level: float) -> list[str]:
    """R² of the law and how many measured values lie in the band of new data."""
    values = each.measured
    seen = np.isfinite(values)
    if not seen.any():
        return []
    r2 = measures.r2(each.law, np.where(seen, values, 0.0), seen)
    known = seen & np.isfinite(each.limits.new_lower)
    with np.errstate(invalid="ignore"):
        inside = (values >= each.limits.new_lower) & (values <= each.limits.new_upper)
    parts = [] if r2 is None else [f"R² of the law {r2:.4f}"]
    if known.any():
        held, count = int((inside & known).sum()), int(known.sum())
        parts.append(f"{held} of {count} values in the {100 * level:g} % band of new data")
    return [", ".join(parts)] if parts else []
