"""Linear systems with one sparsity pattern: KLU if klujax is installed, SuperLU of SciPy else."""

import importlib.util
from collections.abc import Callable
from functools import cached_property

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
        fast: bool = True,
    ) -> None:
        """`fast` takes KLU if it is there."""
        size = len(starts) - 1
        self.whole = (rows, starts)
        numbered = sparse.csc_matrix((np.arange(1.0, len(rows) + 1), rows, starts), (size, size))
        reduced = numbered[:, free][free, :].tocsc()
        reduced.sort_indices()
        self.rows, self.starts = reduced.indices, reduced.indptr
        self.kept = reduced.data.astype(int) - 1
        self.free, self.fast = free, fast and importlib.util.find_spec("klujax") is not None

    @property
    def name(self) -> str:
        """Who factorises."""
        return "KLU (klujax)" if self.fast else "SuperLU (SciPy)"

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
        if not self.fast:
            solver = self.factor(values)
            return None if solver is None else solver(right[:, None])[:, 0]
        import jax.numpy as jnp
        import klujax

        columns, symbol = self._symbol
        entries = jnp.asarray(values[self.kept])
        try:
            found = klujax.solve_with_symbol(
                self.rows, columns, entries, jnp.asarray(right), symbol
            )
            solution = np.asarray(found)
        except RuntimeError:
            return None
        return solution if np.isfinite(solution).all() else None

    @cached_property
    def _symbol(self) -> tuple[Int[np.ndarray, "nonzeros"], object]:
        """Columns of all entries, and the ordering, found once."""
        import klujax

        columns = np.repeat(np.arange(len(self.free)), np.diff(self.starts)).astype(np.int32)
        return columns, klujax.analyze(self.rows, columns, len(self.free))
