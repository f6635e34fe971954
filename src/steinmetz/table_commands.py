"""Commands about tables: what is understood of one, and examples of every kind."""

from pathlib import Path
from typing import Annotated

import typer

from steinmetz import commands
from steinmetz.errors import InputError
from steinmetz.options import Changes, DataOptions, Files, packed, settings


def register(app: typer.Typer) -> None:
    """Add the commands of this file to the command line."""
    app.command()(packed(check))
    app.command()(template)


def check(
    data: Files,
    changes: Changes = None,
    picture: Annotated[
        Path | None,
        typer.Option("--out", help="Picture to write (PNG).", show_default="NAME-check.png"),
    ] = None,
    *,
    tables: DataOptions,
) -> None:
    """Read tables as `fit` does, say what is understood and what is odd, draw it; fit nothing.

    Test, stress measure, unit, rows, ranges, empty cells and curves are said of each table, with a
    note on everything that was converted, left out or looks wrong. What cannot be read is named
    with line, column and remedy, all at once, with exit code 2.

    Examples:

      steinmetz check pull.csv --experiment uniaxial

      steinmetz check pull.csv bulge.csv --experiment uniaxial --experiment equibiaxial
    """
    from steinmetz.studies import measured

    kinds, words = tables.kinds(len(data)), tables.changes() | settings(changes, None)
    study = measured.jointly(data, kinds, changes=words)
    commands.check(study, picture)


def template(
    mode: Annotated[str, typer.Argument(help="An experiment of `steinmetz list`.")],
    file: Annotated[
        Path | None, typer.Option("--out", help="File to write.", show_default="MODE.csv")
    ] = None,
) -> None:
    """Write an example table of a test, with comments that explain it; `fit` reads it as it is.

    Examples:

      steinmetz template uniaxial

      steinmetz template biaxial --out sheet.csv
    """
    from steinmetz.engine.template import example
    from steinmetz.experiments import modes
    from steinmetz.report import whole

    name = modes.known(mode)
    target = file or Path(f"{name}.csv")
    if target.is_file():
        raise InputError(f"--out {target}: there is a file of that name; name another")
    whole.check_file(target)
    commands.start_jax()
    whole.replace(target, example(name))
    typer.echo(f"wrote {target}; next: steinmetz check {target}")
