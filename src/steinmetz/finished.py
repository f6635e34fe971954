"""What the commands about finished runs do.

Predictions, pictures again, runs beside each other, other forms of a law, checks, the next test,
and parts made of the material.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from steinmetz import claims, commands, reading
from steinmetz.errors import InputError

if TYPE_CHECKING:
    from steinmetz.fe.result import Asked
    from steinmetz.records import Report
    from steinmetz.workers.tasks import Engine


def predict(
    folder: Path, table: Path, experiment: str | None, file: Path | None, level: float
) -> None:
    """Write law and bands for the rows of a table."""
    from steinmetz.report import predicted

    target = predicted.target_of(table, file)
    commands.start_jax()
    from steinmetz.engine.predicted import predicted as predict_rows
    from steinmetz.report import stored

    outcome = stored.restore(folder)
    found, unit = predict_rows(outcome, table, experiment, level), outcome.problem.unit
    replaced = target.exists()
    predicted.save(found, unit, target)
    typer.echo(predicted.screen(found, unit, target, level) + (" (replaced)" if replaced else ""))


def report(folder: Path) -> None:
    """Draw figures and page of a run again."""
    commands.start_jax()
    from steinmetz.report import files, stored, summary

    summary.read(folder)  # nothing is put beside what is no run
    with claims.claimed(reading.leads_to(folder)):
        numbers = summary.read(folder)
        files.redraw(stored.restore(folder), numbers, folder)
    typer.echo(f"drew {folder / 'report.html'} and {folder / 'figures'} again")


def compare(folders: list[Path], file: Path | None, picture: Path | None) -> None:
    """Print runs beside each other; write the table and the picture if asked for."""
    commands.start_jax()
    from steinmetz.report import compared

    compared.check_targets(file, picture)
    found = compared.compare(folders)
    written = compared.save(found, file, picture)
    typer.echo(compared.screen(found, written))


def export(
    folder: Path, form: str, out: Path | None, particle: int | None, table: Path | None
) -> None:
    """Print the law of a finished run, or a draw of it, in another form, or write it to a file."""
    from steinmetz.exporters import base
    from steinmetz.exporters import json as law_json
    from steinmetz.report import exported, whole

    exporter = base.load(form)
    for target, option in ((out, "--out"), (table, "--table")):
        if target is not None:
            whole.check_file(target, option=option)
    reading.check_folder(folder)
    law, about = law_json.read(folder / "law.json")
    if table is not None:
        whole.replace(table, exported.table(folder, law))
    if particle is not None:
        law, about = exported.drawn(folder, law, about, particle)
    try:
        text = exporter.export(law, about)
    except InputError:
        raise
    except (ArithmeticError, TypeError, ValueError) as error:  # numbers no law of ours has
        words = f"the law cannot be written as {form} ({error})"
        raise InputError(f"{folder / 'law.json'}: {words}; run the study again") from None
    if out is None:
        typer.echo(text)
    else:
        whole.replace(out, text)


def diagnose(folder: Path) -> bool:
    """Print every check of a finished run; whether all pass."""
    from steinmetz.report import checks, summary

    numbers = summary.read(folder)
    results = checks.examine(numbers)
    typer.echo(checks.screen(results, numbers, folder))
    return all(check.passed for check in results)


def next_test(folder: Path, points: int, relative: float | None, absolute: float | None) -> None:
    """Rank candidates for the next test, write table and figure, and print the best."""
    from steinmetz.report import following, stored

    outcome = stored.restore(folder)
    found = following.ranked(outcome, points, relative, absolute)
    following.save(found, folder)
    typer.echo(following.screen(found, folder))


def finite_elements(folder: Path, asked: "Asked", out: Path, engine: "Engine | None") -> None:
    """Solve a problem for every draw of a run, save, and print what came out."""
    from steinmetz.fe import shared, written
    from steinmetz.report import files

    files.check_target(out, written.MARKER)
    reading.check_folder(folder)

    with claims.claimed(out):
        cache = shared.cache_of(folder, asked, out)
        with commands.interruptible(cache) as compute:

            def work(report: "Report") -> str:
                helpers = shared.helpers(folder, asked, cache, engine, report)
                return written.carried_out(folder, asked, out, report, helpers)

            text = compute(work)
    typer.echo(text)
