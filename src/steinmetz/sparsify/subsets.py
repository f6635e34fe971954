"""Best subsets of terms with positive coefficients: convex first (method §4).

What is linear in its coefficients is a convex problem. With A the Gram matrix of the slopes of all
terms at the data and b their products with the data, χ² of a subset is c − bᵀA⁻¹b over its rows,
and all one-term extensions of many subsets at once follow from Schur complements: no optimiser is
needed.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

# Added to the diagonal of the scaled Gram matrix: terms may be nearly the same.
_RIDGE = 1e-10
# Share of a term that others must leave of it.
_OWN = 1e-9
# Subsets of each size that are kept.
_KEPT = 64
# Subsets of each size that are extended, and rounds of exchanges between them.
_BEAM = 16
_ROUNDS = 8

Subset = tuple[int, ...]


class Normal(NamedTuple):
    """Normal equations of all terms, each scaled to the norm one; `scale` are the norms."""

    gram: Float[np.ndarray, "terms terms"]
    product: Float[np.ndarray, "terms"]
    constant: float
    scale: Float[np.ndarray, "terms"]

    @classmethod
    def of(
        cls, rows: Float[np.ndarray, "rows terms"], target: Float[np.ndarray, "rows"], rest: float
    ) -> "Normal":
        """From standardised residual rows: χ² = ‖rows c − target‖² + rest."""
        scale = np.sqrt(np.maximum(np.sum(rows**2, axis=0), 1e-300))
        scaled = rows / scale
        return cls(scaled.T @ scaled, scaled.T @ target, float(target @ target) + rest, scale)

    def solved(self, subset: Subset) -> tuple[Float[np.ndarray, "subset"], float]:
        """Coefficients of a subset, and χ²."""
        some = list(subset)
        gram = self.gram[np.ix_(some, some)] + _RIDGE * np.eye(len(some))
        found = np.linalg.solve(gram, self.product[some])
        return found / self.scale[some], float(self.constant - found @ self.product[some])

    def extended(
        self, bases: Iterable[Subset]
    ) -> tuple[list[Subset], Float[np.ndarray, "bases terms"]]:
        """χ² of every base with every further term; infinite where a coefficient is negative."""
        every = list(bases)
        index = np.array(every, int).reshape(len(every), -1)
        size = index.shape[1]
        if size == 0:
            fall = np.where(self.product > 0, self.product**2 / (1 + _RIDGE), -np.inf)
            return every, (self.constant - fall)[None]
        block = self.gram[index[:, :, None], index[:, None, :]] + _RIDGE * np.eye(size)
        inverse, beside = np.linalg.inv(block), self.gram[index]
        alone = np.einsum("nij,nj->ni", inverse, self.product[index])
        turned = inverse @ beside
        left = 1 + _RIDGE - np.einsum("nkm,nkm->nm", beside, turned)
        left = np.where(left > _OWN, left, np.inf)
        new = (self.product - np.einsum("nk,nkm->nm", alone, beside)) / left
        positive = (new > 0) & (alone[:, :, None] - turned * new[:, None] > 0).all(axis=1)
        before = self.constant - np.einsum("nk,nk->n", alone, self.product[index])
        fall = new**2 * np.where(np.isfinite(left), left, 0.0)
        found = np.where(positive, before[:, None] - fall, np.inf)
        np.put_along_axis(found, index, np.inf, axis=1)
        return every, found


class _Pool:
    """The best subsets of every size, by χ² and the prices of their terms."""

    def __init__(self, normal: Normal, price: Float[np.ndarray, "terms"], largest: int) -> None:
        self.normal, self.price = normal, price
        self.scores: dict[int, dict[Subset, float]] = {size: {} for size in range(largest + 1)}
        self.scores[0][()] = normal.constant

    def extend(self, bases: Iterable[Subset]) -> None:
        """Put the best one-term extensions of some subsets of one size into the pool."""
        bases = list(bases)
        if not bases or len(bases[0]) + 1 >= len(self.scores):
            return
        every, chi = self.normal.extended(bases)
        own = np.array([self.price[list(base)].sum() for base in every])
        score = chi + own[:, None] + self.price
        best = np.argsort(score, axis=None)[:_KEPT]
        for place in best:
            base, term = divmod(int(place), score.shape[1])
            if np.isfinite(score[base, term]):
                subset = tuple(sorted((*every[base], term)))
                self.scores[len(subset)][subset] = float(score[base, term])

    def best(self, size: int, count: int) -> list[Subset]:
        """The best of a size."""
        return sorted(self.scores[size], key=self.scores[size].__getitem__)[:count]


def without_one(subsets: Iterable[Subset]) -> set[Subset]:
    """Every subset with one of its terms left out."""
    return {
        subset[:place] + subset[place + 1 :] for subset in subsets for place in range(len(subset))
    }


def search(
    normal: Normal, price: Float[np.ndarray, "terms"], largest: int, starts: Iterable[Subset] = ()
) -> dict[int, list[Subset]]:
    """The best subsets of every size up to the largest, best first.

    Sizes grow one term at a time; at each size, terms of the best subsets are exchanged for all
    others until nothing changes. A second sweep begins from subsets of the sizes above.
    """
    pool = _Pool(normal, price, largest)
    pool.extend([()])
    pool.extend([(term,) for term in range(len(price))])
    for start in starts:
        pool.extend(without_one([start]))
    for _ in range(2):
        done: set[Subset] = set()
        for size in range(2, largest + 1):
            pool.extend(pool.best(size - 1, _BEAM))
            for _ in range(_ROUNDS):
                new = [subset for subset in pool.best(size, _BEAM) if subset not in done]
                if not new:
                    break
                done |= set(new)
                pool.extend(without_one(new))
        for size in range(largest, 2, -1):
            pool.extend(without_one(without_one(pool.best(size, _BEAM // 2))))
    return {size: pool.best(size, _KEPT) for size in range(1, largest + 1) if pool.scores[size]}
