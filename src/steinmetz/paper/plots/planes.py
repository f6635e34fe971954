"""Slices of Ψ through the reference, with their minima: the generating law and the carved one.

The energy of a phase-changing solid has several wells; the law is carved from stresses and chemical
potentials alone, and must find them without having seen Ψ.
"""

from matplotlib.figure import Figure

from steinmetz.cache import Cache, ContentCache
from steinmetz.paper import points
from steinmetz.paper.grids import Point
from steinmetz.paper.records import Outcome, PlaneSlices
from steinmetz.physics import slices
from steinmetz.records import Report
from steinmetz.report import planes
from steinmetz.report.planes import Slice


def measure(point: Point, results: ContentCache, report: Report) -> PlaneSlices:
    """Slices of Ψ of truth and law, with the number of wells (grid minima) in each."""

    def compute(_: Cache) -> PlaneSlices:
        law_of_study = points.law_of(point.study, results, report)
        physics, law = law_of_study.problem.physics, law_of_study.carved.law
        truth = slices.energy_of(points.truth_of(law_of_study.problem), physics.reference)

        def cut(energy: slices.Energy) -> list[Slice]:
            cuts = [(plane, slices.grid(plane, physics, energy)) for plane in physics.planes]
            return [Slice(plane.first, plane.second, *values) for plane, values in cuts]

        cuts = [cut(law.energy), cut(truth)]
        wells = [[len(slices.minima(cut.values)) for cut in each] for each in cuts]
        return PlaneSlices(
            law=cuts[0], truth=cuts[1], law_wells=wells[0], truth_wells=wells[1],
            active=int(law.graph.size),
        )  # fmt: skip

    return results.get({"planes": points.content(point.study, "carve")}, PlaneSlices, compute)


def draw(outcome: Outcome[PlaneSlices]) -> Figure:
    """The first seed."""
    cuts = outcome.rows[0].result
    return planes.draw({f"law, {cuts.active} parameters": cuts.law, "truth": cuts.truth})
