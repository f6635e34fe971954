"""A mesh ready for integration: weights and slopes at the points, and one sparsity pattern.

Against locking, the change of volume of a cell is replaced by its projection J̄ on few functions:
its mean (hexahedra, Q1), or {1, X, Y} (Q2). F is then scaled to F̄ = (J̄/J)^⅓ F: the three-field
principle of Simo, Taylor and Pister with pressure and dilatation eliminated cell by cell.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse
from jaxtyping import Float, Int

from steinmetz.errors import InputError
from steinmetz.fe import elements
from steinmetz.fe.mesh import Cells, Mesh


class Cubature(NamedTuple):
    """At every point of every cell: slopes of the shape functions, weight, share in J̄."""

    gradients: Float[np.ndarray, "cells points corners dimension"]
    weights: Float[np.ndarray, "cells points"]
    projection: Float[np.ndarray, "cells points points"] | None


class Space(NamedTuple):
    """Unknowns of a mesh, node by node, and where entries of cells go in the global matrix.

    `gather` is the number of every unknown of a cell; `scatter` the place of every entry of the
    matrix of a cell among the `rows` and `starts` of a sparse matrix with sorted columns.
    """

    mesh: Mesh
    cubature: Cubature
    gather: Int[np.ndarray, "cells unknowns"]
    scatter: Int[np.ndarray, "entries"]
    rows: Int[np.ndarray, "nonzeros"]
    starts: Int[np.ndarray, "columns_and_end"]

    @property
    def unknowns(self) -> int:
        """Displacements of all nodes."""
        return self.mesh.points.size

    @property
    def points(self) -> int:
        """Integration points of all cells."""
        return self.cubature.weights.size

    def matrix(self, entries: Float[np.ndarray, "entries"]) -> Float[np.ndarray, "nonzeros"]:
        """Values of the sparse matrix from those of all cells."""
        return np.bincount(self.scatter, entries, len(self.rows))

    def vector(
        self, cells: Float[np.ndarray, "draws cells unknowns"]
    ) -> Float[np.ndarray, "draws all"]:
        """Vectors from those of all cells, draw by draw."""
        place = self.gather.ravel()
        return np.stack([np.bincount(place, each.ravel(), self.unknowns) for each in cells])


def space(mesh: Mesh, projected: bool = False) -> Space:
    """Everything of a mesh that does not depend on the law; `projected` is the cure of locking."""
    dimension = mesh.points.shape[1]
    gather = (dimension * mesh.cells[:, :, None] + np.arange(dimension)).reshape(
        len(mesh.cells), -1
    )
    rows = np.repeat(gather, gather.shape[1], axis=1).ravel()
    columns = np.tile(gather, (1, gather.shape[1])).ravel()
    keys, scatter = np.unique(columns * mesh.points.size + rows, return_inverse=True)
    starts = np.searchsorted(keys, np.arange(mesh.points.size + 1) * mesh.points.size)
    return Space(
        mesh,
        cubature(mesh, projected),
        gather,
        scatter.ravel(),
        (keys % mesh.points.size).astype(np.int32),
        starts.astype(np.int32),
    )


def cubature(mesh: Mesh, projected: bool) -> Cubature:
    """Weights and slopes; a cell that is turned inside out is refused."""
    at, weights = mesh.element.quadrature()
    values, slopes = mesh.element.shapes(at)
    corners = mesh.points[mesh.cells]
    jacobian = np.einsum("cni,qnj->cqij", corners, slopes)
    volume = np.linalg.det(jacobian)
    if not np.all(volume > 0):
        wrong = int(np.flatnonzero((volume <= 0).any(axis=1))[0])
        raise InputError(f"cell {wrong} of the mesh is turned inside out or has no volume")
    gradients = np.einsum("qnj,cqji->cqni", slopes, np.linalg.inv(jacobian))
    every = weights * volume
    if not (projected and mesh.element.linear):
        return Cubature(gradients, every, None)
    centred = np.einsum("qn,cni->cqi", values, corners) - corners.mean(axis=1)[:, None]
    ones = np.ones((*every.shape, 1))
    basis = np.concatenate([ones, centred], axis=2)[:, :, : mesh.element.linear]
    gram = np.einsum("cqm,cq,cqn->cmn", basis, every, basis)
    projection = np.einsum("cqm,cmn,cpn,cp->cqp", basis, np.linalg.inv(gram), basis, every)
    return Cubature(gradients, every, projection)


def tractions(
    mesh: Mesh, faces: Cells, traction: Float[np.ndarray, "dimension"]
) -> Float[np.ndarray, "all"]:
    """Forces at the nodes of a dead traction (force per undeformed area) on some faces."""
    face = elements.element(mesh.element.face)
    at, weights = face.quadrature()
    values, slopes = face.shapes(at)
    tangents = np.einsum("fni,qnj->fqij", mesh.points[faces], slopes)
    area = np.sqrt(np.linalg.det(np.einsum("fqij,fqik->fqjk", tangents, tangents)))
    shares = np.einsum("qn,fq,q->fn", values, area, weights)
    force = np.zeros(mesh.points.shape)
    np.add.at(force, faces, shares[:, :, None] * traction)
    return force.ravel()


def smoothing(mesh: Mesh) -> sparse.csr_matrix:
    """Values at nodes from those at integration points: least squares per cell, then averaged."""
    at, _ = mesh.element.quadrature()
    fitted = np.linalg.pinv(_linear(at, mesh.element.simplex))
    local = _linear(mesh.element.nodes, mesh.element.simplex) @ fitted
    cells, corners = mesh.cells.shape
    rows = np.repeat(mesh.cells.ravel(), len(at))
    columns = np.repeat(np.arange(cells * len(at)).reshape(cells, 1, -1), corners, 1).ravel()
    shares = np.tile(local.ravel(), cells) / np.bincount(mesh.cells.ravel())[rows]
    return sparse.csr_matrix((shares, (rows, columns)), (len(mesh.points), cells * len(at)))


def _linear(at: Float[np.ndarray, "points dimension"], simplex: bool) -> np.ndarray:
    """{1, x, y, …}, in squares and cubes with their products, at points."""
    factors = [np.stack([np.ones(len(at)), at[:, d]]) for d in range(at.shape[1])]
    if simplex:
        return np.concatenate([np.ones((len(at), 1)), at], axis=1)
    table = factors[0]
    for factor in factors[1:]:
        table = (table[:, None] * factor[None]).reshape(-1, len(at))
    return table.T
