"""Slices of Ψ through the reference, with their minima: for a physics whose energy has wells."""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from steinmetz.engine.run import Result
from steinmetz.physics import slices
from steinmetz.report.style import COLOURS


class Slice(NamedTuple):
    """Ψ over two inputs."""

    first: str
    second: str
    x: np.ndarray
    y: np.ndarray
    values: np.ndarray


def planes(result: Result) -> Figure:
    """Slices of Ψ through the reference, law above and truth below where it is known; minima of each slice marked."""
    physics = result.problem.physics
    energies: dict[str, slices.Energy] = {"law": result.law.energy}
    if result.problem.truth is not None:
        energies["truth"] = slices.energy_of(result.problem.truth, physics.reference)
    return draw(
        {
            name: [
                Slice(plane.first, plane.second, *slices.grid(plane, physics, energy))
                for plane in physics.planes
            ]
            for name, energy in energies.items()
        }
    )


def draw(rows: dict[str, list[Slice]]) -> Figure:
    """A row per potential, a column per slice; the contours are those of the last row."""
    columns = len(next(iter(rows.values())))
    figure = Figure(figsize=(3.0 * columns + 0.6, 2.7 * len(rows) + 0.3), layout="constrained")
    axes = np.atleast_2d(figure.subplots(len(rows), columns, squeeze=False))
    for column in range(columns):
        levels = _levels([row[column].values for row in rows.values()][-1])
        for axis, (name, row) in zip(axes[:, column], rows.items(), strict=True):
            one = row[column]
            shown = axis.contourf(
                one.x, one.y, one.values, levels=levels, extend="both", cmap="viridis"
            )
            for place, other in slices.minima(one.values):
                axis.plot(
                    one.x[other], one.y[place], "o", ms=6, mfc="white", mec=COLOURS[1], mew=1.5
                )
            axis.grid(False)
            axis.set_xlabel(one.first)
            axis.set_ylabel(one.second)
            axis.set_title(f"Ψ, {name}", fontsize=9)
            figure.colorbar(shown, ax=axis, format="%.2g")
    return figure


def _levels(values: np.ndarray) -> np.ndarray:
    levels = np.unique(np.quantile(values, np.linspace(0, 0.95, 15)))
    if len(levels) < 2:  # Ψ does not depend on these two inputs
        levels = float(levels[0]) + np.array([-1.0, 1.0]) * max(1e-9, 1e-9 * abs(float(levels[0])))
    return levels
