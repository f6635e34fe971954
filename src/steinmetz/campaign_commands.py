"""The commands of campaigns: many runs, and what became of them."""

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from steinmetz import commands, many
from steinmetz.engine_options import EngineOptions
from steinmetz.options import output, packed, whole


class CampaignOptions(NamedTuple):
    """Where results go, and what is done of the grid."""

    out: Annotated[Path | None, output("GRID-campaign")] = None
    only: Annotated[
        int | None,
        whole("Do this run alone, counted from 0, in this process.", least=0, default=False),
    ] = None
    emit_slurm: Annotated[
        Path | None, typer.Option(help="Write an array job of SLURM here, and run nothing.")
    ] = None


def register(app: typer.Typer) -> None:
    """Add the commands of this file to the command line."""
    app.command()(packed(campaign))
    app.command()(status)


def campaign(
    grid: Annotated[Path, typer.Argument(help="TOML file of studies or tables, and axes.")],
    *,
    options: CampaignOptions,
    engines: EngineOptions,
) -> None:
    """Do many independent runs: every study or data set with every seed and value that is listed.

    Each result is a folder named by the hash of what it depends on, so that the same command goes
    on after an interrupt, whichever engine began. A run that fails is recorded with its reason, and
    the others go on.

    Examples:

      steinmetz campaign grid.toml --workers 4

      steinmetz campaign grid.toml --engine dask --scheduler tls://node1:8786 --out results

      steinmetz campaign grid.toml --out results --emit-slurm job.sh
    """
    folder = options.out or Path(f"{grid.stem}-campaign")
    choice = engines.choice()
    commands.start_jax()
    if options.emit_slurm is not None:
        many.emit(grid, folder, options.emit_slurm)
    else:
        many.campaign(grid, folder, choice, options.only)


def status(folder: Annotated[Path, typer.Argument(help="Folder of a campaign.")]) -> None:
    """Say how many runs of a campaign are done, running, failed and left, and write its table.

    Example:

      steinmetz status grid-campaign
    """
    many.status(folder)
