"""A law as its data see it: what it leaves of them, and how its stress changes with parameters."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

Vector = Float[np.ndarray, "cells"]


class Linear(NamedTuple):
    """A law at the observed cells: what it leaves of them, its prediction, and its changes."""

    left: Vector
    prediction: Vector
    changes: Float[np.ndarray, "cells parameters"]


class Pairs(NamedTuple):
    """Products of the changes of a law, two by two and with what it leaves, cell by cell."""

    products: Float[np.ndarray, "cells products"]
    size: int

    @classmethod
    def of(cls, law: Linear) -> "Pairs":
        """Changes are scaled to one; of two products that are the same, one is kept."""
        size = law.changes / np.maximum(np.linalg.norm(law.changes, axis=0), 1e-300)
        first, second = np.triu_indices(size.shape[1])
        products = [size[:, first] * size[:, second], size * law.left[:, None]]
        return cls(np.concatenate(products, axis=1), size.shape[1])

    def summed(
        self, weight: Float[np.ndarray, "*sizes cells"]
    ) -> tuple[Float[np.ndarray, "*sizes k k"], Float[np.ndarray, "*sizes k"]]:
        """The Gram matrix and the pull of weighted cells."""
        shape = weight.shape[:-1]
        sums = (weight.reshape(-1, weight.shape[-1]) @ self.products).reshape(*shape, -1)
        first, second = np.triu_indices(self.size)
        gram = np.empty((*shape, self.size, self.size))
        gram[..., first, second] = gram[..., second, first] = sums[..., : len(first)]
        return gram, sums[..., len(first) :]
