"""Checks of a table whose columns are understood: states that are possible, twins, odd curves."""

import numpy as np
from jaxtyping import Float, Int

from steinmetz.data import examine
from steinmetz.data.complaints import Complaints, Place
from steinmetz.data.table import Sheet, Table
from steinmetz.experiments.base import Experiment, Row
from steinmetz.experiments.columns import CURVE, State
from steinmetz.experiments.incompressible import Incompressible
from steinmetz.experiments.lateral import COLUMN, Lateral
from steinmetz.materials.base import Material

Column = Float[np.ndarray, "rows"]
# No test compresses further.
_SMALLEST = 1e-3


def fault(experiment: Experiment, row: Row) -> str:
    """Why a row is not possible, and what may be meant; empty where it is."""
    found = experiment.fault(row)
    if not found and isinstance(experiment, Incompressible) and experiment.rest == 1:
        found = f"a stretch of {min(row):.3g} is none" if min(row) < _SMALLEST else ""
    return f"{found}; a strain belongs into a column 'strain'" if "stretch" in found else found


def state(
    material: Material, experiment: Experiment, given: State, sheet: Sheet, complaints: Complaints
) -> None:
    """Every row complete, and its state possible; all that are not are named."""
    rows = np.stack([given.values[name] for name in experiment.columns], axis=1)
    for name in experiment.columns:
        header = given.written[name]
        for row in np.flatnonzero(given.empty[name]):
            words = "empty, but every row needs its state; fill it or delete the row"
            complaints.add(Place(sheet.source, header), words, sheet.lines[row])
    whole = np.flatnonzero(np.isfinite(rows).all(axis=1))
    ends = dict.fromkeys(
        (given.written[experiment.columns[0]], given.written[experiment.columns[-1]])
    )
    place = Place(sheet.source, "…".join(ends))
    possible = []
    for row in whole:
        if words := fault(experiment, rows[row]):
            complaints.add(place, words, sheet.lines[row])
        else:
            possible.append(row)
    if not possible:
        return
    states = experiment.states(rows[possible])
    for number in np.flatnonzero(~material.possible(states)):
        words = f"{material.fault(states[number])}; check the signs and the order of the entries"
        complaints.add(place, words, sheet.lines[possible[number]], "state")


def twins(
    material: Material, found: dict[str, Column], sheet: Sheet, complaints: Complaints
) -> None:
    """Components that are the same by symmetry must agree."""
    for name, twin in material.aliases.items():
        if name not in found or twin not in found:
            continue
        both = np.isfinite(found[name]) & np.isfinite(found[twin])
        for row in np.flatnonzero(both & ~np.isclose(found[name], found[twin])):
            words = f"columns '{name}' and '{twin}' differ, but this stress is symmetric; keep one"
            complaints.add(Place(sheet.source), words, sheet.lines[row])
        for row in np.flatnonzero(np.isfinite(found[name]) & ~np.isfinite(found[twin])):
            words = f"columns '{name}' and '{twin}' are the same stress; merge them into one"
            complaints.add(Place(sheet.source), words, sheet.lines[row])


def away(experiment: Experiment, found: dict[str, Column]) -> Column | None:
    """How far every row is from rest, with a sign; None where a test has no such number."""
    if not isinstance(experiment, Incompressible):
        return None
    if len(set(experiment.columns) - {COLUMN}) > 1:
        return None
    values = found[experiment.columns[0]]
    return np.asarray(np.log(values) if experiment.rest == 1 else values)


def free_faces(experiment: Experiment) -> tuple[str, ...]:
    """Stress that is zero because a side is free, where that is fitted."""
    return (experiment.face,) if isinstance(experiment, Lateral) else ()


def curves(found: dict[str, Column]) -> list[Int[np.ndarray, "_"]]:
    """Rows of every curve."""
    if CURVE not in found:
        return [np.arange(len(next(iter(found.values()))))]
    numbers = found[CURVE]
    return [
        np.flatnonzero(numbers == number) for number in np.unique(numbers[np.isfinite(numbers)])
    ]


def missing(table: Table, written: dict[str, str]) -> list[str]:
    """How many cells have no value, column by column."""
    notes = []
    for name in table.columns:
        lines = table.lines[~np.isfinite(table.column(name))]
        if lines.size:
            count = "one cell" if lines.size == 1 else f"{lines.size} cells"
            place = f"'{written.get(name, name)}' ({examine.listed(lines)})"
            notes.append(f"{count} of {place} without a value; missing is not zero")
    return notes


def odd(experiment: Experiment, table: Table, written: dict[str, str]) -> list[str]:
    """What is odd about a table, in sentences."""
    found = {name: table.column(name) for name in table.columns}
    silent = (*experiment.columns, CURVE, *free_faces(experiment))
    names = [n for n in found if n not in silent and n[:3] != "sd_"]
    moved = np.any([found[name] != 0 for name in names], axis=0)  # rest may be passed twice
    notes = examine.repeated(table.values[moved], table.lines[moved])
    along = away(experiment, found)
    if along is None:
        return notes
    for rows in curves(found):
        for name in names:
            parts = (along[rows], found[name][rows], table.lines[rows])
            column = written.get(experiment.columns[0], experiment.columns[0])
            notes += examine.curve(examine.Curve(column, written.get(name, name), *parts))
    return notes
