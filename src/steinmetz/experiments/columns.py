"""Columns of a sheet as those of an experiment: which gives what, and the state of every row."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from steinmetz.data import headers
from steinmetz.data.complaints import Complaints, Place
from steinmetz.data.headers import Meaning
from steinmetz.data.table import Sheet
from steinmetz.experiments import quantities
from steinmetz.experiments.base import Experiment
from steinmetz.experiments.lateral import COLUMN
from steinmetz.experiments.quantities import Measured
from steinmetz.materials.base import Material

Column = Float[np.ndarray, "rows"]
# A column of this name numbers the test curves of a table.
CURVE = "curve"
# A strain above this is hardly meant without a percent sign.
_PERCENT = 10.0
_STRETCHES = ("stretch", "strain", "true strain")
_LATERAL = ("lateral stretch", "lateral strain", "lateral true strain")
# Indices under which a column of an experiment may stand.
_DIRECTIONS = {
    "stretch": ("", "1", "11"),
    "stretch1": ("1", "11"),
    "stretch2": ("2", "22"),
    "shear": ("", "12"),
}


def is_lateral(meaning: Meaning) -> bool:
    """Whether a column says how much the sides move."""
    return meaning.quantity in _LATERAL and not meaning.deviation


class State(NamedTuple):
    """Columns of an experiment, where each comes from, and which cells of it are empty."""

    values: dict[str, Column]
    written: dict[str, str]
    empty: dict[str, Bool[np.ndarray, "rows"]]
    notes: list[str]


class Columns(NamedTuple):
    """A sheet with the meaning of its columns, read for one experiment of one material.

    `stress` says whether a stress is needed too, for messages.
    """

    material: Material
    experiment: Experiment
    sheet: Sheet
    meanings: list[Meaning]
    complaints: Complaints
    stress: bool = True

    def complain(self, words: str, column: str = "") -> None:
        """Something is wrong with this sheet, or a column of it."""
        self.complaints.add(Place(self.sheet.source, column), words)

    def where(self, fits: Callable[[Meaning], bool]) -> list[int]:
        """Columns whose meaning fits; deviations never do."""
        numbered = enumerate(self.meanings)
        return [i for i, meaning in numbered if not meaning.deviation and fits(meaning)]

    def one(self, indices: list[int], what: str) -> int | None:
        """The only column that gives something; more than one is complained about."""
        if len(indices) > 1:
            names = " and ".join(f"'{self.meanings[i].header}'" for i in indices)
            self.complain(f"columns {names} both give {what}; keep one, or rename the other")
        return indices[0] if indices else None

    def read(self, index: int) -> Measured:
        """The numbers of a column."""
        return quantities.read(self.sheet, index, self.meanings[index], self.complaints)

    def state(self) -> State | None:
        """The columns of the experiment; None where one is not there."""
        found = {name: self.one(self._giving(name), name) for name in self.experiment.columns}
        state = State({}, {}, {}, [])
        for name, index in found.items():
            if index is None:
                self.complain(self._asking(name))
                return None
            column = self.read(index)
            state.values[name], note = quantities.stretch(column)
            state.written[name], state.empty[name] = column.meaning.header, column.empty
            state.notes.extend([note] if note else [])
            state.notes.extend(_percent(column))
        return state

    def _giving(self, name: str) -> list[int]:
        """Columns that give one of the experiment's."""

        def fits(meaning: Meaning) -> bool:
            if headers.bare(meaning.header) == name:
                return True
            if name == COLUMN:
                return is_lateral(meaning)
            if name in _DIRECTIONS:
                kinds = ("shear",) if name == "shear" else _STRETCHES
                return meaning.quantity in kinds and meaning.axes in _DIRECTIONS[name]
            return meaning.quantity == "F" and f"F{meaning.axes}" == name

        return self.where(fits)

    def _asking(self, name: str) -> str:
        """What is missing, and how it may be written."""
        needed, usual = ", ".join(self.experiment.columns), self.experiment.observed[0]
        also = f" and at least one stress column such as {usual}" if self.stress else ""
        words = f"column '{name}' is missing; needed are {needed}{also}"
        if name.startswith("stretch"):
            words += " (a strain may stand for a stretch: 'strain', 'strain (%)', 'true_strain')"
        others = self.where(lambda meaning: meaning.quantity in (*_STRETCHES, "shear"))
        if name.startswith("F") and others:
            words += (
                f"; the table has '{self.meanings[others[0]].header}': name its test with "
                "--experiment, in a column 'mode' or in a comment '# mode: uniaxial'"
            )
        return words

    def curves(self) -> dict[str, Column]:
        """The number of the curve of every row, if a column says it; words are counted."""
        index = self.one(self.where(lambda meaning: meaning.quantity == "curve"), "the curve")
        if index is None:
            return {}
        names, place = self.sheet.cells(index), Place(self.sheet.source, self.sheet.columns[index])
        for row, name in enumerate(names):
            if not name:
                words = "empty, but every row needs the number or name of its curve"
                self.complaints.add(place, words, self.sheet.lines[row])
        try:
            return {CURVE: np.array([float(name or "nan") for name in names])}
        except ValueError:
            known = list(dict.fromkeys(names))
            return {CURVE: np.array([float(known.index(name)) for name in names])}

    def unused(self, written: set[str]) -> list[str]:
        """A note on columns that nothing was read from."""
        forces = {m.header for m in self.meanings if m.quantity == "force"}
        known = ("mode", "curve", *(["area"] if forces & written else []))
        rest = [
            m.header for m in self.meanings if m.header not in written and m.quantity not in known
        ]
        return [f"columns not used: {', '.join(rest)}"] if rest else []


def _percent(column: Measured) -> list[str]:
    """A strain of hundreds without a percent sign."""
    meaning = column.meaning
    if meaning.quantity not in ("strain", "lateral strain") or column.unit is not None:
        return []
    largest = np.max(np.abs(column.values), initial=0.0, where=np.isfinite(column.values))
    if largest <= _PERCENT:
        return []
    return [
        f"'{meaning.header}' reaches {largest:.4g}, which is {100 * largest:.4g} %; if it is in "
        f"percent already, name it '{headers.bare(meaning.header)} (%)'"
    ]
