"""Points of figures as plain data, as they are handed to processes that may be anywhere.

A grid goes by its id, because every process has its file; studies go whole.
"""

from steinmetz.paper import grids
from steinmetz.paper.grids import Point
from steinmetz.studies import config, study
from steinmetz.studies.study import Raw


def plain(point: Point) -> Raw:
    """A point as JSON takes it."""
    reference = None if point.reference is None else plain(point.reference)
    studies = {"study": study.plain(point.study), "carve": study.plain(point.carve)}
    return {**vars(point), "grid": point.grid.id, **studies, "reference": reference}


def point(said: Raw) -> Point:
    """The point again."""
    reference = None if said["reference"] is None else point(said["reference"])
    studies = {name: config.build(said[name]) for name in ("study", "carve")}
    return Point(**{**said, "grid": grids.load(said["grid"]), **studies, "reference": reference})
