"""Deformation gradients drawn from a box around the identity.

What full tensors and plane strain share.
"""

import abc
import dataclasses

import numpy as np
from jaxtyping import Array, Bool

from steinmetz import host
from steinmetz.experiments.base import Course, Experiment, Rows
from steinmetz.materials.base import States

# Ends of the validation path, γ of F = I + γ e1⊗E1, as in the paper.
PATH_END = 0.4


@dataclasses.dataclass(frozen=True)
class Box(Experiment):
    """F = I + U[−ε, ε] entry by entry, ε = `spread`, without those with det F ≤ 0.

    Above ε = 1/3.
    """

    spread: float

    @property
    def size(self) -> int:
        """F has so many rows and columns; its entries are the first columns of a row."""
        return 3 if "F33" in self.columns else 2

    def states(self, rows: Rows) -> States:
        return rows

    @abc.abstractmethod
    def draw(self, key: Array, count: int) -> tuple[Array, Rows]:
        """The next key and `count` rows, possible or not."""

    def deformed(self, key: Array, count: int) -> Rows:
        """Entries of F, row by row."""
        shape, spread = (count, self.size**2), self.spread
        return np.asarray(np.eye(self.size).ravel() + host.uniform(key, shape, -spread, spread))

    def sample(self, key: Array, count: int) -> Rows:
        rows = np.zeros((0, len(self.columns)))
        while len(rows) < count:
            key, drawn = self.draw(key, count)
            rows = np.concatenate([rows, drawn[self._regular(drawn)]])
        return rows[:count]

    def _regular(self, rows: Rows) -> Bool[np.ndarray, "rows"]:
        tensors = rows[:, : self.size**2].reshape(-1, self.size, self.size)
        return np.asarray(np.linalg.det(tensors) > 0)

    def course(self, count: int) -> Course:
        """F = I + γ e1⊗E1; |γ| ≤ ε is inside the sampled range."""
        gamma = np.linspace(-PATH_END, PATH_END, count)
        rows = np.zeros((count, len(self.columns)))
        rows[:, : self.size**2] = np.eye(self.size).ravel()
        rows[:, 0] += gamma
        return Course(rows, 1 + gamma, "F11", np.abs(gamma) <= self.spread + 1e-12)

    def covering(self, rows: Rows) -> "Box":
        entries = rows[:, : self.size**2] - np.eye(self.size).ravel()
        return dataclasses.replace(self, spread=float(np.max(np.abs(entries))))

    def widened(self, factor: float) -> "Box":
        return dataclasses.replace(self, spread=factor * self.spread)
