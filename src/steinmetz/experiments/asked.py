"""Tables of states at which the stress is asked for: read as measured ones, a stress is not needed.

Where a table has stress columns that are understood, they come along as measured.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from steinmetz.data import table, units
from steinmetz.data.complaints import Complaints
from steinmetz.data.table import Table
from steinmetz.errors import InputError
from steinmetz.experiments import checks, door, modes, stresses
from steinmetz.experiments.base import Experiment
from steinmetz.experiments.columns import Columns, State
from steinmetz.experiments.door import Declared, Wanted
from steinmetz.materials.base import Material

Column = Float[np.ndarray, "rows"]


class Asked(NamedTuple):
    """States of one test: columns of the experiment, and components that were measured there.

    `unit` is that of what was measured, empty where none is declared; `notes` say what was
    understood, and what of the stress was not.
    """

    table: Table
    experiment: Experiment
    measured: tuple[str, ...]
    unit: str
    notes: list[str]


def tests_of(path: Path, given: str | None, usual: list[str]) -> list[str]:
    """The tests of a table: the one that is given, those it names, or the only usual one.

    Raises where a table cannot be read, and where it does not say which of several it is of.
    """
    if given is not None:
        return [modes.known(given)]
    found = modes.of(table.read(path, Complaints()))
    if found:
        return found
    if len(usual) == 1:
        return usual
    raise InputError(
        f"{path}: which test its rows are of is not said; give --experiment, a column 'mode' or a "
        f"comment '# mode: {usual[0]}'; the run has {', '.join(usual)}"
    )


def read(
    material: Material, path: Path, tests: list[Experiment], declared: Declared
) -> list[Asked]:
    """The states of a table, test by test; raises everything that is wrong with any of them.

    `declared` is what is said of stress columns that say nothing themselves.
    """
    complaints = Complaints()
    found = [_one(material, Wanted(path, test, declared), complaints) for test in tests]
    complaints.raise_any()
    return [each for each in found if each is not None]


def _one(material: Material, wanted: Wanted, complaints: Complaints) -> Asked | None:
    """The rows of one test."""
    whole = door.opened(material, wanted, complaints, stress=False)
    if whole is None:
        return None
    columns, state = whole
    stress, notes = _measured(columns, state, wanted.declared)
    found = {**state.values, **stress.values}
    values = np.stack([np.asarray(column) for column in found.values()], axis=1)
    made = Table(columns.sheet.source, tuple(found), values, np.array(columns.sheet.lines))
    names = tuple(name for name in stress.values if not name.startswith("sd_"))
    notes = [*columns.sheet.notes, *state.notes, *stress.notes, *notes]
    return Asked(made, wanted.experiment, names, stress.unit, notes)


def _measured(
    columns: Columns, state: State, declared: Declared
) -> tuple[stresses.Stress, list[str]]:
    """Stress columns by what they say themselves, else by what is declared; a note if neither."""
    nothing, said = stresses.Stress({}, {}, [], "", []), list[str]()
    for outside in (Declared(), declared):
        own = Complaints()
        alone = columns._replace(complaints=own)
        found = stresses.read(alone, state, door.said(columns.sheet, outside, own))
        if found is not None:
            checks.twins(columns.material, found.values, columns.sheet, own)
        if found is not None and len(own) == 0:
            return found, []
        said = said or own.sentences()
    if not said or not _given(columns):
        return nothing, []
    return nothing, [f"no measured stress is shown: {said[0].partition(';')[0]}"]


def _given(columns: Columns) -> bool:
    """Whether any cell of a stress or force column has a value."""
    kinds = ("stress", "force")
    places = [i for i, meaning in enumerate(columns.meanings) if meaning.quantity in kinds]
    cells = (cell for index in places for cell in columns.sheet.cells(index))
    return any(cell.lower() not in table.MISSING for cell in cells)


def in_unit(asked: Asked, unit: str) -> Asked:
    """The same with what was measured in the unit of a law; left out where it has no such unit."""
    if not asked.measured or asked.unit == unit:
        return asked
    if not asked.unit or not unit:
        note = f"measured stress is in {asked.unit or 'no unit'}, the law in {unit or 'no unit'}"
        return asked._replace(measured=(), notes=[*asked.notes, f"{note}; it is not shown"])
    ratio = units.of_stress(asked.unit).size / units.of_stress(unit).size
    values = asked.table.values.copy()
    for index, name in enumerate(asked.table.columns):
        if name not in asked.experiment.columns:
            values[:, index] *= ratio
    notes = [*asked.notes, f"measured stress converted from {asked.unit} to {unit}"]
    return asked._replace(table=asked.table._replace(values=values), unit=unit, notes=notes)
