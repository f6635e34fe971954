"""The door for measured tables: from what people have to the columns of an experiment.

Everything is declared, in the header, a row of units, a comment or a setting: the test, the stress
measure, the unit. What is not declared is asked for, and every complaint of all tables is said at
once. Behind the door there are stretches or entries of F, components of P (of P, S and σ where F is
given in full), one unit for all.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from steinmetz.data import branches, table, units
from steinmetz.data.complaints import Complaints, Place
from steinmetz.data.table import Sheet, Table
from steinmetz.experiments import checks, modes, quantities, stresses
from steinmetz.experiments.base import Experiment
from steinmetz.experiments.columns import CURVE, Columns, State
from steinmetz.experiments.lateral import Lateral
from steinmetz.materials.base import Material

Column = Float[np.ndarray, "rows"]


class Declared(NamedTuple):
    """What is said of a table outside of it; empty where nothing is."""

    unit: str = ""
    measure: str = ""
    area: str = ""
    branch: branches.Branch = "both"


class Wanted(NamedTuple):
    """One table of one experiment."""

    path: Path
    experiment: Experiment
    declared: Declared = Declared()


class Clean(NamedTuple):
    """A table as an experiment wants it.

    `unit` is that of every stress, empty where none is declared; `written` are the headers that
    columns of the table come from, `measures` the stress measures they declare; `missing` counts
    empty cells of used columns; `notes` say what was understood and what is odd.
    """

    table: Table
    experiment: Experiment
    unit: str
    written: dict[str, str]
    measures: tuple[str, ...]
    missing: int
    notes: list[str]


def modes_of(path: Path) -> list[str]:
    """The tests that a file says it holds; none where it says nothing or cannot be read."""
    try:
        return modes.of(table.read(path, Complaints()))
    except ValueError:
        return []


def read(material: Material, wanted: Sequence[Wanted]) -> list[Clean]:
    """All tables in one unit; raises everything that is wrong with any of them."""
    complaints = Complaints()
    read = [_one(material, each, complaints) for each in wanted]
    _check_units(read, complaints)
    complaints.raise_any()
    whole = [each for each in read if each is not None]
    left_out = _other_modes(wanted)
    return [
        _odd(_in_unit(each, whole[0].unit), notes)
        for each, notes in zip(whole, left_out, strict=True)
    ]


def opened(
    material: Material, wanted: Wanted, complaints: Complaints, stress: bool = True
) -> tuple[Columns, State] | None:
    """A table with the state of every row; None where complaints say why there is none.

    `stress` says whether the table needs a stress besides.
    """
    try:
        sheet = table.read(wanted.path, complaints)
    except ValueError as error:
        complaints.add(Place(""), str(error))
        return None
    sheet = sheet._replace(source=_shown(sheet.source))
    sheet = modes.rows_of(sheet, wanted.experiment.name, complaints)
    sheet, meanings = quantities.meanings(sheet, complaints)
    columns = Columns(material, wanted.experiment, sheet, meanings, complaints, stress)
    state = columns.state()
    if state is None:
        return None
    checks.state(material, wanted.experiment, state, sheet, complaints)
    return columns, state


def _one(material: Material, wanted: Wanted, complaints: Complaints) -> Clean | None:
    """One table, in its own unit; None where complaints say why not."""
    before = len(complaints)
    whole = opened(material, wanted, complaints)
    if whole is None:
        return None
    columns, state = whole
    sheet = columns.sheet
    stress = stresses.read(columns, state, said(sheet, wanted.declared, complaints))
    found = {**state.values, **({} if stress is None else stress.values), **columns.curves()}
    found |= {} if stress is None else _sides(wanted.experiment, stress)
    checks.twins(material, found, sheet, complaints)
    if len(complaints) > before or stress is None:
        return None
    kept = _branch(wanted, found, sheet)
    made = Table(
        sheet.source,
        tuple(found),
        np.stack([np.asarray(values)[kept] for values in found.values()], axis=1),
        np.array(sheet.lines)[kept],
    )
    written = {**state.written, **stress.written}
    missing = int(np.sum(~np.isfinite(made.values)))
    notes = [*sheet.notes, *state.notes, *stress.notes, *columns.unused({*written.values()})]
    notes += _left_out(kept, wanted.declared.branch)
    if isinstance(wanted.experiment, Lateral):
        notes += wanted.experiment.notes(made.values[:, : len(wanted.experiment.columns)])
    measures = tuple(dict.fromkeys(stress.measures))
    return Clean(made, wanted.experiment, stress.unit, written, measures, missing, notes)


def _sides(experiment: Experiment, stress: stresses.Stress) -> dict[str, Column]:
    """Zeros on free sides in rows that have a stress, where the table does not have them itself."""
    loaded = [values for name, values in stress.values.items() if name[:3] != "sd_"]
    measured = np.any([np.isfinite(values) for values in loaded], axis=0)
    faces = [name for name in checks.free_faces(experiment) if name not in stress.values]
    return {name: np.where(measured, 0.0, np.nan) for name in faces}


def _shown(source: str) -> str:
    """A path as a person would write it: from here, if the file lies below."""
    try:
        return str(Path(source).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return source


def said(sheet: Sheet, declared: Declared, complaints: Complaints) -> stresses.Said:
    """Unit, measure and area, by settings or by comments, which must not contradict them."""
    found = []
    for name, given in (
        ("unit", declared.unit),
        ("measure", declared.measure),
        ("area", declared.area),
    ):
        comment = sheet.declared.get(name, "")
        if given and comment and given != comment:
            words = f"a comment says {name} '{comment}', but '{given}' is asked for; correct one"
            complaints.add(Place(sheet.source), words)
        found.append(given or comment)
    return stresses.Said(*found)


def _branch(wanted: Wanted, found: dict[str, Column], sheet: Sheet) -> np.ndarray:
    """Rows of the branch that is asked for, curve by curve."""
    keep = np.ones(len(sheet.lines), bool)
    branch, away = wanted.declared.branch, checks.away(wanted.experiment, found)
    if branch == "both" or away is None:
        return keep
    for rows in checks.curves(found):
        back = branches.unloading(away[rows])
        keep[rows] = back if branch == "unloading" else ~back
    return keep


def _left_out(kept: np.ndarray, branch: str) -> list[str]:
    other = "unloading" if branch == "loading" else "loading"
    gone = int(np.sum(~kept))
    return [f"{gone} rows of {other} left out"] if gone else []


def _check_units(read: Sequence[Clean | None], complaints: Complaints) -> None:
    """Either every table has a unit, or none has."""
    known = [each for each in read if each is not None]
    with_unit = [each for each in known if each.unit]
    if not with_unit or len(with_unit) == len(known):
        return
    for each in known:
        if not each.unit:
            words = (
                f"no unit of stress, but {with_unit[0].table.source} is in {with_unit[0].unit}; "
                f"write it into the header, such as 'P11 ({with_unit[0].unit})', or give --unit"
            )
            complaints.add(Place(each.table.source), words)


def _in_unit(clean: Clean, unit: str) -> Clean:
    """The same table in the unit of the first."""
    if clean.unit == unit:
        return clean
    ratio = units.of_stress(clean.unit).size / units.of_stress(unit).size
    values = clean.table.values.copy()
    for index, name in enumerate(clean.table.columns):
        if name not in clean.experiment.columns and name != CURVE:
            values[:, index] *= ratio
    note = f"{clean.unit} converted to {unit}"
    table = clean.table._replace(values=values)
    return clean._replace(table=table, unit=unit, notes=[*clean.notes, note])


def _other_modes(wanted: Sequence[Wanted]) -> list[list[str]]:
    """For every table, what it holds of tests that nobody asked for."""
    found = []
    for each in wanted:
        asked = {other.experiment.name for other in wanted if other.path == each.path}
        rest = [name for name in modes_of(each.path) if name not in asked]
        found.append([f"rows of {', '.join(rest)} left out"] if rest else [])
    return found


def _odd(clean: Clean, more: list[str]) -> Clean:
    """The table with notes on what is missing and odd."""
    notes = [*clean.notes, *more, *checks.missing(clean.table, clean.written)]
    notes += checks.odd(clean.experiment, clean.table, clean.written)
    return clean._replace(notes=notes)
