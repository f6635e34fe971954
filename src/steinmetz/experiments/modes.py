"""Which test a table is of: said by a name, a column or a comment, never by the file's name."""

from collections.abc import Sequence

import numpy as np

from steinmetz import registry
from steinmetz.data import headers
from steinmetz.data.complaints import Complaints, Place
from steinmetz.data.table import Sheet
from steinmetz.errors import InputError
from steinmetz.experiments import base
from steinmetz.experiments.quantities import holds_units
from steinmetz.materials import base as materials

# The material of a study that names none.
USUAL = "isotropic"

# Other names of the tests.
SPELLINGS = {
    **dict.fromkeys(("uniaxial_tension", "uniaxial_compression", "ut", "uc"), "uniaxial"),
    **dict.fromkeys(("equibiaxial_tension", "equi_biaxial", "et", "eb"), "equibiaxial"),
    **dict.fromkeys(("planar", "planar_tension", "planar_shear", "ps"), "pure_shear"),
    **dict.fromkeys(("biaxial_tension", "bt"), "biaxial"),
    **{"ss": "simple_shear", "full": "full_tensor"},
}
_FOLDER = "experiments"
# Comments that name a test.
_DECLARED = ("mode", "test", "experiment")


def named(text: str) -> str | None:
    """The experiment that a word means; None where it means none."""
    word = text.strip().lower().replace(" ", "_").replace("-", "_")
    word = SPELLINGS.get(word, word)
    return word if word in registry.names(_FOLDER) else None


def known(text: str) -> str:
    """The experiment that a word means, or a sentence with those there are."""
    found = named(text)
    if found is None:
        raise InputError(registry.unknown("experiment", text, registry.names(_FOLDER)))
    return found


def material(names: Sequence[str]) -> dict[str, object]:
    """Settings of the material that tests ask for: incompressible, or one that has such states."""
    usual = materials.build(materials.load(USUAL).Config(name=USUAL))
    given: dict[str, object] = {}
    for name in names:
        test = base.build(base.load(name).Config(name=name))
        if test.isochoric:
            given["material.incompressible"] = True
        elif test.state != usual.state:
            every = (materials.load(n).Config(name=n) for n in registry.names("materials"))
            fit = [own.name for own in every if materials.build(own).state == test.state]
            given |= {"material.name": fit[0]} if fit else {}
    return given


def isochoric(name: str) -> bool:
    """Whether the volume is constant in a test, unless its lateral stretch is measured."""
    return base.build(base.load(name).Config(name=name)).isochoric


def may_measure(name: str) -> bool:
    """Whether a test may have its lateral stretch measured."""
    return "lateral" in base.load(name).Config.model_fields


def suited(name: str, to: materials.Material) -> base.Experiment:
    """A test by name as a material can be put to it: with the lateral stretch if J may change."""
    sides = {"lateral": True} if may_measure(name) and not to.incompressible else {}
    test = base.build(base.load(name).Config(name=name, **sides))
    test.check(to)
    return test


def column(sheet: Sheet) -> int | None:
    """The column that says the test of every row."""
    for index, header in enumerate(sheet.columns):
        if headers.read(header).quantity == "mode":
            return index
    return None


def comment(sheet: Sheet) -> str | None:
    """The test that a comment such as `# mode: uniaxial` declares."""
    said = (named(sheet.declared[key]) for key in _DECLARED if key in sheet.declared)
    return next((name for name in said if name), None)


def of(sheet: Sheet) -> list[str]:
    """The tests that a table says it holds, in the order in which they first occur."""
    index = column(sheet)
    if index is None:
        said = comment(sheet)
        return [said] if said else []
    words = dict.fromkeys(sheet.cells(index))
    return list(dict.fromkeys(name for cell in words if (name := named(cell))))


def rows_of(sheet: Sheet, experiment: str, complaints: Complaints) -> Sheet:
    """The rows of one test; a table that says nothing of tests has no others.

    A first row of units belongs to every test.
    """
    index, said = column(sheet), comment(sheet)
    if index is None:
        if said is not None and said != experiment:
            words = f"a comment says '{said}', but '{experiment}' is asked for; correct one of them"
            complaints.add(Place(sheet.source), words)
        return sheet
    place, cells = Place(sheet.source, sheet.columns[index]), sheet.cells(index)
    possible = ", ".join(registry.names(_FOLDER))
    meant = {cell: named(cell) for cell in set(cells)}
    first = int(holds_units(sheet))
    kept = [row for row, cell in enumerate(cells) if row < first or meant[cell] == experiment]
    for row, cell in enumerate(cells[first:], first):
        if meant[cell] is None:
            words = f"'{cell[:40]}' is no test; possible: {possible}"
            complaints.add(place, words, sheet.lines[row], "mode")
    if len(kept) == first:
        there = ", ".join(of(sheet)) or "none"
        complaints.add(place, f"no row is of '{experiment}'; there are: {there}")
    rows, lines = sheet.rows.rows(np.array(kept, int)), [sheet.lines[row] for row in kept]
    return sheet._replace(rows=rows, lines=lines)
