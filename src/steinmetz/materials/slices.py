"""Slices of Ψ through the reference, and the wells in them."""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.materials.base import Material
from steinmetz.records import Plane, Truth

Energy = Callable[[Array], Array]
# Points along each side of a slice.
_GRID = 81


class Slice(NamedTuple):
    """Ψ over two inputs, the others at the reference."""

    first: str
    second: str
    x: Float[np.ndarray, "columns"]
    y: Float[np.ndarray, "rows"]
    values: Float[np.ndarray, "rows columns"]

    @property
    def minima(self) -> list[tuple[int, int]]:
        """Row and column of inner points that lie below all eight neighbours."""
        inner = self.values[1:-1, 1:-1]
        rows, columns = inner.shape
        lower = np.ones(inner.shape, bool)
        for down in range(3):
            for right in range(3):
                shifted = self.values[down : down + rows, right : right + columns]
                lower &= (inner < shifted) | ((down, right) == (1, 1))
        return [(int(i) + 1, int(j) + 1) for i, j in np.argwhere(lower)]


def grid(plane: Plane, material: Material, energy: Energy) -> Slice:
    """Ψ on a regular grid of a plane."""
    x, y = np.linspace(*plane.first_range, _GRID), np.linspace(*plane.second_range, _GRID)
    inputs = np.tile(np.asarray(material.reference.point), (_GRID * _GRID, 1))
    first, second = np.meshgrid(x, y)
    inputs[:, material.inputs.index(plane.first)] = first.ravel()
    inputs[:, material.inputs.index(plane.second)] = second.ravel()
    values = np.asarray(energy(jnp.asarray(inputs))).reshape(_GRID, _GRID)
    return Slice(plane.first, plane.second, x, y, values)


def energy_of(truth: Truth, material: Material) -> Energy:
    """Ψ̂ of a generating law."""
    return lambda inputs: truth.energies(material.reference, inputs)
