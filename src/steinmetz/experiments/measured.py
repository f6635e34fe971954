"""Rows of a table that came through the door as `Observations`."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from steinmetz.data import noise
from steinmetz.data.table import Table
from steinmetz.experiments.base import Experiment, Rows
from steinmetz.experiments.checks import free_faces
from steinmetz.experiments.columns import CURVE
from steinmetz.materials.base import Material
from steinmetz.records import Observations

Stress = Float[np.ndarray, "rows components"]
# Noise of free sides as a share of the stress, where that of the stress is to be estimated.
_SHARE = 0.05


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

    The columns of the experiment are complete, and every state is possible: `door` has seen to
    that. A component column may have empty cells. A column `sd_X` gives the absolute standard
    deviation of component X row by row and replaces the noise of `config` there. A column `curve`
    numbers the test curves; without it all rows are one.
    """
    components = _components(material, table)
    rows = np.stack([table.column(name) for name in experiment.columns], axis=1)
    values = np.stack([table.column(name) for name in components], axis=1)
    keep = np.isfinite(values).any(axis=1)
    notes = _notes(table, keep)
    absolute, relative = _noise(table, components, values, config)
    _of_sides(experiment, table, components, values, (absolute, relative))
    seen = np.isfinite(values)
    state = experiment.states(rows[keep])
    at = experiment.map(material, state, components)
    cells = (np.where(seen, values, 0.0), seen, absolute, relative)
    stress, measured, *deviations = (jnp.asarray(array[keep]) for array in cells)
    parts = (stress, measured, deviations[0], deviations[1], components)
    data = Observations(state, at.inputs, at.operator, *parts)
    return Reading(data, rows[keep], _curves(table)[keep], np.asarray(table.lines)[keep], notes)


def _of_sides(
    experiment: Experiment,
    table: Table,
    components: tuple[str, ...],
    values: Stress,
    noise: tuple[Stress, Stress],
) -> None:
    """Put the noise of free sides, whose stress is zero, into the absolute and relative noise.

    An error of the lateral stretch shows there, and does not grow with the stress: the relative
    noise is taken of the root mean square of what was measured, `_SHARE` where it is estimated.
    """
    faces = [name for name in free_faces(experiment) if name in components]
    own = [index for index, name in enumerate(components) if name not in faces]
    usual = float(np.sqrt(np.nanmean(values[:, own] ** 2)))
    absolute, relative = noise
    for index in (components.index(name) for name in faces if f"sd_{name}" not in table.columns):
        share = np.nan_to_num(relative[:, index], nan=_SHARE)
        absolute[:, index] = np.hypot(np.nan_to_num(absolute[:, index]), share * usual)
        relative[:, index] = 0.0


def _curves(table: Table) -> Float[np.ndarray, "rows"]:
    """The number of the curve of every row."""
    return table.column(CURVE) if CURVE in table.columns else np.zeros(len(table.lines))


def _components(material: Material, table: Table) -> tuple[str, ...]:
    """Observed components; a transposed twin (S21 beside S12) is dropped."""
    names = [name for name in table.columns if name in material.components]
    return tuple(name for name in names if material.aliases.get(name) not in names)


def _notes(table: Table, keep: Bool[np.ndarray, "rows"]) -> list[str]:
    """What of the table is not used."""
    if keep.all():
        return []
    lines = ", ".join(str(line) for line in table.lines[~keep][:5])
    return [f"{int((~keep).sum())} rows without any stress value left out (line {lines})"]


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
        absolute[:, index] = np.where(np.isfinite(given), given, 0.0)
        relative[:, index] = 0.0
    return absolute, relative
