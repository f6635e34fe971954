"""Whether the tables of several tests have the lateral stretch measured: all of them, or none."""

from collections.abc import Sequence
from pathlib import Path

from steinmetz.data import headers, table
from steinmetz.data.complaints import Complaints
from steinmetz.errors import InputError
from steinmetz.experiments import modes
from steinmetz.experiments.columns import is_lateral


def measured(tests: Sequence[tuple[Path, str]]) -> bool:
    """Whether tests that would need a constant volume have a lateral stretch instead.

    A material cannot be compressible in one test and not in another.
    """
    needed = [(path, name) for path, name in tests if name and modes.isochoric(name)]
    found = [modes.may_measure(name) and _there(path, name) for path, name in needed]
    if not any(found):
        return False
    for (path, name), there in zip(needed, found, strict=True):
        if not there:
            raise InputError(
                f"{path}: no lateral stretch of the test '{name}', but another test has one; "
                "measure it in all of them, or set material.incompressible = true to leave it out"
            )
    return True


def asked(name: str, sides: bool) -> dict[str, object]:
    """The setting that names an experiment, if one is named: with its lateral stretch or not."""
    if not name:
        return {}
    aside = {"lateral": True} if sides and modes.may_measure(name) else {}
    return {"experiment": {"name": name, **aside}}


def _there(path: Path, test: str) -> bool:
    """Whether a file has a lateral stretch in any row of a test."""
    try:
        sheet = table.read(path, Complaints())
    except ValueError:
        return False
    rows = modes.rows_of(sheet, test, Complaints())
    places = [i for i, header in enumerate(rows.columns) if is_lateral(headers.read(header))]
    cells = (cell for place in places for cell in rows.cells(place))
    return any(table.is_number(cell) and cell.lower() not in table.MISSING for cell in cells)
