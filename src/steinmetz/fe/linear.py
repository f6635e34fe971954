"""Linear systems with one sparsity pattern, by SuperLU of SciPy, which is told of the symmetry."""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg
from jaxtyping import Float, Int

Values = Float[np.ndarray, "nonzeros"]
Columns = Float[np.ndarray, "free columns"]


class Pattern:
    """The free unknowns of a symmetric sparse matrix, whose values change and places do not."""

    def __init__(
        self,
        rows: Int[np.ndarray, "nonzeros"],
        starts: Int[np.ndarray, "columns_and_end"],
        free: Int[np.ndarray, "free"],
    ) -> None:
        """Places of the whole matrix, column by column, and the unknowns that are solved for."""
        size = len(starts) - 1
        self.whole = (rows, starts)
        numbered = sparse.csc_matrix((np.arange(1.0, len(rows) + 1), rows, starts), (size, size))
        reduced = numbered[:, free][free, :].tocsc()
        reduced.sort_indices()
        self.rows, self.starts = reduced.indices, reduced.indptr
        self.kept = reduced.data.astype(int) - 1
        self.free = free

    def times(self, values: Values, vector: Float[np.ndarray, "all"]) -> Float[np.ndarray, "all"]:
        """The whole matrix times a vector."""
        size = len(self.whole[1]) - 1
        return np.asarray(sparse.csc_matrix((values, *self.whole), (size, size)) @ vector)

    def factor(self, values: Values) -> Callable[[Columns], Columns] | None:
        """A function that solves for many right-hand sides; None where the matrix is singular."""
        size = len(self.free)
        matrix = sparse.csc_matrix((values[self.kept], self.rows, self.starts), (size, size))
        try:
            factors = scipy.sparse.linalg.splu(
                matrix,
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
        except RuntimeError:
            return None
        return lambda columns: np.stack([factors.solve(column) for column in columns.T], axis=1)

    def solve(self, values: Values, right: Float[np.ndarray, "free"]) -> np.ndarray | None:
        """One right-hand side, the factors are not kept."""
        solver = self.factor(values)
        return None if solver is None else solver(right[:, None])[:, 0]
