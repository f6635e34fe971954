"""What the commands of campaigns do: many runs, the script of an array job, what became of them."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from steinmetz import commands
from steinmetz.errors import InputError, RunFailure

if TYPE_CHECKING:
    from steinmetz.campaign.folder import Found
    from steinmetz.records import Report
    from steinmetz.workers.engines import Choice


def campaign(grid: Path, folder: Path, choice: "Choice", only: int | None) -> None:
    """Do all runs of a grid, or one of them, and print what became of them."""
    from steinmetz.campaign import campaign as campaigns
    from steinmetz.campaign import grid as grids

    planned = grids.plan(grid)
    if only is not None:
        _carried_out(folder, lambda report: campaigns.one_of(planned, only, folder, report))
        return
    engine = choice.engine()
    _carried_out(folder, lambda report: campaigns.carry_out(planned, folder, engine, report))


def emit(grid: Path, folder: Path, target: Path) -> None:
    """Write the plan, so that its status can be asked for, and the script of an array job."""
    from steinmetz.campaign import folder as folders
    from steinmetz.campaign import grid as grids
    from steinmetz.campaign import slurm
    from steinmetz.report import files, whole

    planned = grids.plan(grid)
    whole.check_file(target, ".sh", "--emit-slurm")
    files.check_target(folder, folders.PLAN)
    folders.keep_plan(folder, planned)
    (folder / slurm.LOGS).mkdir(exist_ok=True)
    whole.replace(target, slurm.script(grid, folder, target, len(planned)))
    typer.echo(f"wrote {target}: {len(planned)} runs into {folder}; submit it with sbatch {target}")


def _carried_out(folder: Path, work: "Callable[[Report], list[Found]]") -> None:
    """Do runs with progress shown, print what became of them, and leave with 1 if one failed."""
    from steinmetz.cache import Cache
    from steinmetz.campaign import campaign as campaigns
    from steinmetz.campaign import folder as folders
    from steinmetz.campaign.screen import screen
    from steinmetz.report import files

    files.check_target(folder, folders.PLAN)
    kept = folders.place(folder, "")
    with commands.interruptible(Cache(kept, "campaign"), lambda: kept.is_dir()) as compute:
        found = compute(work)
    typer.echo(screen(found, folder / campaigns.TABLE))
    failed = sum(one.state == "failed" for one in found)
    if failed:
        words = "the same command tries them again"
        raise RunFailure(f"{failed} of {len(found)} runs failed; {words}")


def status(folder: Path) -> None:
    """Print what is done, running, failed and left, and write the table."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; name that of a campaign")
    from steinmetz.campaign import campaign as campaigns
    from steinmetz.campaign import folder as folders
    from steinmetz.campaign.screen import screen
    from steinmetz.report import whole

    found = folders.look(folder, folders.read_plan(folder))
    whole.replace(folder / campaigns.TABLE, campaigns.table(found, folder))
    typer.echo(screen(found, folder / campaigns.TABLE))
