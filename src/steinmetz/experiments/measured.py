"""Rows of a measured table as `Observations`, every complaint with its place."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from steinmetz.data import noise
from steinmetz.data.table import Table
from steinmetz.errors import InputError
from steinmetz.experiments.base import Experiment, Rows
from steinmetz.materials.base import Material
from steinmetz.records import Observations

Stress = Float[np.ndarray, "rows components"]
# A column of this name numbers the test curves of a table.
_CURVE = "curve"


class Reading(NamedTuple):
    """The rows of a table that have a stress.

    Their columns, the curve and the line each belongs to, and notes on what was left out.
    """

    observations: Observations
    rows: Rows
    curves: Float[np.ndarray, "rows"]
    lines: Int[np.ndarray, "rows"]
    notes: list[str]


def observations(
    material: Material, experiment: Experiment, table: Table, config: noise.Config
) -> Reading:
    """The rows of a table that have a stress, and what was left out.

    The columns of the experiment must be complete. A component column may have empty cells. A
    column `sd_X` gives the absolute standard deviation of component X row by row and replaces the
    noise of `config` there. A column `curve` numbers the test curves; without it all rows are one.
    """
    missing = [name for name in experiment.columns if name not in table.columns]
    if missing:
        raise InputError(
            f"{table.source}: column '{missing[0]}' is missing; needed are "
            f"{', '.join(experiment.columns)} and at least one stress column such as "
            f"{experiment.observed[0]}"
        )
    components = _components(material, table)
    rows = np.stack([table.column(name) for name in experiment.columns], axis=1)
    values = np.stack([table.column(name) for name in components], axis=1)
    _check_rows(material, experiment, table, rows)
    keep = np.isfinite(values).any(axis=1)
    notes = _notes(material, experiment, table, components, keep)
    absolute, relative = _noise(table, components, values, config)
    seen = np.isfinite(values)
    if not np.any(values[seen]):
        raise InputError(
            f"{table.source}: every stress value is zero or missing; there is nothing to fit"
        )
    state = experiment.states(rows[keep])
    at = experiment.map(material, state, components)
    cells = (np.where(seen, values, 0.0), seen, absolute, relative)
    stress, measured, *deviations = (jnp.asarray(array[keep]) for array in cells)
    parts = (stress, measured, deviations[0], deviations[1], components)
    data = Observations(state, at.inputs, at.operator, *parts)
    return Reading(data, rows[keep], _curves(table)[keep], np.asarray(table.lines)[keep], notes)


def _curves(table: Table) -> Float[np.ndarray, "rows"]:
    """The number of the curve of every row."""
    if _CURVE not in table.columns:
        return np.zeros(len(table.lines))
    curves = table.column(_CURVE)
    empty = np.flatnonzero(~np.isfinite(curves))
    if empty.size:
        raise InputError(
            f"{table.source}, line {table.lines[empty[0]]}, column '{_CURVE}': empty, but every "
            "row needs the number of its curve"
        )
    return curves


def _components(material: Material, table: Table) -> tuple[str, ...]:
    """Observed components; a transposed twin (S21 beside S12) must agree and is then dropped."""
    names = [name for name in table.columns if name in material.components]
    if not names:
        raise InputError(
            f"{table.source}: no stress column; name columns by measure and component, possible: "
            f"{', '.join(material.components)}"
        )
    for name in list(names):
        twin = material.aliases.get(name)
        if twin not in names:
            continue
        first, second = table.column(name), table.column(str(twin))
        both = np.isfinite(first) & np.isfinite(second)
        differ = np.flatnonzero(both & ~np.isclose(first, second))
        if differ.size:
            raise InputError(
                f"{table.source}, line {table.lines[differ[0]]}: columns '{name}' and '{twin}' "
                "differ, but this stress is symmetric; keep one of them"
            )
        if np.any(np.isfinite(first) & ~np.isfinite(second)):
            raise InputError(
                f"{table.source}: columns '{name}' and '{twin}' are the same stress; merge them "
                "into one"
            )
        names.remove(name)
    return tuple(names)


def _check_rows(material: Material, experiment: Experiment, table: Table, rows: Rows) -> None:
    """Every row complete, and its state possible."""
    empty = np.argwhere(~np.isfinite(rows))
    if len(empty):
        row, column = empty[0]
        raise InputError(
            f"{table.source}, line {table.lines[row]}, column '{experiment.columns[column]}': "
            "empty, but every row needs its state"
        )
    faults = [experiment.fault(row) for row in rows]
    wrong = np.flatnonzero([bool(fault) for fault in faults])
    if not wrong.size:
        states = experiment.states(rows)
        wrong = np.flatnonzero(~material.possible(states))
        faults = [material.fault(state) for state in states[wrong[:1]]]
    else:
        faults = [faults[wrong[0]]]
    if wrong.size:
        ends = dict.fromkeys((experiment.columns[0], experiment.columns[-1]))
        columns = f"column{'s' if len(ends) > 1 else ''} {'…'.join(ends)}"
        raise InputError(f"{table.source}, line {table.lines[wrong[0]]}, {columns}: {faults[0]}")


def _notes(
    material: Material,
    experiment: Experiment,
    table: Table,
    components: tuple[str, ...],
    keep: Bool[np.ndarray, "rows"],
) -> list[str]:
    """What of the table is not used."""
    notes = []
    used = {*experiment.columns, *components, *(f"sd_{name}" for name in components), _CURVE}
    ignored = [name for name in table.columns if name not in used and name not in material.aliases]
    if ignored:
        notes.append(f"columns not used: {', '.join(ignored)}")
    if not keep.all():
        lines = ", ".join(str(line) for line in table.lines[~keep][:5])
        notes.append(f"{int((~keep).sum())} rows without any stress value left out (line {lines})")
    return notes


def _noise(
    table: Table, components: tuple[str, ...], values: Stress, config: noise.Config
) -> tuple[Stress, Stress]:
    """Absolute and relative deviation of every cell."""
    relative, absolute = (np.full(values.shape, size) for size in config.numbers)
    for index, name in enumerate(components):
        column = f"sd_{name}"
        if column not in table.columns:
            continue
        given = table.column(column)
        wrong = np.flatnonzero(np.isfinite(values[:, index]) & ~(given >= 0))
        if wrong.size:
            raise InputError(
                f"{table.source}, line {table.lines[wrong[0]]}, column '{column}': a standard "
                "deviation must be a number, zero or larger"
            )
        absolute[:, index] = np.where(np.isfinite(given), given, 0.0)
        relative[:, index] = 0.0
    return absolute, relative
