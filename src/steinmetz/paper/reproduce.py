"""Work through the figures of the paper: every point once, by content, with the time left.

What is finished is kept by what it depends on. An interrupted reproduction goes on where it was,
figures share points, and another figure or seed costs only what is new in it.
"""

import json
from pathlib import Path
from typing import Literal, NamedTuple, cast

from steinmetz import registry
from steinmetz.cache import ContentCache
from steinmetz.engine.problem import use_double
from steinmetz.errors import InputError
from steinmetz.paper import grids, sent
from steinmetz.paper.grids import Grid, Point
from steinmetz.paper.modes import modes_content
from steinmetz.paper.points import content_of, law_of, posed
from steinmetz.paper.records import Kind, Outcome, Record, Row
from steinmetz.progress import Remaining
from steinmetz.records import Report, silent
from steinmetz.workers import tasks as each
from steinmetz.workers.programs import let_go_of_programs

# Where finished results are kept, in the folder of the reproduction.
RESULTS = "results"
# How much longer a whole network takes than a carved law, roughly.
_WHOLE = 20


class Task(NamedTuple):
    """A point of a kind of figure, or what several points share: its law or its modes."""

    kind: str
    point: Point
    part: Literal["law", "modes", "all"] = "all"

    @property
    def label(self) -> str:
        """That of the point."""
        return self.point.label


class Seeds(NamedTuple):
    """Which seeds: so many, or as many as the figure has, from the first on.

    Seeds that nobody has looked at while settings and rules were chosen confirm what others showed.
    """

    number: int | None = None
    first: int = 0

    def of(self, grid: Grid, scale: str) -> tuple[int, ...]:
        """Those of a figure."""
        count = self.number or grid.seeds[scale]
        return tuple(range(self.first, self.first + count))


def reproduce(
    names: list[str], scale: str = "quick", seeds: "Seeds | int | None" = None,
    folder: str | Path = "reproduction", report: Report = silent, engine: each.Engine | None = None,
) -> list[Outcome[Record]]:  # fmt: skip
    """All rows of the named figures, in their order.

    `seeds` are as many as each figure has at that `scale`, from 0 on, unless given. Results stay in
    `folder` and are not computed again. Every grid is read, and every study built, before the first
    point: what is wrong in the last figure does not cost the work on the others. Without an
    `engine` all points are done in this process.
    """
    use_double()
    if scale not in grids.SCALES:
        raise InputError(registry.unknown("scale", scale, list(grids.SCALES)))
    every = [grids.load(name) for name in names]
    asked = seeds if isinstance(seeds, Seeds) else Seeds(seeds)
    taken = [asked.of(grid, scale) for grid in every]
    plan = [grids.points(grid, scale, some) for grid, some in zip(every, taken, strict=True)]
    results = Path(folder) / RESULTS
    if engine is not None:
        tasks = [
            Task(grid.kind, one) for grid, work in zip(every, plan, strict=True) for one in work
        ]
        _side_by_side(tasks, results, engine, report)
    return _one_by_one(list(zip(every, taken, plan, strict=True)), scale, results, report)


def _one_by_one(
    plan: list[tuple[Grid, tuple[int, ...], list[Point]]], scale: str, results: Path, report: Report
) -> list[Outcome[Record]]:
    """All points in this process; what is kept is only read."""
    total, outcomes = sum(len(work) for *_, work in plan), []
    progress, kept = Remaining(report, "reproducing", total), ContentCache(results)
    for grid, seeds, work in plan:
        rows, measure = [], kind_of(grid).measure
        for point in work:
            under_way = [f"{point.grid.id} {point.label}"]

            def say(*_: object, under_way: list[str] = under_way, **__: object) -> None:
                progress.say(under_way)

            say()
            rows.append(_row(point, measure(point, kept, say)))
            progress.done += 1
            let_go_of_programs(progress.done)
        outcomes.append(Outcome(grid, scale, seeds, rows))
    report("reproducing", total, total)
    return outcomes


def _side_by_side(tasks: list[Task], results: Path, engine: each.Engine, report: Report) -> None:
    """All points in several processes: laws, modes, references, then what needs them.

    Nobody works on what another one does, and long work comes first in each of the rounds.
    """
    rounds = stages(tasks)
    progress = Remaining(report, "reproducing", sum(map(len, rounds)))
    for same in rounds:
        before = progress.done
        each.every(engine, [_sent(task, results) for task in same], progress.following())
        progress.done = before + len(same)


def stages(tasks: list[Task]) -> list[list[Task]]:
    """Four rounds: carve every law once, find its modes once, sample references, then the rest."""
    laws, found, references, rest = {}, {}, {}, {}
    for kind, point, _ in tasks:
        if point.grid.arms:
            carve = json.dumps(point.carve.content("carve"), sort_keys=True)
            laws[carve] = Task(kind, point, "law")
        if "+" in point.arm:
            modes = json.dumps(modes_content(point), sort_keys=True)
            found[modes] = Task(kind, point, "modes")
        for one in (point.reference, point if point.kept else None):
            if one is not None:
                references[_key(kind, one)] = Task(kind, one)
        if not point.kept:
            rest[_key(kind, point)] = Task(kind, point)
    rounds = laws, found, references, rest
    longest_first = [sorted(one.values(), key=_work) for one in rounds]
    return [one for one in longest_first if one]


def _key(kind: str, point: Point) -> str:
    """The same for points that are kept as one."""
    measure = grids.plot_file(kind).measure
    name = f"{measure.__module__}.{measure.__name__}"
    return json.dumps([name, point.arm, content_of(point)], sort_keys=True)


def _work(task: Task) -> float:
    """Less for a point that takes longer, roughly: particles times steps, times whole networks."""
    point = task.point
    settings, whole = point.study.infer.chosen(1).settings, not point.study.sparsify.prune
    return -float(settings.width * settings.schedule.total * (_WHOLE if whole else 1))


def _sent(task: Task, results: Path) -> each.Task:
    """A task as it is handed to a process."""
    said = {**task._asdict(), "point": sent.plain(task.point), "results": str(results.absolute())}
    return each.task(task.label, work, said)


def work(text: str) -> None:
    """One task in a process of its own: a point, or only its law or modes."""
    use_double()
    said = json.loads(text)
    kept = ContentCache(Path(said.pop("results")))
    task = Task(**{**said, "point": sent.point(said["point"])})
    if task.part == "law":
        law_of(task.point.carve, kept, silent)
    elif task.part == "modes":
        posed(task.point, kept, silent)
    else:
        grids.plot_file(task.kind).measure(task.point, kept, silent)


def kind_of(grid: Grid) -> Kind:
    """The kind of a figure, found by the name of its file."""
    return cast(Kind, grids.plot_file(grid.kind))


def _row(point: Point, result: Record) -> Row[Record]:
    """A finished point."""
    return Row(point.grid.id, point.arm, point.reading, point.value, point.seed, result)
