"""Commands about finished runs: another law of the table, other forms, checks, the next test."""

from pathlib import Path
from typing import Annotated

import typer

from steinmetz import commands
from steinmetz.options import Folder, Resume, output, whole


def register(app: typer.Typer) -> None:
    """Add the commands of this file to the command line."""
    for command in (select, export, diagnose):
        app.command()(command)
    app.command("next")(next_)


def select(
    folder: Folder,
    row: Annotated[int, typer.Option(help="Row of the table: number of parameters of its law.")],
    target: Annotated[Path | None, output("the run's own")] = None,
    resume: Resume = None,
) -> None:
    """Take another law from the table of a finished run, without refitting; its posterior is new.

    Examples:

      steinmetz select runs/hyperelasticity-seed0 --row 3

      steinmetz select runs/hyperelasticity-seed0 --row 2 --out runs/smaller
    """
    commands.start_jax()
    commands.select_row(folder, row, target, resume)


def export(
    folder: Folder,
    to: Annotated[str, typer.Option(help="An exporter of `steinmetz list`.")] = "text",
    file: Annotated[
        Path | None, typer.Option("--out", help="File to write.", show_default="print it")
    ] = None,
) -> None:
    """Print the law of a finished run in another form, or write it to a file.

    Examples:

      steinmetz export runs/hyperelasticity-seed0

      steinmetz export runs/hyperelasticity-seed0 --to latex --out law.tex
    """
    commands.start_jax()
    commands.export(folder, to, file)


def diagnose(folder: Folder) -> None:
    """Print every check of a run, of sampling, law and fit, pass or fail, and what to do.

    The exit code is 0 if all checks pass and 1 if one fails.

    Example:

      steinmetz diagnose runs/hyperelasticity-seed0
    """
    raise typer.Exit(0 if commands.diagnose(folder) else 1)


def next_(
    folder: Folder,
    points: Annotated[int, whole("Points of the test.", most=10_000)] = 15,
    relative: Annotated[
        float | None,
        typer.Option(
            "--relative-noise",
            min=0.0,
            help="Noise of the rig as a share of the stress.",
            show_default="that of the run",
        ),
    ] = None,
    absolute: Annotated[
        float | None,
        typer.Option(
            "--absolute-noise",
            min=0.0,
            help="Noise of the rig in the unit of the stress.",
            show_default="that of the run",
        ),
    ] = None,
) -> None:
    """Name the test that would teach most, from the laws that may hold after a finished run.

    Candidates are standard tests that go half as far as the data, as far, and twice as far,
    measured by I1. Each stands with how wide the bands of the stress field would be after it,
    over now, and how much of the doubt about which law holds it would resolve. A table
    (next.csv) and a figure (figures/next.png) are written into the folder of the run.

    Examples:

      steinmetz next runs/rubber-seed0

      steinmetz next runs/rubber-seed0 --points 30 --relative-noise 0.02
    """
    commands.start_jax()
    commands.next_test(folder, points, relative, absolute)
