"""Slices of Ψ through the reference, with their minima: for a physics whose energy has wells."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from matplotlib.figure import Figure

from steinmetz.engine.run import Result
from steinmetz.nouns import Plane, Reference, Truth
from steinmetz.physics import observe
from steinmetz.physics.base import Physics
from steinmetz.report.style import COLOURS

Energy = Callable[[Array], Array]
_GRID = 81


def planes(result: Result) -> Figure:
    """Slices of Ψ through the reference, law above and truth below where it is known; minima of each slice marked."""
    physics = result.problem.physics
    rows: list[tuple[str, Energy]] = [("law", result.law.energy)]
    if result.problem.truth is not None:
        rows.append(("truth", _truth_energy(result.problem.truth, physics.reference)))
    figure = Figure(figsize=(3.0 * len(physics.planes) + 0.6, 2.7 * len(rows) + 0.3), layout="constrained")
    axes = np.atleast_2d(figure.subplots(len(rows), len(physics.planes), squeeze=False))
    for column, plane in enumerate(physics.planes):
        grids = [_slice(plane, physics, energy) for _, energy in rows]
        levels = np.quantile(grids[-1][2], np.linspace(0, 0.95, 15))
        levels = np.unique(levels)
        if len(levels) < 2:  # Ψ does not depend on these two inputs
            levels = float(levels[0]) + np.array([-1.0, 1.0]) * max(1e-9, 1e-9 * abs(float(levels[0])))
        for axis, (name, _), (x, y, values) in zip(axes[:, column], rows, grids, strict=True):
            shown = axis.contourf(x, y, values, levels=levels, extend="both", cmap="viridis")
            for row, other in _minima(values):
                axis.plot(x[other], y[row], "o", ms=6, mfc="white", mec=COLOURS[1], mew=1.5)
            axis.grid(False)
            axis.set_xlabel(plane.first)
            axis.set_ylabel(plane.second)
            axis.set_title(f"Ψ, {name}", fontsize=9)
            figure.colorbar(shown, ax=axis, format="%.2g")
    return figure


def _slice(plane: Plane, physics: Physics, energy: Energy) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ψ over two inputs, the others at the reference."""
    x, y = np.linspace(*plane.first_range, _GRID), np.linspace(*plane.second_range, _GRID)
    inputs = np.tile(np.asarray(physics.reference.point), (_GRID * _GRID, 1))
    first, second = np.meshgrid(x, y)
    inputs[:, physics.inputs.index(plane.first)] = first.ravel()
    inputs[:, physics.inputs.index(plane.second)] = second.ravel()
    return x, y, np.asarray(energy(jnp.asarray(inputs))).reshape(_GRID, _GRID)


def _minima(values: np.ndarray) -> list[tuple[int, int]]:
    """Points of the inner grid that lie below all eight neighbours."""
    inner = values[1:-1, 1:-1]
    lower = np.ones(inner.shape, bool)
    for down in (0, 1, 2):
        for right in (0, 1, 2):
            if (down, right) != (1, 1):
                shifted = values[down : down + inner.shape[0], right : right + inner.shape[1]]
                lower &= inner < shifted
    return [(int(i) + 1, int(j) + 1) for i, j in np.argwhere(lower)]


def _truth_energy(truth: Truth, reference: Reference) -> Energy:
    def energy(inputs: Array) -> Array:
        nothing = jnp.zeros((len(inputs), 1, inputs.shape[1]))
        return observe.clean_energy(truth, reference, observe.Rig(inputs, nothing))

    return energy
