"""What the commands do, once their words are understood: compute, save, print, and keep what an interrupt leaves."""

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from steinmetz.errors import InputError


class RunStopped(Exception):
    """Ctrl-C during a run; says what was kept."""

    def __init__(self, kept: bool = False) -> None:
        left = "what was finished is kept, the same command goes on from there" if kept else "nothing was written"
        super().__init__(f"interrupted; {left}")


def start_jax() -> None:
    """Double precision, and compiled programs kept between calls."""
    import jax

    jax.config.update("jax_enable_x64", True)
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steinmetz" / "jax"
        try:
            cache.mkdir(parents=True, exist_ok=True)
        except OSError:
            return
        jax.config.update("jax_compilation_cache_dir", str(cache))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)


def _store(folder: Path, study: Any, *more: object) -> Any:
    """Where a run keeps what it has finished: a hidden folder beside its target.

    Pieces belong to this version and to everything that training and search depend on; particles, say, may change.
    """
    from importlib import metadata

    from steinmetz.store import Store

    folder = folder.absolute()
    table = ""
    if study.data.table and Path(study.data.table).is_file():
        table = hashlib.sha256(Path(study.data.table).read_bytes()).hexdigest()
    kept = study.model_dump(mode="json", exclude={"name", "title", "infer", "assess"})
    kept["sparsify"] = {k: v for k, v in kept["sparsify"].items() if k not in ("parameters", "evidence")}
    said = "\n".join([metadata.version("steinmetz"), json.dumps(kept, sort_keys=True), table, *map(str, more)])
    return Store(folder.with_name(f".{folder.name}.partial"), said)


@contextmanager
def _interruptible(store: Any) -> Iterator[Any]:
    """Show progress; Ctrl-C says what is kept in the store (if there is one), success clears it."""
    from steinmetz import progress

    if store is not None and store.found:
        print("steinmetz: going on from what an interrupted run has finished", file=sys.stderr)
    try:
        with progress.shown() as report:
            yield report
    except KeyboardInterrupt:  # here, because the parser would leave without a word
        raise RunStopped(kept=store is not None and store.found) from None
    if store is not None:
        store.clear()


def carry_out(study: Any, out: Path | None) -> None:
    """Check the target, run, save, and print the final screen."""
    from steinmetz.engine.run import run as run_study
    from steinmetz.report import files, screen

    folder = out or Path("runs") / f"{study.name}-seed{study.seed}"
    files.check_target(folder)
    store = _store(folder, study)
    with _interruptible(store) as report:
        summary = files.save(run_study(study, report, store), folder)
    typer.echo(screen.final(summary, folder))


def select_row(folder: Path, row: int, out: Path | None) -> None:
    """Take another row of a finished run, and write it in place of that run or elsewhere."""
    from steinmetz.engine.run import select
    from steinmetz.report import files, screen

    if not (folder / "carving.json").is_file():
        raise InputError(f"{folder}: no finished run there (carving.json is missing)")
    target = out or folder
    files.check_target(target)
    with _interruptible(None) as report:
        summary = files.save(select(folder, row, report), target)
    typer.echo(screen.final(summary, target))


def draw_lcurve(
    study: Any,
    methods: tuple[str, ...],
    noises: tuple[float, ...] | None,
    penalties: int,
    restarts: int,
    parameters: int | None,
    out: Path | None,
) -> None:
    from steinmetz.engine.lcurve import lcurve as compute
    from steinmetz.report import files, lcurves

    folder = out or Path("runs") / f"{study.name}-seed{study.seed}-lcurve"
    files.check_target(folder, lcurves.MARKER)
    store = _store(folder, study, noises, penalties, restarts)
    with _interruptible(store) as report:
        curve = compute(study, methods, noises, penalties, restarts, parameters, report, store)
        lcurves.save(curve, folder)
    typer.echo(lcurves.screen(curve, folder))
