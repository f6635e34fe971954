"""Reference elements: shape functions, quadrature and faces, nodes in the order of VTK.

Quadrilaterals and hexahedra are products of Lagrange polynomials on [−1, 1], triangles and
tetrahedra are written in barycentric coordinates.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from steinmetz.errors import InputError

Table = Float[np.ndarray, "points nodes"]
Slopes = Float[np.ndarray, "points nodes dimension"]
Coordinates = Float[np.ndarray, "points dimension"]


class Element(NamedTuple):
    """A kind of element.

    `nodes` are its reference coordinates, `face` the kind of its sides, `faces` their nodes.
    `linear` counts the functions {1, X, Y, Z} to which its change of volume is projected against
    locking: none of them (0) where nothing is known to help.
    """

    name: str
    nodes: Coordinates
    degree: int
    simplex: bool
    face: str
    faces: Int[np.ndarray, "sides corners"]
    linear: int

    @property
    def dimension(self) -> int:
        """Of the space it fills."""
        return int(self.nodes.shape[1])

    def shapes(self, at: Coordinates) -> tuple[Table, Slopes]:
        """Shape functions and their slopes in reference coordinates at some points."""
        powers = _simplex(self.dimension, self.degree) if self.simplex else _product(self)
        table = _monomials(powers, self.nodes)[0]
        values, slopes = _monomials(powers, at)
        inverse = np.linalg.inv(table)
        return values @ inverse, np.einsum("pmd,mn->pnd", slopes, inverse)

    def quadrature(self) -> tuple[Coordinates, Float[np.ndarray, "points"]]:
        """Points and weights that integrate what the element can hold."""
        if self.simplex:
            return _SIMPLEX[self.dimension, self.degree]
        x, w = np.polynomial.legendre.leggauss(self.degree + 1)
        grids = np.meshgrid(*[x] * self.dimension, indexing="ij")
        weights = np.meshgrid(*[w] * self.dimension, indexing="ij")
        points = np.stack([grid.ravel() for grid in grids], axis=1)
        return points, np.prod([part.ravel() for part in weights], axis=0)


def _product(element: Element) -> Int[np.ndarray, "terms dimension"]:
    """Exponents of the monomials of a product of polynomials."""
    one = np.arange(element.degree + 1)
    grids = np.meshgrid(*[one] * element.dimension, indexing="ij")
    return np.stack([grid.ravel() for grid in grids], axis=1)


def _simplex(dimension: int, degree: int) -> Int[np.ndarray, "terms dimension"]:
    """Exponents of all monomials up to a degree."""
    grids = np.meshgrid(*[np.arange(degree + 1)] * dimension, indexing="ij")
    every = np.stack([grid.ravel() for grid in grids], axis=1)
    return np.asarray(every[every.sum(axis=1) <= degree])


def _monomials(powers: Int[np.ndarray, "terms dimension"], at: Coordinates) -> tuple[Table, Slopes]:
    """Monomials and their slopes at points."""
    factors = at[:, None, :] ** powers[None]
    values = factors.prod(axis=2)
    slopes = np.empty((*values.shape, at.shape[1]))
    for d in range(at.shape[1]):
        lowered = powers[:, d] * at[:, None, d] ** np.maximum(powers[:, d] - 1, 0)
        slopes[:, :, d] = np.delete(factors, d, axis=2).prod(axis=2) * lowered
    return values, slopes


def _midpoints(
    corners: Coordinates, edges: list[tuple[int, int]]
) -> Float[np.ndarray, "edges dimension"]:
    return np.array([(corners[a] + corners[b]) / 2 for a, b in edges])


def _rule(*orbits: tuple[float, ...]) -> tuple[Coordinates, Float[np.ndarray, "points"]]:
    """A symmetric rule from (weight, barycentric coordinates…), all permutations of each."""
    points, weights = [], []
    for weight, *barycentric in orbits:
        for each in sorted(set(_permutations(tuple(barycentric)))):
            points.append(each[1:])
            weights.append(weight)
    return np.array(points), np.array(weights)


def _permutations(values: tuple[float, ...]) -> list[tuple[float, ...]]:
    if len(values) == 1:
        return [values]
    found = []
    for place, first in enumerate(values):
        rest = values[:place] + values[place + 1 :]
        found += [(first, *tail) for tail in _permutations(rest)]
    return found


_FAR, _CLOSE = (5 + 3 * np.sqrt(5)) / 20, (5 - np.sqrt(5)) / 20
# Rules by dimension and degree of the element.
_SIMPLEX = {
    (1, 1): _rule((0.5, *(0.5 + np.sqrt(3) / 6 * np.array([1, -1])))),
    (1, 2): _rule((5 / 18, *(0.5 + np.sqrt(0.15) * np.array([1, -1]))), (4 / 9, 0.5, 0.5)),
    (2, 1): _rule((1 / 6, 2 / 3, 1 / 6, 1 / 6)),
    (2, 2): _rule(
        (0.223381589678011 / 2, 0.108103018168070, 0.445948490915965, 0.445948490915965),
        (0.109951743655322 / 2, 0.816847572980459, 0.091576213509771, 0.091576213509771),
    ),
    (3, 1): _rule((1 / 24, _FAR, _CLOSE, _CLOSE, _CLOSE)),
    (3, 2): _rule(
        (0.0122488405193936, 0.7217942490673264, *[0.0927352503108912] * 3),
        (0.0187813209530026, 0.0673422422100982, *[0.3108859192633006] * 3),
        (0.0070910034628469, *[0.0455037041256496] * 2, *[0.4544962958743506] * 2),
    ),
}
_SQUARE = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], float)
_RING = [(0, 1), (1, 2), (2, 3), (3, 0)]
_CUBE = np.concatenate([np.c_[_SQUARE, np.full(4, z)] for z in (-1.0, 1.0)])
_TRIANGLE = np.array([[0, 0], [1, 0], [0, 1]], float)
_TETRA = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
_TETRA_EDGES = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]
_CUBE_FACES = [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]]
_QUAD9 = np.concatenate([_SQUARE, _midpoints(_SQUARE, _RING), [[0.0, 0.0]]])
_LINE2, _LINE3 = np.array([[-1.0], [1.0]]), np.array([[-1.0], [1.0], [0.0]])
_NONE = np.zeros((0, 0), int)

ELEMENTS = {
    element.name: element
    for element in (
        Element("line", _LINE2, 1, False, "", _NONE, 0),
        Element("line3", _LINE3, 2, False, "", _NONE, 0),
        Element("quad", _SQUARE, 1, False, "line", np.array(_RING), 1),
        Element(
            "quad9",
            _QUAD9,
            2,
            False,
            "line3",
            np.array([(*e, 4 + k) for k, e in enumerate(_RING)]),
            3,
        ),
        Element("hexahedron", _CUBE, 1, False, "quad", np.array(_CUBE_FACES), 1),
        Element("triangle", _TRIANGLE, 1, True, "line", np.array([(0, 1), (1, 2), (2, 0)]), 0),
        Element(
            "triangle6",
            np.concatenate([_TRIANGLE, _midpoints(_TRIANGLE, [(0, 1), (1, 2), (2, 0)])]),
            2,
            True,
            "line3",
            np.array([(0, 1, 3), (1, 2, 4), (2, 0, 5)]),
            1,
        ),
        Element("tetra", _TETRA, 1, True, "triangle", np.array(list(combinations(range(4), 3))), 0),
        Element(
            "tetra10",
            np.concatenate([_TETRA, _midpoints(_TETRA, _TETRA_EDGES)]),
            2,
            True,
            "triangle6",
            np.array(
                [(0, 1, 2, 4, 5, 6), (0, 1, 3, 4, 8, 7), (1, 2, 3, 5, 9, 8), (0, 2, 3, 6, 9, 7)]
            ),
            1,
        ),
    )
}


def element(name: str) -> Element:
    """An element by the name that meshio has for it."""
    if name not in ELEMENTS:
        known = ", ".join(known for known, kind in ELEMENTS.items() if kind.faces.size)
        raise InputError(f"elements of kind '{name}' are not known; possible: {known}")
    return ELEMENTS[name]
