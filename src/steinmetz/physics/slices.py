"""Slices of Ψ through the reference, and the wells in them."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from steinmetz.physics import observe
from steinmetz.physics.base import Physics
from steinmetz.records import Plane, Reference, StressMap, Truth

Energy = Callable[[Array], Array]
_GRID = 81


def grid(
    plane: Plane, physics: Physics, energy: Energy
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ψ over two inputs, the others at the reference."""
    x, y = np.linspace(*plane.first_range, _GRID), np.linspace(*plane.second_range, _GRID)
    inputs = np.tile(np.asarray(physics.reference.point), (_GRID * _GRID, 1))
    first, second = np.meshgrid(x, y)
    inputs[:, physics.inputs.index(plane.first)] = first.ravel()
    inputs[:, physics.inputs.index(plane.second)] = second.ravel()
    return x, y, np.asarray(energy(jnp.asarray(inputs))).reshape(_GRID, _GRID)


def minima(values: np.ndarray) -> list[tuple[int, int]]:
    """Points of the inner grid that lie below all eight neighbours."""
    inner = values[1:-1, 1:-1]
    lower = np.ones(inner.shape, bool)
    for down in (0, 1, 2):
        for right in (0, 1, 2):
            if (down, right) != (1, 1):
                shifted = values[down : down + inner.shape[0], right : right + inner.shape[1]]
                lower &= inner < shifted
    return [(int(i) + 1, int(j) + 1) for i, j in np.argwhere(lower)]


def energy_of(truth: Truth, reference: Reference) -> Energy:
    """Ψ̂ of a generating law."""

    def energy(inputs: Array) -> Array:
        nothing = jnp.zeros((len(inputs), 1, inputs.shape[1]))
        return observe.clean_energy(truth, reference, StressMap(inputs, nothing))

    return energy
