"""Slices of Ψ through the reference, with their minima: for a material whose energy has wells."""

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from steinmetz.engine.outcome import Outcome
from steinmetz.materials import slices
from steinmetz.materials.slices import Slice
from steinmetz.report.style import COLOURS


def planes(outcome: Outcome) -> Figure:
    """Law above and truth below where it is known; minima of each slice marked."""
    material = outcome.problem.material
    energies: dict[str, slices.Energy] = {"law": outcome.law.energy}
    if outcome.problem.truth is not None:
        energies["truth"] = slices.energy_of(outcome.problem.truth, material)
    return draw(
        {
            name: [slices.grid(plane, material, energy) for plane in material.planes]
            for name, energy in energies.items()
        }
    )


def draw(rows: dict[str, list[Slice]]) -> Figure:
    """A row per potential, a column per slice; the contours are those of the last row."""
    columns = len(next(iter(rows.values())))
    size = (3.0 * columns + 0.6, 2.7 * len(rows) + 0.3)
    figure = Figure(figsize=size, layout="constrained")
    axes = np.atleast_2d(figure.subplots(len(rows), columns, squeeze=False))
    for column in range(columns):
        levels = _contours([row[column].values for row in rows.values()][-1])
        for axis, (name, row) in zip(axes[:, column], rows.items(), strict=True):
            one = row[column]
            look = {"levels": levels, "extend": "both", "cmap": "viridis"}
            shown = axis.contourf(one.x, one.y, np.ma.masked_invalid(one.values), **look)
            for place, other in one.minima:
                ring = {"ms": 6, "mfc": "white", "mec": COLOURS[1], "mew": 1.5}
                axis.plot(one.x[other], one.y[place], "o", **ring)
            axis.grid(False)
            axis.set_xlabel(one.first)
            axis.set_ylabel(one.second)
            axis.set_title(f"Ψ, {name}", fontsize=9)
            figure.colorbar(shown, ax=axis, format="%.2g")
    return figure


def _contours(values: Float[np.ndarray, "rows columns"]) -> Float[np.ndarray, "contours"]:
    """Quantiles, which show wells; two lines around a Ψ that is flat here.

    A law need not be finite everywhere, such as a logarithm of the concentration.
    """
    known = values[np.isfinite(values)]
    levels = np.unique(np.quantile(known if known.size else [0.0], np.linspace(0, 0.95, 15)))
    if len(levels) < 2:
        middle = float(levels[0])
        levels = middle + np.array([-1.0, 1.0]) * max(1e-9, 1e-9 * abs(middle))
    return levels
