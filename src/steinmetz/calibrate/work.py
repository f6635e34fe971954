"""Many data sets, in several processes; what is finished is kept by its content."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from steinmetz.cache import ContentCache
from steinmetz.calibrate import cases
from steinmetz.calibrate.cases import Task
from steinmetz.calibrate.judged import DataSet, judge
from steinmetz.engine.carved import stage_keys
from steinmetz.engine.problem import prepare, use_double
from steinmetz.errors import InputError
from steinmetz.progress import Remaining
from steinmetz.records import Report, silent
from steinmetz.studies import config
from steinmetz.studies.study import plain
from steinmetz.workers import tasks as each
from steinmetz.workers.tasks import Engine

# Where finished data sets are kept, in the folder of the calibration.
RESULTS = "results"
# What is drawn where nothing is said: laws, noise, data sets of each, and of a finished run.
LAWS = ("gent", "mooney_rivlin", "ogden")
NOISE = (0.05, 0.1)
SEEDS, FROM_RUN = 10, 200


class Plan(NamedTuple):
    """What is drawn: laws × noise × seeds, or draws of the posterior of a finished run.

    What is not given is the usual; `changes` are settings of the study that laws are put into.
    """

    laws: tuple[str, ...] = ()
    noises: tuple[float, ...] = ()
    seeds: int | None = None
    run: Path | None = None
    changes: Mapping[str, object] = MappingProxyType({})

    @property
    def command(self) -> str:
        """The words that ask for it."""
        words = ["steinmetz calibrate", *(f"--law {law}" for law in self.laws)]
        words += [f"--from {self.run}"] if self.run else []
        words += [f"--noise {','.join(f'{n:g}' for n in self.noises)}"] if self.noises else []
        words += [f"--seeds {self.seeds}"] if self.seeds else []
        words += [f"--set {name}={value}" for name, value in self.changes.items()]
        return " ".join(words)

    def tasks(self) -> list[Task]:
        """All data sets; what cannot be drawn is an error here, before any is."""
        use_double()
        return self._of_laws() if self.run is None else self._of_run(self.run)

    def _of_run(self, run: Path) -> list[Task]:
        """Draws of a finished run, which has its own law, noise and settings."""
        if self.laws or self.noises or self.changes:
            words = "data sets have the states, noise and settings of that run"
            raise InputError(f"--from {run}: {words}; leave --law, --noise and --set out")
        tasks = [cases.of_run(run, number) for number in range(self.seeds or FROM_RUN)]
        cases.checked(run)
        return tasks

    def _of_laws(self) -> list[Task]:
        """Every law with every noise; the first data set of each law is drawn to try it."""
        laws, noises = self.laws or LAWS, self.noises or NOISE
        if len(set(laws)) < len(laws):
            raise InputError(f"--law {laws[0]}: name each law once")
        for law in laws:
            study = cases.of_law(law, noises[0], 0, self.changes).study
            prepare(stage_keys(0)["data"], study)
        return [
            cases.of_law(law, noise, seed, self.changes)
            for noise in noises
            for law in laws
            for seed in range(self.seeds or SEEDS)
        ]


def calibrate(
    tasks: list[Task], folder: Path, report: Report = silent, engine: Engine | None = None
) -> list[DataSet]:
    """All data sets in their order; those in `folder` are only read.

    Without an `engine` all are judged in this process.
    """
    use_double()
    kept = ContentCache(folder / RESULTS)
    left = [task for task in tasks if kept.find(task.content, DataSet) is None]
    progress = Remaining(report, "calibrating", len(tasks))
    progress.done = len(tasks) - len(left)
    each.every(engine, [_sent(task, kept.folder) for task in left], progress.following())
    report("calibrating", len(tasks), len(tasks))
    return [measured(task, kept) for task in tasks]


def measured(task: Task, kept: ContentCache) -> DataSet:
    """A data set that is kept, else judged and kept, whole or not at all."""
    return kept.get(task.content, DataSet, lambda _: judge(task))


def _sent(task: Task, results: Path) -> each.Task:
    """A data set as it is handed to a process."""
    run = None if task.run is None else str(task.run.absolute())
    said = {"study": plain(task.study), "run": run, "number": task.number}
    return each.task(task.label, work, {**said, "results": str(results.absolute())})


def work(text: str) -> None:
    """One data set, in whatever process."""
    use_double()
    said = json.loads(text)
    run = None if said["run"] is None else Path(said["run"])
    task = Task(config.build(said["study"]), run, said["number"])
    measured(task, ContentCache(Path(said["results"])))
