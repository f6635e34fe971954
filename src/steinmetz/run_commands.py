"""Commands about finished runs.

Another law of the table, other forms, checks, predictions, pictures again, runs beside each other,
and the next test.
"""

from pathlib import Path
from typing import Annotated

import typer

from steinmetz import commands, finished
from steinmetz.options import Folder, Resume, output, whole


def register(app: typer.Typer) -> None:
    """Add the commands of this file to the command line."""
    for command in (select, export, diagnose, predict, report, compare):
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
    particle: Annotated[
        int | None, whole("Number of a draw of the posterior, from 1 on.", default="the law itself")
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(help="Write the constants of the law and of every draw there (CSV)."),
    ] = None,
) -> None:
    """Print the law of a finished run in another form, or write it to a file.

    Forms for solvers have energy, stress and consistent tangent, with the constants of the law as
    properties: one routine serves every draw of the posterior, and --table has the constants of
    all of them, in the order of the properties.

    Examples:

      steinmetz export runs/hyperelasticity-seed0

      steinmetz export runs/hyperelasticity-seed0 --to latex --out law.tex

      steinmetz export runs/hyperelasticity-seed0 --to fortran-umat --out umat.f --table draws.csv

      steinmetz export runs/hyperelasticity-seed0 --to c --particle 17 --out law17.h
    """
    commands.start_jax()
    finished.export(folder, to, file, particle, table)


def diagnose(folder: Folder) -> None:
    """Print every check of a run, of sampling, law and fit, pass or fail, and what to do.

    The exit code is 0 if all checks pass and 1 if one fails.

    Example:

      steinmetz diagnose runs/hyperelasticity-seed0
    """
    raise typer.Exit(0 if finished.diagnose(folder) else 1)


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
    finished.next_test(folder, points, relative, absolute)


def predict(
    folder: Folder,
    table: Annotated[Path, typer.Argument(help="States to predict (CSV, TSV, Excel, Parquet).")],
    experiment: Annotated[
        str | None,
        typer.Option(
            help="Which test the rows are of (see `steinmetz list`).",
            show_default="what the table declares, else the only one of the run",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--out", help="File to write.", show_default="TABLE-predicted.csv"),
    ] = None,
    level: Annotated[float, typer.Option(help="Probability of the bands.")] = 0.95,
) -> None:
    """Predict the stress at the rows of a table, in a test that was made or another one.

    The table is read as `fit` reads it, but needs no stress; where it has one, that is written
    beside as measured. For every component there are the printed law, the median and the band of
    the laws that may hold, and the band of new data, which has the noise in it. Rows that no data
    reach are marked as extrapolated.

    Examples:

      steinmetz predict runs/rubber-seed0 states.csv --experiment equibiaxial

      steinmetz predict runs/rubber-seed0 states.csv --level 0.9 --out stress.csv
    """
    finished.predict(folder, table, experiment, file, level)


def report(folder: Folder) -> None:
    """Draw the figures and the page of a finished run again; nothing is fitted or sampled.

    Example:

      steinmetz report runs/rubber-seed0
    """
    finished.report(folder)


def compare(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR", help="Folders of finished runs, two or more.")
    ],
    file: Annotated[
        Path | None,
        typer.Option("--out", help="Table to write (CSV).", show_default="print it alone"),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(help="Picture to write (PNG): laws over each other in shared tests."),
    ] = None,
) -> None:
    """Show finished runs of one material beside each other, and draw their laws in one picture.

    Parameters, χ²/n, BIC (where the runs have the same data and noise), R², coverage of the 95 %
    band, log predictive density per row by leave-one-out (LOO), weight of the printed law among
    those that may hold, and seconds.

    Examples:

      steinmetz compare runs/rubber-seed0 runs/rubber-seed1

      steinmetz compare runs/small runs/large --out compare.csv --picture compare.png
    """
    finished.compare(folders, file, picture)
