"""Forces over the undeformed area as nominal stress."""

import numpy as np
from jaxtyping import Float

from steinmetz.data import headers, units
from steinmetz.data.complaints import Place
from steinmetz.errors import InputError
from steinmetz.experiments.columns import Columns
from steinmetz.experiments.parts import Part, index_of

Column = Float[np.ndarray, "rows"]
_MEGAPASCAL = units.of_stress("MPa")


def read(columns: Columns, area: str, stress: bool) -> list[Part]:
    """Forces over the undeformed area as nominal stress, in MPa."""
    found = columns.where(lambda meaning: meaning.quantity == "force")
    if columns.experiment.free is None or not found:
        return []
    areas = columns.where(lambda meaning: meaning.quantity == "area")
    if not areas and not area:
        if not stress:
            words = "a force needs the undeformed area: a column 'area (mm^2)' or --area '12 mm^2'"
            columns.complain(words, columns.meanings[found[0]].header)
        return []
    parts = []
    for index in found:
        name, over = index_of(columns, columns.meanings[index]), _area(columns, areas, index, area)
        force = columns.read(index)
        if force.unit is None:
            words = f"a force needs its unit, such as 'force (N)'; possible: {units.names('force')}"
            columns.complain(words, force.meaning.header)
        elif name is not None and over is not None:
            note = f"'{force.meaning.header}' over the undeformed area read as P{name}"
            values = force.values * force.unit.size / over / _MEGAPASCAL.size
            words = headers.IN_WORDS["P"]
            part = Part(f"P{name}", values, _MEGAPASCAL, force.meaning.header, words)
            parts.append(part._replace(note=note))
    return parts


def _area(columns: Columns, areas: list[int], force: int, declared: str) -> Column | None:
    """The undeformed area of every row in m²: the column of the same index, or the only one."""
    if not areas:
        try:
            return np.full(len(columns.sheet.rows), units.area(declared))
        except InputError as error:
            columns.complain(f"area {error}")
            return None
    wanted = columns.meanings[force].axes
    same = [index for index in areas if columns.meanings[index].axes == wanted] or areas
    if len(same) > 1:
        columns.one(same, "the area")
        return None
    column = columns.read(same[0])
    place = Place(columns.sheet.source, column.meaning.header)
    if column.unit is None:
        columns.complain("an area needs its unit, such as 'area (mm^2)'", column.meaning.header)
        return None
    for row in np.flatnonzero(column.values <= 0):
        words = "an area must be positive"
        columns.complaints.add(place, words, columns.sheet.lines[row])
    positive = np.where(column.values > 0, column.values, np.nan)
    return np.asarray(positive * column.unit.size)
