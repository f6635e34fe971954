"""What the commands do, once their words are understood.

Compute, save, print, keep what is left.
"""

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from steinmetz import claims, reading, registry
from steinmetz.errors import InputError, RunFailure, unwritten

if TYPE_CHECKING:
    from steinmetz.cache import Cache
    from steinmetz.calibrate.work import Plan as Calibration
    from steinmetz.engine.lcurve import Plan
    from steinmetz.engine.outcome import Outcome
    from steinmetz.paper.reproduce import Seeds
    from steinmetz.placement_options import PlacementOptions
    from steinmetz.ranks.session import Alone
    from steinmetz.records import Report
    from steinmetz.studies.study import Study
    from steinmetz.workers.engines import Choice
    from steinmetz.workers.tasks import Engine

T = TypeVar("T")
Compute = Callable[[Callable[["Report"], T]], T]
"""Does work that reports its progress, and shows it."""


class RunStopped(Exception):
    """Ctrl-C or SIGTERM during a run; says what was kept, and the code to leave with."""

    def __init__(self, kept: bool = False, code: int = 130, first: bool = True) -> None:
        going_on = "what was finished is kept, the same command goes on from there"
        left = going_on if kept else "nothing was written"
        super().__init__(f"interrupted; {left if first else 'process 0 has what was finished'}")
        self.code = code


def start_jax() -> None:
    """Double precision, and compiled programs kept between calls.

    One that cannot be kept, or was cut short by a kill, is compiled again: nothing to warn of.
    """
    import jax

    warnings.filterwarnings("ignore", message="Error (reading|writing) persistent compilation")
    jax.config.update("jax_enable_x64", True)
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        try:
            home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
            cache = home / "steinmetz" / "jax"
            cache.mkdir(parents=True, exist_ok=True)
        except (OSError, RuntimeError):  # nobody's home, or one that cannot be written to
            return
        jax.config.update("jax_compilation_cache_dir", str(cache))
    # also those that are compiled in no time: a run has dozens, and reading them takes a tenth
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


@contextmanager
def _shared(study: "Study", place: "PlacementOptions", resume: bool | None) -> Iterator["Alone"]:
    """This process, and the others that share in a run, if it has some."""
    from steinmetz.ranks.asked import asked
    from steinmetz.ranks.greeting import facts_of
    from steinmetz.ranks.session import together

    who = asked(place.coordinator, place.process_id, place.processes)
    if who is not None and not study.infer.shares:
        words = "chains are not shared out; leave --coordinator out or take another method"
        raise InputError(f"infer.method = '{study.infer.method}': {words}")
    options = {"--devices": place.devices or 1, "--resume": resume}
    facts = {} if who is None else facts_of({**study.content("assess"), **options})
    with together(who, facts) as session:
        yield session


def _kept_beside(folder: Path, study: "Study", resume: bool | None, *more: object) -> "Cache":
    """Where a run keeps what it has finished: a hidden folder beside its target.

    `resume` True demands that there is something, False throws it away. What is kept belongs to
    this version and to everything that training and search depend on; particles, say, may change.
    """
    from importlib import metadata

    from steinmetz.cache import Cache

    folder = folder.absolute()
    content = json.dumps(study.content("search"), sort_keys=True)
    text = "\n".join([metadata.version("steinmetz"), content, *map(str, more)])
    cache = Cache(folder.with_name(f".{folder.name}.partial"), text)
    if resume and not cache.found:
        words = f"no interrupted run of this study is kept beside {folder}; leave --resume out"
        raise InputError(f"--resume: {words}")
    if resume is False:
        cache.clear()
    return cache


@contextmanager
def interruptible(
    cache: "Cache", kept: Callable[[], bool] | None = None, others: "Alone | None" = None
) -> Iterator[Callable[[Callable[["Report"], T]], T]]:
    """Gives a function that does work with progress shown.

    An interrupt says what is kept, success clears the cache. `kept` tells whether something is kept
    where that is not the cache's business. `others` are the processes that share in the work.
    """
    from steinmetz import interrupts, progress

    if cache.found:
        print("steinmetz: going on from what an interrupted run has finished", file=sys.stderr)

    def compute(work: Callable[["Report"], T]) -> T:
        with progress.shown() as report:
            return interrupts.watched(work, report, others or interrupts.NOBODY)

    try:
        with interrupts.terminable():
            yield compute
    except KeyboardInterrupt as heard:  # here, because the parser would leave without a word
        first, left = others is None or others.first, cache.found if kept is None else kept()
        raise RunStopped(left, interrupts.code_of(heard), first) from None
    except OSError as error:  # input that cannot be read is an InputError
        left = cache.found if kept is None else kept()
        going_on = "what was finished is kept" if left else "nothing was written"
        words = f"cannot write the results: {unwritten(error)}; {going_on}"
        raise RunFailure(f"{words}; make room and give the same command again") from None
    if kept is None:
        cache.clear()


