"""Finished runs beside each other: a table of their numbers, and their laws in one picture."""

import csv
import dataclasses
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray
from matplotlib.figure import Figure
from pydantic import Field

from steinmetz.engine.outcome import Outcome
from steinmetz.errors import InputError
from steinmetz.records import Document
from steinmetz.report import files, whole
from steinmetz.report import summary as summaries
from steinmetz.report.overlay import Data, Entry, figure, shared
from steinmetz.report.page import number
from steinmetz.report.sealed import opened
from steinmetz.studies import config

if TYPE_CHECKING:
    import pandas

# χ² leaves out the sum of log variances, which may differ by this much between runs: noise that
# grows with the stress, or is estimated, depends on the law.
_UNLIKE = 2.0
# Characters of a law that are printed.
_LONGEST = 70


class Line(Document):
    """The numbers of one run; null where there is none, or none that can be compared."""

    run: str
    seed: int
    parameters: int
    chi2: float | None = Field(description="χ²/n of the law")
    bic: float | None = Field(description="null where data or noise are not those of the first")
    r2_train: float | None
    r2_test: float | None
    coverage: float | None = Field(description="of new values by the 95 % predictive band")
    elpd: float = Field(description="log predictive density per fitted tensor, by LOO")
    weight: float = Field(description="of the printed law among those that may hold")
    seconds: float | None
    unit: str
    law: str


@dataclasses.dataclass(frozen=True, repr=False)
class Comparison:
    """Runs beside each other; printed it is a table, and `plot` draws laws that share a test.

    `differences` say what keeps numbers of the runs from being compared.
    """

    entries: tuple[Entry, ...]
    lines: tuple[Line, ...]
    differences: tuple[str, ...]

    def frame(self) -> "pandas.DataFrame":
        """The table as a DataFrame."""
        import pandas

        return pandas.DataFrame([line.model_dump() for line in self.lines])

    def plot(self) -> Figure:
        """Laws with 95 % bands over each other, a panel per component of every shared test."""
        return figure(self.entries)

    def __repr__(self) -> str:
        return screen(self).strip("\n")


def entry(run: Path | Outcome, name: str) -> Entry:
    """A run from its folder or as an object."""
    if isinstance(run, Outcome):
        summary, tree = summaries.summarise(run), files.posterior(run)
        return Entry(name, summary, run.study, _data(tree), files.predictions(run))
    summary, study = summaries.read(run), config.of_run(run)
    with opened(run / "posterior.nc") as tree:
        data = _data(tree)
    with opened(run / "predictions.nc") as tree:
        path = tree.to_dataset().load()
    return Entry(name, summary, study, data, path)


def _data(tree: xarray.DataTree) -> Data:
    """What was fitted."""
    observed, constant = tree["observed_data"].to_dataset(), tree["constant_data"].to_dataset()
    names = tuple(map(str, observed["component"].values))
    values = observed["stress"].values
    return names, constant["state"].values, values, constant["deviation"].values


def compare(runs: Sequence[str | Path | Outcome]) -> Comparison:
    """Finished runs of one material beside each other: folders, or results at hand."""
    if len(runs) < 2:
        raise InputError("to compare takes two runs or more; name another folder")
    given = [run if isinstance(run, Outcome) else Path(run) for run in runs]
    entries = tuple(entry(run, name) for run, name in zip(given, _names(given), strict=True))
    first = entries[0]
    for other in entries[1:]:
        if _material(other) != _material(first):
            raise InputError(
                f"{first.name} is of {_material(first)}, {other.name} of {_material(other)}: laws "
                "of different materials cannot be compared; name runs of one material"
            )
    reasons = [_unlike(first, other) for other in entries[1:]]
    alike = ["" in reasons, *(reason == "" for reason in reasons)]
    lines = tuple(_line(each, same) for each, same in zip(entries, alike, strict=True))
    differences = tuple(
        f"{other.name} has {reason} than {first.name}: its BIC is not compared, and R², coverage "
        "and LOO are each of the run's own data"
        for other, reason in zip(entries[1:], reasons, strict=True)
        if reason
    )
    return Comparison(entries, lines, differences)


def _material(each: Entry) -> str:
    settings = each.study.material
    kind = "incompressible " if getattr(settings, "incompressible", False) else ""
    return f"{kind}material '{settings.name}'"


