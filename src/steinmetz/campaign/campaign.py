"""A campaign: all runs of a plan that are not done, by any engine, and a table of them all."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from steinmetz.campaign import folder as folders
from steinmetz.campaign import work
from steinmetz.campaign.folder import Found
from steinmetz.campaign.grid import Planned
from steinmetz.errors import InputError
from steinmetz.progress import Remaining
from steinmetz.records import Report, silent
from steinmetz.report import summary as summaries
from steinmetz.report import whole
from steinmetz.workers.tasks import Engine

TABLE = "campaign.csv"
# Columns of the table that are not settings of the runs.
_BEFORE = ("run", "state")
_AFTER = ("parameters", "r2_train", "r2_test", "coverage", "seconds", "law")


def carry_out(
    planned: Sequence[Planned], folder: Path, engine: Engine, report: Report = silent
) -> list[Found]:
    """Do what is not done, and tell what became of every run; failed ones are tried again."""
    folders.keep_plan(folder, planned)
    left = [one for one in planned if not folders.is_done(folders.place(folder, one.name))]
    progress = Remaining(report, "campaign", len(planned))
    progress.done = len(planned) - len(left)
    if left:
        tasks = [work.task(one, folder) for one in left]
        for lost in engine(tasks, progress.following()):
            work.give_up(lost)
    report("campaign", len(planned), len(planned))
    found = folders.look(folder, planned)
    whole.replace(folder / TABLE, table(found, folder))
    return found


def one_of(
    planned: Sequence[Planned], number: int, folder: Path, report: Report = silent
) -> list[Found]:
    """Do one run of a plan in this process: what a task of an array job does."""
    if not 0 <= number < len(planned):
        raise InputError(f"--only {number}: the grid has runs 0 to {len(planned) - 1}")
    folders.keep_plan(folder, planned)
    chosen = planned[number]
    work.carry_out(work.task(chosen, folder).text, report)
    return folders.look(folder, [chosen])


def table(found: Sequence[Found], folder: Path) -> str:
    """A line per run as CSV: its settings, and its numbers once it is done."""
    settings = list(dict.fromkeys(key for one in found for key in one.planned.run.changes))
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*_BEFORE, "what", *settings, *_AFTER])
    for one in found:
        run = one.planned.run
        what = run.study or "+".join(Path(file).name for file in run.files)
        given = [run.changes.get(key, "") for key in settings]
        writer.writerow([one.planned.name, one.state, what, *given, *_numbers(one, folder)])
    return stream.getvalue()


def _numbers(one: Found, folder: Path) -> list[object]:
    """Of a run that is done; else empty cells, and the reason of a failure in place of the law."""
    if one.state != "done":
        return [*[""] * (len(_AFTER) - 1), one.reason]
    summary = summaries.read(folders.place(folder, one.planned.name))
    numbers = (summary.r2.train, summary.r2.test, summary.coverage.get("95"), one.seconds)
    shown = ["" if number is None else f"{number:.6g}" for number in numbers]
    return [summary.parameters.active, *shown, summary.law]
