"""Work through the figures of the paper: every point once, by content, with the time left.

What is finished is kept by what it depends on. An interrupted reproduction goes on where it was,
figures share points, and another figure or seed costs only what is new in it.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import jax

from steinmetz import registry
from steinmetz.cache import ContentCache
from steinmetz.engine.problem import use_double
from steinmetz.errors import InputError
from steinmetz.paper import grids, workers
from steinmetz.paper.grids import Grid, Point
from steinmetz.paper.points import content_of, law_of
from steinmetz.paper.records import Kind, Outcome, Record, Row
from steinmetz.records import Report, silent

# Where finished results are kept, in the folder of the reproduction.
RESULTS = "results"
# Regions of mapped memory above which compiled programs are let go (Linux allows 65 530).
_MAX_MAPS = 20_000
# Where they cannot be counted: let go after so many points.
_LET_GO_EVERY = 25
# How much longer a whole network takes than a carved law, roughly.
_WHOLE = 20
# Seconds after which the time that is left can be told.
_SETTLED = 5
# jax leaves the type of this one out.
_clear_programs: Callable[[], None] = jax.clear_caches


def reproduce(
    names: list[str], scale: str = "quick", seeds: int | None = None,
    folder: str | Path = "reproduction", report: Report = silent, jobs: int = 1,
) -> list[Outcome[Record]]:  # fmt: skip
    """All rows of the named figures, in their order.

    `seeds` are as many as each figure has at that `scale`, unless given. Results stay in `folder`
    and are not computed again. Every grid is read, and every study built, before the first point:
    what is wrong in the last figure does not cost the work on the others. `jobs` are processes that
    work side by side, each on its share of the cores.
    """
    use_double()
    if scale not in grids.SCALES:
        raise InputError(registry.unknown("scale", scale, list(grids.SCALES)))
    every = [grids.load(name) for name in names]
    counts = [seeds or grid.seeds[scale] for grid in every]
    plan = [grids.points(grid, scale, count) for grid, count in zip(every, counts, strict=True)]
    results = Path(folder) / RESULTS
    if jobs > 1:
        tasks = [(grid.kind, one) for grid, work in zip(every, plan, strict=True) for one in work]
        _side_by_side(tasks, results, jobs, report)
    return _one_by_one(list(zip(every, counts, plan, strict=True)), scale, results, report)


def _one_by_one(
    plan: list[tuple[Grid, int, list[Point]]], scale: str, results: Path, report: Report
) -> list[Outcome[Record]]:
    """All points in this process; what is kept is only read."""
    total, outcomes = sum(len(work) for *_, work in plan), []
    progress, kept = _Progress(report, total), ContentCache(results)
    for grid, count, work in plan:
        rows, measure = [], kind_of(grid).measure
        for point in work:
            say = progress.saying([f"{point.grid.id} {point.label}"])
            say("reproducing", 0, 1)
            rows.append(_row(point, measure(point, kept, say)))
            progress.done += 1
            _let_go_of_programs(progress.done)
        outcomes.append(Outcome(grid, scale, count, rows))
    report("reproducing", total, total)
    return outcomes


def _side_by_side(tasks: list[workers.Task], results: Path, jobs: int, report: Report) -> None:
    """All points in several processes: laws first, then references, then what needs them.

    Nobody works on what another one does, and long work comes first in each of the three rounds.
    """
    rounds = stages(tasks)
    progress = _Progress(report, sum(map(len, rounds)))
    for same in rounds:
        before = progress.done

        def told(done: int, under_way: list[str], before: int = before) -> None:
            progress.done = before + done
            progress.saying(under_way)("reproducing", 0, 1)

        workers.each(work, same, results, jobs, told)
        progress.done = before + len(same)


def stages(tasks: list[workers.Task]) -> list[list[workers.Task]]:
    """Three rounds: carve every law once, sample every reference once, then the rest."""
    laws, references, rest = {}, {}, {}
    for kind, point in tasks:
        if point.grid.arms:
            laws[json.dumps(point.carve.content("carve"), sort_keys=True)] = ("", point)
        for one in (point.reference, point if point.kept else None):
            if one is not None:
                references[_key(kind, one)] = (kind, one)
        if not point.kept:
            rest[_key(kind, point)] = (kind, point)
    longest_first = [sorted(found.values(), key=_work) for found in (laws, references, rest)]
    return [found for found in longest_first if found]


def _key(kind: str, point: Point) -> str:
    """The same for points that are kept as one."""
    measure = grids.plot_file(kind).measure
    name = f"{measure.__module__}.{measure.__name__}"
    return json.dumps([name, point.arm, content_of(point)], sort_keys=True)


def _work(task: workers.Task) -> float:
    """Less for a point that takes longer, roughly: particles times steps, times whole networks."""
    point = task[1]
    settings, whole = point.study.infer.chosen(1).settings, not point.study.sparsify.prune
    return -float(settings.width * settings.schedule.total * (_WHOLE if whole else 1))


def work(task: workers.Task, results: Path) -> None:
    """One task in a process of its own: a point, or only its law."""
    use_double()
    (kind, point), kept = task, ContentCache(results)
    if kind:
        grids.plot_file(kind).measure(point, kept, silent)
    else:
        law_of(point.carve, kept, silent)
    _let_go_of_programs(0)


def kind_of(grid: Grid) -> Kind:
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


class _Progress:
    """Progress of all the work, whatever stage of one point is under way."""

    def __init__(self, report: Report, total: int) -> None:
        self.done = 0
        self._report, self._total, self._begun = report, total, time.monotonic()

    def saying(self, under_way: list[str]) -> Report:
        """A report of one point that tells how much of all is done, and how long the rest takes."""
        done, total = self.done, self._total

        def say(stage: str, at: int, of: int, **facts: object) -> None:
            spent = time.monotonic() - self._begun
            known = done and spent > _SETTLED
            left = f"{spent / done * (total - done) / 60:.0f} min" if known else ""
            self._report("reproducing", done, total, now="; ".join(under_way), left=left)

        return say
