"""The command of finite elements."""

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from steinmetz import commands, finished
from steinmetz.engine_options import EngineOptions
from steinmetz.options import Folder, output, packed, whole


class PartOptions(NamedTuple):
    """What is done to a part, and what is asked of it."""

    problem: Annotated[
        str, typer.Option(help="cook, plate-with-hole, block-torsion, or a mesh file (own.msh).")
    ] = "cook"
    cells: Annotated[
        int | None, whole("Cells along a side of a built-in problem.", most=400, default="16, 8, 4")
    ] = None
    load: Annotated[
        float | None,
        typer.Option(
            help="Traction (cook), relative elongation (plate), degrees (torsion), factor (mesh).",
            show_default="the problem's",
        ),
    ] = None
    steps: Annotated[int, whole("Load steps that are kept.", most=200)] = 5
    draws: Annotated[int | None, whole("Draws, taken evenly.", default="all of the run")] = None
    bulk: Annotated[
        float | None,
        typer.Option(
            help="Bulk modulus of an incompressible law, in the unit of stress.",
            show_default="1000 shear moduli",
        ),
    ] = None
    limit: Annotated[
        float | None, typer.Option(help="Von Mises stress whose excess is asked for.")
    ] = None
    level: Annotated[float, typer.Option(help="Probability of the bands.")] = 0.95
    linearised: Annotated[
        bool, typer.Option("--linearised", help="Use the sensitivity alone: faster, less exact.")
    ] = False
    out: Annotated[Path | None, output("DIR/fe-PROBLEM")] = None


def register(app: typer.Typer) -> None:
    """Add the command of this file to the command line."""
    app.command()(packed(fe))


def fe(folder: Folder, *, options: PartOptions, engines: EngineOptions) -> None:
    """Solve a finite-element problem for every draw of a finished run.

    Displacements, forces and Cauchy stresses get mean, deviation and quantiles; a table of all
    numbers (fe.json), fields for ParaView (fields.vtu) and pictures are written. A mesh of one's
    own stands beside a TOML file of the same name that says what is held, pulled and watched.

    Examples:

      steinmetz fe runs/hyperelasticity-seed0 --problem cook

      steinmetz fe runs/rubber-seed0 --problem block-torsion --bulk 500 --draws 100

      steinmetz fe runs/hyperelasticity-seed0 --problem bracket.msh --limit 2.5 --workers 4
    """
    out = options.out or folder / f"fe-{Path(options.problem).stem}"
    helpers = engines.choice().helpers()
    commands.start_jax()
    from steinmetz.fe.result import Asked

    finished.finite_elements(folder, Asked(*options[:-1]), out, helpers)
