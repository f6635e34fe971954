"""Work through the figures of the paper: every point once, by content, with the time left.

What is finished is kept by what it depends on. An interrupted reproduction goes on where it was,
figures share points, and another figure or seed costs only what is new in it.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import jax

from steinmetz import registry
from steinmetz.cache import ContentCache
from steinmetz.engine.problem import use_double
from steinmetz.errors import InputError
from steinmetz.paper import grids
from steinmetz.paper.grids import Point
from steinmetz.paper.records import Kind, Outcome, Record, Row
from steinmetz.records import Report, silent

# Where finished results are kept, in the folder of the reproduction.
RESULTS = "results"
# Regions of mapped memory above which compiled programs are let go (Linux allows 65 530).
_MAX_MAPS = 20_000
# Where they cannot be counted: let go after so many points.
_LET_GO_EVERY = 25
# Seconds after which the time that is left can be told.
_SETTLED = 5
# jax leaves the type of this one out.
_clear_programs: Callable[[], None] = jax.clear_caches


def reproduce(
    names: list[str], scale: str = "quick", seeds: int | None = None,
    folder: str | Path = "reproduction", report: Report = silent,
) -> list[Outcome[Record]]:  # fmt: skip
    """All rows of the named figures, in their order.

    `seeds` are as many as each figure has at that `scale`, unless given. Results stay in `folder`
    and are not computed again. Every grid is read, and every study built, before the first point:
    what is wrong in the last figure does not cost the work on the others.
    """
    use_double()
    if scale not in grids.SCALES:
        raise InputError(registry.unknown("scale", scale, list(grids.SCALES)))
    every = [grids.load(name) for name in names]
    counts = [seeds or grid.seeds[scale] for grid in every]
    plan = [grids.points(grid, scale, count) for grid, count in zip(every, counts, strict=True)]
    results, begun = ContentCache(Path(folder) / RESULTS), time.monotonic()
    done, total, outcomes = 0, sum(map(len, plan)), []
    for grid, count, work in zip(every, counts, plan, strict=True):
        rows, measure = [], kind_of(grid).measure
        for point in work:
            say = _saying(report, point, done, total, begun)
            say("reproducing", 0, 1)
            rows.append(_row(point, measure(point, results, say)))
            done += 1
            _let_go_of_programs(done)
        outcomes.append(Outcome(grid, scale, count, rows))
    report("reproducing", total, total)
    return outcomes


def kind_of(grid: grids.Grid) -> Kind:
    """The kind of a figure, found by the name of its file."""
    return cast(Kind, grids.plot_file(grid.kind))


def _row(point: Point, result: Record) -> Row[Record]:
    """A finished point."""
    return Row(point.grid.id, point.arm, point.reading, point.value, point.seed, result)


def _let_go_of_programs(done: int) -> None:
    """Clear compiled programs in time: each law has its own, and a process may map only so much."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            crowded = sum(1 for _ in maps) > _MAX_MAPS
    except OSError:  # not Linux
        crowded = done % _LET_GO_EVERY == 0
    if crowded:
        _clear_programs()


def _saying(report: Report, point: Point, done: int, total: int, begun: float) -> Report:
    """Progress of all the work, whatever stage of one point is under way."""

    def say(stage: str, at: int, of: int, **facts: object) -> None:
        spent = time.monotonic() - begun
        known = done and spent > _SETTLED
        left = f"{spent / done * (total - done) / 60:.0f} min" if known else ""
        report("reproducing", done, total, now=f"{point.grid.id} {point.label}", left=left)

    return say
