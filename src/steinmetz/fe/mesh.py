"""Meshes: points and cells of one kind, blocks of mapped squares and cubes, boundary faces."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from steinmetz.errors import InputError
from steinmetz.fe import elements

Points = Float[np.ndarray, "nodes dimension"]
Cells = Int[np.ndarray, "cells corners"]
# Distance that is none, as a share of the size of a mesh.
NEAR = 1e-8


class Mesh(NamedTuple):
    """Points, and cells of one kind; named groups of nodes."""

    points: Points
    cells: Cells
    kind: str
    groups: dict[str, Int[np.ndarray, "members"]]

    @property
    def element(self) -> elements.Element:
        """What the cells are."""
        return elements.element(self.kind)

    @property
    def size(self) -> float:
        """The longest side of the box around it."""
        return float(np.ptp(self.points, axis=0).max())

    def on(self, **at: float) -> Int[np.ndarray, "members"]:
        """Nodes on a plane or line, such as `on(x=48.0)`."""
        hit = np.ones(len(self.points), bool)
        for axis, value in at.items():
            place = self.axis(axis)
            hit &= np.abs(self.points[:, place] - value) <= NEAR * self.size
        return np.flatnonzero(hit)

    def nearest(self, point: tuple[float, ...]) -> int:
        """The node at a point, or next to it."""
        away = self.points - np.asarray(point)
        return int(np.argmin(np.sum(away**2, axis=1)))

    def axis(self, name: str) -> int:
        """The number of a direction x, y or z."""
        if name not in "xyz"[: self.points.shape[1]] or len(name) != 1:
            possible = ", ".join("xyz"[: self.points.shape[1]])
            raise InputError(f"there is no direction '{name}' in this mesh; possible: {possible}")
        return "xyz".index(name)

    def boundary(self, members: Int[np.ndarray, "members"]) -> Cells:
        """Faces of the surface all of whose nodes are among some."""
        sides = self.cells[:, self.element.faces]
        every = sides.reshape(-1, sides.shape[-1])
        keys = np.sort(every, axis=1)
        _, first, counts = np.unique(keys, axis=0, return_index=True, return_counts=True)
        surface = every[first[counts == 1]]
        chosen = np.asarray(np.isin(surface, members).all(axis=1))
        return np.asarray(surface[chosen])


def block(kind: str, counts: tuple[int, ...], place: Callable[[Points], Points]) -> Mesh:
    """A square or cube [0, 1]ⁿ cut into `counts` cells, its points moved by `place`."""
    element = elements.element(kind)
    steps = [element.degree * count for count in counts]
    axes = [np.linspace(0, 1, step + 1) for step in steps]
    grids = np.meshgrid(*axes, indexing="ij")
    points = np.stack([grid.ravel() for grid in grids], axis=1)
    number = np.arange(len(points)).reshape([step + 1 for step in steps])
    local = np.rint((element.nodes + 1) / 2 * element.degree).astype(int)
    starts = np.stack([g.ravel() for g in np.meshgrid(*map(np.arange, counts), indexing="ij")])
    index = element.degree * starts.T[:, None, :] + local[None]
    cells = number[tuple(np.moveaxis(index, 2, 0))]
    return Mesh(np.asarray(place(points), float), cells, kind, {})


def joined(parts: list[Mesh]) -> Mesh:
    """Blocks whose nodes coincide where they meet, as one mesh."""
    points = np.concatenate([part.points for part in parts])
    shifts = np.cumsum([0, *(len(part.points) for part in parts[:-1])])
    cells = np.concatenate([part.cells + s for part, s in zip(parts, shifts, strict=True)])
    size = float(np.ptp(points, axis=0).max())
    keys = np.rint(points / (1e3 * NEAR * size)).astype(np.int64)
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return Mesh(points[first], inverse.ravel()[cells], parts[0].kind, {})