def _names(runs: Sequence[Path | Outcome]) -> list[str]:
    """Names of folders, with as much of the path as tells them apart."""
    said = [
        f"{run.study.name}-seed{run.study.seed}" if isinstance(run, Outcome) else run.resolve().name
        for run in runs
    ]
    paths = [None if isinstance(run, Outcome) else str(run) for run in runs]
    return [
        name if said.count(name) == 1 else path or f"{name} #{place}"
        for place, (name, path) in enumerate(zip(said, paths, strict=True), 1)
    ]


def _unlike(first: Entry, other: Entry) -> str:
    """What differs in what two runs were fitted to; empty where nothing does."""
    mine, its = first.data, other.data
    if first.summary.data.unit != other.summary.data.unit:
        return "another unit"
    if mine[0] != its[0]:
        return "other components of stress"
    if len(mine[1]) != len(its[1]):
        return f"other data ({len(its[1])} rows, not {len(mine[1])})"
    pairs = zip(mine[1:3], its[1:3], strict=True)
    if not all(np.array_equal(a, b, equal_nan=True) for a, b in pairs):
        return "other data"
    if first.study.noise != other.study.noise or _blocks(first) != _blocks(other):
        return "another noise"
    seen = np.isfinite(mine[2])
    normalised = 2 * np.sum(np.log(its[3][seen] / mine[3][seen]))
    return "another noise, as estimated with its law," if abs(normalised) > _UNLIKE else ""


def _blocks(each: Entry) -> list[object]:
    return [source.noise for source in each.study.sources]


def _line(each: Entry, comparable: bool) -> Line:
    """The numbers of one run."""
    summary = each.summary
    picked = next((row for row in summary.pareto if row.picked), None)
    return Line(
        run=each.name,
        seed=summary.seed,
        parameters=summary.parameters.active,
        chi2=None if picked is None else picked.loss,
        bic=picked.criterion if picked is not None and comparable else None,
        r2_train=summary.r2.train,
        r2_test=summary.r2.test,
        coverage=summary.coverage.get("95"),
        elpd=summary.elpd.elpd_loo / summary.elpd.tensors,
        weight=summary.structures.printed,
        seconds=summary.seconds.get("total"),
        unit=summary.data.unit,
        law=summary.law,
    )


def text(found: Comparison) -> str:
    """The table as CSV; empty cells where nothing is known or can be compared."""
    names, stream = list(Line.model_fields), io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    for line in found.lines:
        cells = (getattr(line, name) for name in names)
        writer.writerow(["" if cell is None else cell for cell in cells])
    return stream.getvalue()


def check_targets(table: Path | None, picture: Path | None) -> None:
    """Refuse files that cannot be written, before anything is read."""
    for target, ending, option in ((table, ".csv", "--out"), (picture, ".png", "--picture")):
        if target is not None:
            whole.check_file(target, ending, option)


def save(found: Comparison, table: Path | None, picture: Path | None) -> list[Path]:
    """Write what is asked for, each file whole or not at all; returns what was written."""
    if picture is not None and not shared(found.entries):
        raise InputError("--picture: the runs share no test in one unit; leave it out")
    if table is not None:
        whole.replace(table, text(found))
    if picture is not None:
        made = io.BytesIO()
        found.plot().savefig(made, format="png", dpi=160)
        whole.replace_bytes(picture, made.getvalue())
    return [path for path in (table, picture) if path is not None]


_HEADS = {
    "run": "run",
    "parameters": "parameters",
    "chi2": "χ²/n",
    "bic": "BIC",
    "r2_train": "R² train",
    "r2_test": "R² test",
    "coverage": "95 % covers",
    "elpd": "LOO elpd",
    "weight": "weight",
    "seconds": "seconds",
}


def screen(found: Comparison, written: Sequence[Path] = ()) -> str:
    """The table, then every law, and what cannot be compared."""
    cells = [[*_HEADS.values()]]
    cells += [[_cell(getattr(line, name)) for name in _HEADS] for line in found.lines]
    widths = [max(len(row[index]) for row in cells) for index in range(len(_HEADS))]
    lines = [
        "  " + row[0].ljust(widths[0]) + "".join(
            f"  {cell.rjust(width)}" for cell, width in zip(row[1:], widths[1:], strict=True)
        )
        for row in cells
    ]  # fmt: skip
    laws = [f"  {line.run.ljust(widths[0])}  {_cut(line.law)}" for line in found.lines]
    notes = [f"  note        {words}" for words in found.differences]
    return "\n".join(["", *lines, "", *laws, "", *notes, *(f"  wrote       {p}" for p in written)])


def _cell(value: object) -> str:
    return value if isinstance(value, str) else number(value)


def _cut(law: str) -> str:
    return law if len(law) <= _LONGEST else f"{law[: _LONGEST - 1]}…"
