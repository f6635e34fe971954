"""The study that fits tables of measured rows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from steinmetz.experiments import door, modes, sides
from steinmetz.studies import stated
from steinmetz.studies.config import build
from steinmetz.studies.study import Study


def measured(
    table: str | Path,
    relative: float | str | None = None,
    absolute: float | str | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Study:
    """The study that fits a table of measured rows with the noise `relative` and `absolute`."""
    return jointly([Path(table)], [None], (relative, absolute), changes)


def jointly(
    tables: Sequence[Path],
    experiment: Sequence[str | None],
    deviations: stated.Deviations = stated.UNSTATED,
    changes: Mapping[str, Any] | None = None,
) -> Study:
    """The study that fits several tables together, each of the named experiment.

    Where None is named, a table may say its tests itself, in a column `mode` or a comment; else it
    is of the usual one. `deviations` are the relative and the absolute noise, each a number or
    'estimated', which both are if none is stated. Incompressible tests make the material so.
    """
    tests = [
        (path, kind)
        for path, name in zip(tables, experiment, strict=True)
        for kind in ([modes.known(name)] if name else door.modes_of(path) or [""])
    ]
    aside = (changes or {}).get("material.incompressible") is not True and sides.measured(tests)
    given = {} if aside else modes.material([name for _, name in tests if name])
    if len({name for _, name in tests}) > 1:  # each is left out as a whole instead
        given["data.held_out"] = 0.0
    given |= changes or {}
    blocks = [{"table": str(path.absolute())} | sides.asked(name, aside) for path, name in tests]
    raw = {
        "name": _plain("-".join(path.stem for path in tables)),
        "title": f"Measured data of {', '.join(path.name for path in tables)}",
        "data": blocks[0] if len(blocks) == 1 else {"blocks": blocks},
        "noise": stated.noise(deviations, given),
    }
    return build(raw, given, source=", ".join(map(str, tables)))


def _plain(text: str) -> str:
    """A text as the name of a study: letters, digits and . _ - only."""
    letters = (c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in text)
    return "".join(letters).lstrip("._-")[:64] or "fit"
