"""Stress columns of a sheet as components in one unit, with declared measures only.

In tests with a free face everything becomes nominal stress where that takes one component; with F
in full, components stay in the measure they were given in.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from steinmetz.data import headers, units
from steinmetz.data.complaints import Place
from steinmetz.data.headers import Measure
from steinmetz.data.units import Unit
from steinmetz.errors import InputError
from steinmetz.experiments import checks, forces, nominal
from steinmetz.experiments.columns import Columns, State
from steinmetz.experiments.parts import Part, index_of
from steinmetz.experiments.quantities import Measured

Column = Float[np.ndarray, "rows"]
# Stress below this is none in any unit.
_SMALLEST = 1e-30


class Said(NamedTuple):
    """What settings or comments say of stress columns that do not say it themselves."""

    unit: str
    measure: str
    area: str


class Stress(NamedTuple):
    """Components by name and their deviations, all in one unit (empty where none is declared)."""

    values: dict[str, Column]
    written: dict[str, str]
    measures: list[str]
    unit: str
    notes: list[str]


def read(columns: Columns, state: State, said: Said) -> Stress | None:
    """Every stress of a sheet; None where there is none that can be read."""
    before = len(columns.complaints)
    measure = _measure(columns, said.measure)
    parts = []
    for index in columns.where(lambda meaning: meaning.quantity == "stress"):
        part = _component(columns, state, index, measure)
        parts += [part] if part is not None else []
    parts += _plain(columns)
    parts += forces.read(columns, said.area, bool(parts))
    parts = _once(columns, parts)
    if not parts:
        if len(columns.complaints) == before:
            columns.complain(_none(columns))
        return None
    unit = _unit(columns, parts, said.unit)
    values, written, notes = {}, {}, list[str]()
    for part in parts:
        ratio = 1.0 if unit is None or part.unit is None else part.unit.size / unit.size
        values[part.component], written[part.component] = part.values * ratio, part.header
        notes += [part.note] if part.note else []
        if ratio != 1 and part.unit is not None and unit is not None:
            notes.append(f"'{part.header}' converted from {part.unit.name} to {unit.name}")
    for part in _deviations(columns, parts, measure):
        ratio = 1.0 if unit is None or part.unit is None else part.unit.size / unit.size
        values[part.component], written[part.component] = part.values * ratio, part.header
    nothing = all(np.all(np.nan_to_num(np.abs(part.values)) < _SMALLEST) for part in parts)
    if nothing and len(columns.complaints) == before:
        columns.complain("every stress value is zero or missing; there is nothing to fit")
    measures = [part.measure for part in parts if part.measure]
    return Stress(values, written, measures, "" if unit is None else unit.name, notes)


def _none(columns: Columns) -> str:
    possible = ", ".join(columns.material.components)
    return (
        "no stress column; name columns by measure and component, such as P11 (MPa), or "
        f"nominal_stress_MPa; possible: {possible}"
    )


def _measure(columns: Columns, word: str) -> Measure | None:
    """The measure that a setting or comment declares."""
    if not word:
        return None
    try:
        return headers.measure(word)
    except InputError as error:
        columns.complain(str(error))
        return None


def _component(columns: Columns, state: State, index: int, declared: Measure | None) -> Part | None:
    """One stress column: its measure and component, converted to P where that is possible."""
    meaning = columns.meanings[index]
    column = columns.read(index)
    own: Measure | None = meaning.measure or None
    if own is None and declared is None:
        columns.complain(
            "the stress measure is not declared; name the column nominal_stress, cauchy_stress or "
            "second_piola_stress, or give --measure nominal, cauchy or second_piola",
            meaning.header,
        )
        return None
    if own is not None and declared is not None and own != declared:
        words = f"the name says {headers.IN_WORDS[own]}, the declared measure "
        words += f"{headers.IN_WORDS[declared]}; rename the column or leave the other out"
        columns.complain(words, meaning.header)
        return None
    name = index_of(columns, meaning)
    if name is None:
        return None
    return _as_nominal(columns, state, own or declared or "P", name, column)


def _as_nominal(
    columns: Columns, state: State, measure: Measure, index: str, column: Measured
) -> Part | None:
    header, words = column.meaning.header, headers.IN_WORDS[measure]
    given = name = f"{measure}{index}"
    factor, note = _factor(columns, state, measure, index), ""
    if measure != "P" and factor is not None:
        name = f"P{index}"
        note = f"'{header}' read as {words} stress and converted to nominal stress P{index}"
    if name not in columns.material.components:
        possible = ", ".join(columns.material.components)
        columns.complain(f"this material has no {name}; possible: {possible}", header)
        return None
    scale = 1.0 if factor is None or measure == "P" else factor
    return Part(name, column.values * scale, column.unit, header, words, given, scale, note)


def _factor(columns: Columns, state: State, measure: Measure, index: str) -> Column | None:
    """What makes a component nominal, row by row; NaN where the state is not possible."""
    experiment = columns.experiment
    if experiment.free is None:
        return None
    rows = np.stack([state.values[name] for name in experiment.columns], axis=1)
    whole = np.isfinite(rows).all(axis=1)
    whole[whole] = [not checks.fault(experiment, row) for row in rows[whole]]
    found = np.full(len(rows), np.nan)
    if whole.any():
        F = experiment.states(rows[whole]).reshape(-1, 3, 3)
        factor = nominal.factor(measure, index, F)
        if factor is None:
            return None
        found[whole] = factor
    return found


def _plain(columns: Columns) -> list[Part]:
    """Observed quantities that are no stress, such as a chemical potential, by their exact name."""
    known = columns.material.components
    names = columns.where(lambda m: m.quantity == "other" and headers.bare(m.header) in known)
    parts = []
    for index in names:
        header = columns.meanings[index].header
        meaning = columns.meanings[index]._replace(quantity="stress")
        column = columns._replace(meanings=[*columns.meanings[:index], meaning]).read(index)
        parts.append(Part(headers.bare(header), column.values, column.unit, header, ""))
    return parts


def _once(columns: Columns, parts: list[Part]) -> list[Part]:
    """Every component once; two columns of one are complained about."""
    kept: dict[str, Part] = {}
    for part in parts:
        if part.component in kept:
            first = kept[part.component].header
            columns.complain(
                f"columns '{first}' and '{part.header}' both give {part.component}; keep one, or "
                "rename the other"
            )
        kept.setdefault(part.component, part)
    return list(kept.values())


def _unit(columns: Columns, parts: list[Part], said: str) -> Unit | None:
    """The unit of a table: that of its first stress; every stress has one, or none has."""
    declared = None
    if said:
        try:
            declared = units.of_stress(said)
        except InputError as error:
            columns.complain(f"unit {error}")
    known = [part for part in parts if part.unit is not None]
    for part in known:
        if declared is not None and part.unit != declared and part.header in _names(columns):
            words = f"the table says {part.unit.name if part.unit else ''}, --unit {declared.name};"
            columns.complain(f"{words} correct one of them", part.header)
    silent = [part for part in parts if part.unit is None and part.measure]
    if known and silent and declared is None:
        words = f"no unit, but '{known[0].header}' has one; write it into the header"
        columns.complain(words, silent[0].header)
    return known[0].unit if known else declared


def _names(columns: Columns) -> list[str]:
    """Headers of stress columns: a force says its own unit, not that of stress."""
    return [meaning.header for meaning in columns.meanings if meaning.quantity == "stress"]


def _deviations(columns: Columns, parts: list[Part], declared: Measure | None) -> list[Part]:
    """Standard deviations, converted as the component they belong to."""
    found = []
    by_name = {part.given or part.component: part for part in parts}
    for index, meaning in enumerate(columns.meanings):
        if not meaning.deviation:
            continue
        name = headers.bare(meaning.header)[3:]
        if meaning.quantity == "stress":
            name = f"{meaning.measure or declared or ''}{index_of(columns, meaning) or ''}"
        part = by_name.get(name)
        if part is None:
            continue
        column = columns._replace(
            meanings=[*columns.meanings[:index], meaning._replace(quantity="stress")]
        ).read(index)
        place = Place(columns.sheet.source, meaning.header)
        for row in np.flatnonzero(np.isfinite(part.values) & ~(column.values >= 0)):
            words = "a standard deviation must be a number, zero or larger"
            columns.complaints.add(place, words, columns.sheet.lines[row])
        unit = column.unit or part.unit
        values = np.abs(column.values * part.factor)
        found.append(Part(f"sd_{part.component}", values, unit, meaning.header, part.measure))
    return found
