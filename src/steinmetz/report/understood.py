"""What is understood of tables: a screen and a picture, before anything is fitted."""

import dataclasses
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steinmetz.experiments import checks
from steinmetz.experiments.columns import CURVE
from steinmetz.experiments.door import Clean
from steinmetz.report.style import COLOURS, STYLE

# Columns beyond these are summed up in one line.
_MOST_COLUMNS = 4


@dataclasses.dataclass(frozen=True, repr=False)
class Check:
    """What is understood of tables; printed, it says so, and `plot` draws them."""

    tables: tuple[Clean, ...]

    @property
    def notes(self) -> list[str]:
        """Everything that was converted, left out or looks wrong."""
        return [note for each in self.tables for note in each.notes]

    def plot(self) -> Figure:
        """Stress over stretch, a panel per table."""
        return figure(self.tables)

    def __repr__(self) -> str:
        return screen(self.tables).strip("\n")


def screen(tables: Sequence[Clean], picture: Path | None = None) -> str:
    """Every table with its test, measure, unit, rows and ranges, and notes on it."""
    blocks = ["\n".join(_table(each)) for each in tables]
    end = [f"  picture     {picture}"] if picture else []
    return "\n\n".join(["", *blocks, *end])


def _table(each: Clean) -> list[str]:
    table, test = each.table, each.experiment
    stresses = _stresses(each)
    kind = "incompressible" if test.isochoric else "volume may change"
    with_stress = np.isfinite(np.stack([table.column(n) for n in stresses])).any(axis=0)
    curves = len(checks.curves({name: table.column(name) for name in table.columns}))
    rows = f"{len(table.lines)}, {int(with_stress.sum())} with a stress, {each.missing} empty cells"
    lines = [
        f"  {table.source}",
        f"  test        {test.name.replace('_', ' ')} ({kind})",
        f"  measure     {', '.join(each.measures)}",
        f"  unit        {each.unit or 'not declared: the law comes out in that of the table'}",
        f"  rows        {rows}, {curves} {'curve' if curves == 1 else 'curves'}",
        *_ranges(each, list(test.columns)),
        *_ranges(each, stresses, each.unit),
    ]
    return [*lines, *(f"  note        {note}" for note in each.notes)]


def _stresses(each: Clean) -> list[str]:
    other = (*each.experiment.columns, CURVE)
    return [n for n in each.table.columns if n not in other and not n.startswith("sd_")]


def _ranges(each: Clean, names: list[str], unit: str = "") -> list[str]:
    """Smallest and largest value of columns, and the header each was read from."""
    shown = names if len(names) <= _MOST_COLUMNS else [names[0], names[-1]]
    lines = []
    for name in shown:
        values, header = each.table.column(name), each.written.get(name, name)
        known = values[np.isfinite(values)]
        ends = f"{known.min():.4g} … {known.max():.4g}" if known.size else "no value"
        origin = "" if header == name else f" (from '{header}')"
        own = f" {unit}" if unit and name[-1].isdigit() else ""
        lines.append(f"  {name:<11} {ends}{own}{origin}")
    if len(shown) < len(names):
        lines.insert(1, f"  …           {len(names) - len(shown)} columns between")
    return lines


def figure(tables: Sequence[Clean]) -> Figure:
    """A panel per table: stress over the stretch or shear, or over the strain of full tensors."""
    columns = min(3, len(tables))
    rows = -(-len(tables) // columns)
    with matplotlib.rc_context(STYLE):
        made = Figure(figsize=(3.8 * columns + 0.6, 3.2 * rows + 0.2), layout="constrained")
        axes = made.subplots(rows, columns, squeeze=False).ravel()
        for axis, each in zip(axes, tables, strict=False):
            _panel(axis, each)
        for axis in axes[len(tables) :]:
            axis.set_axis_off()
    return made


def _panel(axis: Axes, each: Clean) -> None:
    found = {name: each.table.column(name) for name in each.table.columns}
    line = "-" if checks.away(each.experiment, found) is not None else ""
    for number, name in enumerate(_stresses(each)):
        x, label = _coordinate(each, name)
        axis.set_xlabel(label)
        for place, rows in enumerate(checks.curves(found)):
            named = name if place == 0 else None
            colour, y = COLOURS[number % len(COLOURS)], found[name][rows]
            axis.plot(x[rows], y, f".{line}", label=named, color=colour, lw=0.6, ms=4)
    axis.set_title(
        f"{Path(each.table.source).name}, {each.experiment.name.replace('_', ' ')}", fontsize=9
    )
    axis.set_ylabel(f"stress ({each.unit})" if each.unit else "stress (no unit declared)")
    axis.axhline(0, color="0.6", lw=0.6)
    axis.legend(fontsize=7)


def _coordinate(each: Clean, stress: str) -> tuple[Float[np.ndarray, "rows"], str]:
    """What a stress is drawn over: the stretch in its direction, or the size of Green's strain."""
    columns = each.experiment.columns
    if columns == ("stretch1", "stretch2"):
        return each.table.column(columns[stress.endswith("22")]), "stretch in its direction"
    if columns[0] != "F11":
        return each.table.column(columns[0]), columns[0]
    size = 3 if "F33" in columns else 2
    F = np.stack([each.table.column(name) for name in columns[: size**2]], axis=1)
    F = F.reshape(-1, size, size)
    strain = (np.swapaxes(F, 1, 2) @ F - np.eye(size)) / 2
    return np.linalg.norm(strain, axis=(1, 2)), "norm of Green's strain"


def draw(tables: Sequence[Clean], picture: Path) -> None:
    """Write the picture, whole or not at all."""
    with tempfile.TemporaryDirectory(dir=picture.absolute().parent, prefix=".steinmetz-") as work:
        made = Path(work) / "picture.png"
        figure(tables).savefig(made, dpi=160)
        os.replace(made, picture)
