"""What the commands do, once their words are understood: compute, save, print, and keep what an interrupt leaves."""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from steinmetz import registry
from steinmetz.errors import InputError


class RunStopped(Exception):
    """Ctrl-C or SIGTERM during a run; says what was kept, and the code to leave with."""

    def __init__(self, kept: bool = False, code: int = 130) -> None:
        left = (
            "what was finished is kept, the same command goes on from there"
            if kept
            else "nothing was written"
        )
        super().__init__(f"interrupted; {left}")
        self.code = code


def start_jax() -> None:
    """Double precision, and compiled programs kept between calls."""
    import jax

    jax.config.update("jax_enable_x64", True)
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        cache = (
            Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steinmetz" / "jax"
        )
        try:
            cache.mkdir(parents=True, exist_ok=True)
        except OSError:
            return
        jax.config.update("jax_compilation_cache_dir", str(cache))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)


def _store(folder: Path, study: Any, resume: bool | None, *more: object) -> Any:
    """Where a run keeps what it has finished: a hidden folder beside its target.

    `resume` True demands that there is something, False throws it away.

    Pieces belong to this version and to everything that training and search depend on; particles, say, may change.
    """
    from importlib import metadata

    from steinmetz.cache import Cache

    folder = folder.absolute()
    table = ""
    if study.data.table and Path(study.data.table).is_file():
        table = hashlib.sha256(Path(study.data.table).read_bytes()).hexdigest()
    kept = study.model_dump(mode="json", exclude={"name", "title", "infer", "assess"})
    kept["sparsify"] = {
        k: v for k, v in kept["sparsify"].items() if k not in ("parameters", "bic_slack")
    }
    said = "\n".join(
        [metadata.version("steinmetz"), json.dumps(kept, sort_keys=True), table, *map(str, more)]
    )
    store = Cache(folder.with_name(f".{folder.name}.partial"), said)
    if resume and not store.found:
        raise InputError(
            f"--resume: no interrupted run of this study is kept beside {folder}; leave --resume out"
        )
    if resume is False:
        store.clear()
    return store


@contextmanager
def _interruptible(
    store: Any, kept: Callable[[], bool] | None = None
) -> Iterator[Callable[[Callable[[Any], Any]], Any]]:
    """Gives a function that does work with progress shown; an interrupt says what is kept, success clears the store.

    `kept` tells whether something is kept where that is not the store's business.
    """
    from steinmetz import interrupts, progress

    if store.found:
        print("steinmetz: going on from what an interrupted run has finished", file=sys.stderr)

    def compute(work: Callable[[Any], Any]) -> Any:
        with progress.shown() as report:
            return interrupts.watched(work, report)

    try:
        with interrupts.terminable():
            yield compute
    except KeyboardInterrupt as heard:  # here, because the parser would leave without a word
        code = 143 if isinstance(heard, interrupts.Terminated) else 130
        raise RunStopped(store.found if kept is None else kept(), code) from None
    if kept is None:
        store.clear()


def carry_out(study: Any, out: Path | None, resume: bool | None) -> None:
    """Check the target, run, save, and print the final screen."""
    from steinmetz.engine.run import run as run_study
    from steinmetz.report import files, screen

    folder = out or Path("runs") / f"{study.name}-seed{study.seed}"
    files.check_target(folder)
    store = _store(folder, study, resume)
    with _interruptible(store) as compute:
        summary = files.save(compute(lambda report: run_study(study, report, store)), folder)
    typer.echo(screen.final(summary, folder))


def select_row(folder: Path, row: int, out: Path | None, resume: bool | None) -> None:
    """Take another row of a finished run, and write it in place of that run or elsewhere."""
    from steinmetz.engine.run import select
    from steinmetz.report import files, screen
    from steinmetz.studies import config

    if not (folder / "carving.json").is_file():
        raise InputError(f"{folder}: no finished run there (carving.json is missing)")
    target = out or folder
    files.check_target(target)
    store = _store(target, config.load(str(folder / "study.toml")), resume, "row", row)
    with _interruptible(store) as compute:
        summary = files.save(compute(lambda report: select(folder, row, report, store)), target)
    typer.echo(screen.final(summary, target))


def draw_lcurve(
    study: Any,
    methods: tuple[str, ...],
    noises: tuple[float, ...] | None,
    penalties: int,
    restarts: int,
    parameters: int | None,
    out: Path | None,
    resume: bool | None,
) -> None:
    from steinmetz.engine.lcurve import lcurve as compute_curve
    from steinmetz.report import files, lcurves

    folder = out or Path("runs") / f"{study.name}-seed{study.seed}-lcurve"
    files.check_target(folder, lcurves.MARKER)
    store = _store(folder, study, resume, noises, penalties, restarts)
    with _interruptible(store) as compute:
        curve = compute(
            lambda report: compute_curve(
                study, methods, noises, penalties, restarts, parameters, report, store
            )
        )
        lcurves.save(curve, folder)
    typer.echo(lcurves.screen(curve, folder))


def reproduce(names: list[str], scale: str, seeds: int | None, folder: Path) -> None:
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
    with _interruptible(Cache(kept, "reproduce"), lambda: kept.is_dir()) as compute:
        outcomes = compute(lambda report: work_through(wanted, scale, seeds, folder, report))
        found = page.save(outcomes, folder)
    typer.echo(page.screen(found, folder))


def diagnose(folder: Path) -> bool:
    """Print every check of a finished run; whether all pass."""
    from steinmetz.report import checks

    summary = checks.read(folder)
    found = checks.examine(summary)
    typer.echo(checks.screen(found, summary, folder))
    return all(check.passed for check in found)
