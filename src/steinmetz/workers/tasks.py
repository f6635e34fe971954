"""A task is a function of this package by its name, and a JSON text; engines hand them out.

No object is sent, and nothing comes back: truth is on the disk, whoever does a task.
"""

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from steinmetz.errors import RunFailure
from steinmetz.workers.programs import let_go_of_programs

# Times a task is tried whose process was lost.
TRIES = 3
LOST = f"its process was lost {TRIES} times; it may need more memory (use fewer --workers)"

Work = Callable[[str], object]
"""What does a task: it reads a JSON text, and leaves its results on the disk."""

Told = Callable[[int, list[str]], None]
"""Hears how many tasks are done, and the labels of those under way; what it raises ends all."""


class Task(NamedTuple):
    """A label in words, `module:function`, and the text for that function."""

    label: str
    work: str
    text: str


Engine = Callable[[Sequence[Task], Told], list[Task]]
"""Does tasks in their order, and returns those whose process was lost too often.

What a task raises is raised again, and ends the others.
"""


def task(label: str, work: Work, said: Mapping[str, object]) -> Task:
    """A task of a function that every process finds by its name."""
    return Task(label, f"{work.__module__}:{work.__qualname__}", json.dumps(said))


def do(work: str, text: str) -> None:
    """Do a task, in whatever process."""
    module, _, name = work.partition(":")
    function: Work = getattr(importlib.import_module(module), name)
    function(text)
    let_go_of_programs(0)


def every(engine: Engine | None, tasks: Sequence[Task], told: Told) -> None:
    """Do all tasks; without an engine, or if there is only one, in this process.

    One that nobody could finish is an error: what the others have done is kept.
    """
    if engine is not None and len(tasks) > 1:
        lost = engine(tasks, told)
        if lost:
            kept = "what was finished is kept, the same command goes on from there"
            raise RunFailure(f"{lost[0].label}: {LOST}; {kept}")
        return
    for done, one in enumerate(tasks):
        told(done, [one.label])
        do(one.work, one.text)
