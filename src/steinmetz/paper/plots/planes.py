"""Slices of Ψ through the reference, with their minima: the generating law and the carved one.

The energy of a phase-changing solid has several wells; the law is carved from stresses and chemical
potentials alone, and must find them without having seen Ψ.
"""

from matplotlib.figure import Figure

from steinmetz.cache import Cache, ContentCache
from steinmetz.materials import slices
from steinmetz.paper import points
from steinmetz.paper.grids import Point
from steinmetz.paper.records import Details, Outcome, PlaneSlices, Table
from steinmetz.records import Report
from steinmetz.report import planes


def measure(point: Point, results: ContentCache, report: Report) -> PlaneSlices:
    """Slices of Ψ of truth and law, with the number of wells (grid minima) in each."""

    def compute(_: Cache) -> PlaneSlices:
        law_of_study = points.law_of(point.study, results, report)
        material, law = law_of_study.problem.material, law_of_study.carved.law
        truth = slices.energy_of(points.truth_of(law_of_study.problem), material)
        cuts = [
            [slices.grid(plane, material, energy) for plane in material.planes]
            for energy in (law.energy, truth)
        ]
        wells = [[len(cut.minima) for cut in each] for each in cuts]
        return PlaneSlices(
            law=cuts[0], truth=cuts[1], law_wells=wells[0], truth_wells=wells[1],
            active=int(law.graph.size),
        )  # fmt: skip

    return results.get({"planes": point.study.content("carve")}, PlaneSlices, compute)


def draw(outcome: Outcome[PlaneSlices]) -> Figure:
    """The first seed: a row per arm, and the truth."""
    first = outcome.first
    shown = {f"{row.arm}, {row.result.active} parameters": row.result.law for row in first}
    return planes.draw({**shown, "truth": first[0].result.truth})


def details(outcome: Outcome[PlaneSlices]) -> Details:
    """Wells of every seed."""
    lines: list[list[str | int]] = [
        [f"{row.arm}, seed {row.seed}", row.result.active, str(row.result.law_wells)]
        for row in outcome.rows
    ]
    lines.append(["truth", "", str(outcome.rows[0].result.truth_wells)])
    note = "Minima of Ψ in each slice, on the grid that is drawn."
    return Details(tables=[Table(["", "parameters", "wells per slice"], lines, note)])