def carry_out(
    study: "Study", out: Path | None, resume: bool | None, place: "PlacementOptions"
) -> None:
    """Check the target, run, save, and print the final screen."""
    from steinmetz.engine.run import run as run_study
    from steinmetz.report import files, screen

    folder = out or Path("runs") / f"{study.name}-seed{study.seed}"
    files.check_target(folder)
    with _shared(study, place, resume) as session, _claimed(folder, session):
        cache = session.kept(lambda: _kept_beside(folder, study, resume))

        def work(report: "Report") -> "Outcome":
            with session.placed(place.devices):
                return run_study(study, report, cache)

        with interruptible(cache, others=session) as compute:
            outcome = compute(work)
            summary = files.save(outcome, folder) if session.first else None
            session.finished()
    typer.echo("done; process 0 has the results" if not summary else screen.final(summary, folder))


@contextmanager
def _claimed(folder: Path, session: "Alone") -> Iterator[None]:
    """No other run writes to this folder meanwhile; of several processes the first one does."""
    if not session.first:
        yield
        return
    with claims.claimed(folder):
        yield


def select_row(folder: Path, row: int, out: Path | None, resume: bool | None) -> None:
    """Take another row of a finished run, and write it in place of that run or elsewhere."""
    from steinmetz.engine.run import select
    from steinmetz.report import files, screen
    from steinmetz.studies import config

    target = out or reading.leads_to(folder)
    with claims.claimed(target):
        if not (folder / "carving.json").is_file():
            raise InputError(f"{folder}: no finished run there (carving.json is missing)")
        files.check_target(target)
        cache = _kept_beside(target, config.of_run(folder), resume, "row", row)
        with interruptible(cache) as compute:
            outcome = compute(lambda report: select(folder, row, report, cache))
            summary = files.save(outcome, target)
    typer.echo(screen.final(summary, target))


def draw_lcurve(
    study: "Study", plan: "Plan", out: Path | None, resume: bool | None, engine: "Engine | None"
) -> None:
    """Compute an L-curve, write its files and print what was chosen."""
    from steinmetz.engine.lcurve import lcurve
    from steinmetz.report import files, lcurves

    folder = out or Path("runs") / f"{study.name}-seed{study.seed}-lcurve"
    files.check_target(folder, lcurves.MARKER)
    with claims.claimed(folder):
        cache = _kept_beside(folder, study, resume, plan.noises, plan.penalties, plan.restarts)
        with interruptible(cache) as compute:
            curve = compute(lambda report: lcurve(study, plan, report, cache, engine))
            lcurves.save(curve, folder)
    typer.echo(lcurves.screen(curve, folder))


def reproduce(names: list[str], scale: str, seeds: "Seeds", folder: Path, choice: "Choice") -> None:
    """Work through figures of the paper and write the page; what is finished is kept by content."""
    from steinmetz.cache import Cache
    from steinmetz.paper import grids, page
    from steinmetz.paper.reproduce import RESULTS
    from steinmetz.paper.reproduce import reproduce as work_through
    from steinmetz.report import files

    for name in names:
        grids.load(name)
    if scale not in grids.SCALES:
        raise InputError(registry.unknown("scale", scale, list(grids.SCALES)))
    wanted = [name for name in grids.titles() if name in names or not names]
    kept = folder / RESULTS
    if not kept.is_dir():
        files.check_target(folder, page.MARKER)
    engine, begun = choice.helpers(), time.monotonic()
    with (
        claims.claimed(folder),
        interruptible(Cache(kept, "reproduce"), lambda: kept.is_dir()) as compute,
    ):
        outcomes = compute(
            lambda report: work_through(wanted, scale, seeds, folder, report, engine)
        )
        run = page.Run(choice.words, time.monotonic() - begun)
        found = page.save(outcomes, folder, run)
    typer.echo(page.screen(found, folder))


def calibrate(plan: "Calibration", folder: Path, engine: "Engine | None") -> None:
    """Draw data sets, judge bands on them and write the page; what is finished is kept."""
    from steinmetz.cache import Cache
    from steinmetz.calibrate import page
    from steinmetz.calibrate.work import RESULTS
    from steinmetz.calibrate.work import calibrate as work_through
    from steinmetz.report import files

    tasks, kept = plan.tasks(), folder / RESULTS
    if not kept.is_dir():
        files.check_target(folder, page.MARKER)
    with (
        claims.claimed(folder),
        interruptible(Cache(kept, "calibrate"), lambda: kept.is_dir()) as compute,
    ):
        data = compute(lambda report: work_through(tasks, folder, report, engine))
        found = page.save(data, folder, plan.command)
    typer.echo(page.screen(found, folder))


def check(study: "Study", picture: Path | None) -> None:
    """Say and draw what is understood of the tables of a study."""
    from steinmetz.engine.blocks import tables
    from steinmetz.report import understood, whole

    target = picture or Path(f"{study.name}-check.png")
    whole.check_file(target, ".png")
    found = tables(study)
    understood.draw(found, target)
    typer.echo(understood.screen(found, target))


def listing() -> str:
    """Every plug-in of every kind with its summary, and the figures of the paper."""
    from steinmetz.paper import grids
    from steinmetz.studies import config

    lines = []
    for kind in registry.KINDS.values():
        lines.append(f"{kind.plural}:")
        for name in registry.names(kind.folder):
            about = (
                config.title(name)
                if kind.suffix == ".toml"
                else registry.summary(kind.folder, name)
            )
            lines.append(f"  {name:<18} {about}")
    lines.append("figures of the paper:")
    lines += [f"  {name:<18} {title}" for name, title in grids.titles().items()]
    return "\n".join(lines)
