"""The likeliest size of both parts of the noise by many data, from a size that is near it.

Steps of Fisher's scoring in the logarithms of the sizes: slope and information of the likelihood
are sums over data, so that blocks of them can be added up.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from steinmetz.data import student
from steinmetz.data.estimate import Noise
from steinmetz.data.linear import Linear

# The longest step, and added to the information: a part that data say nothing of stays.
_LONGEST, _LEAST = 0.5, 0.25


class Score(NamedTuple):
    """Slope of the log likelihood in the logarithms of both sizes, and its information."""

    slope: Float[np.ndarray, "2"]
    information: Float[np.ndarray, "2 2"]

    @classmethod
    def of(cls, noise: Noise, law: Linear, sizes: Float[np.ndarray, "2"]) -> "Score":
        """Of what a law leaves of some data, at two sizes by their logarithms."""
        variance, changes = noise.changes(law, float(sizes[0]), float(sizes[1]))
        squares = law.left**2 / variance
        weighted = squares * student.weights(squares) if noise.tails else squares
        return cls(changes.T @ (weighted - 1) / 2, changes.T @ changes / 2)

    @classmethod
    def summed(cls, parts: Iterable["Score"]) -> "Score":
        """Of several blocks together."""
        slopes, informations = zip(*parts, strict=True)
        return cls(np.sum(slopes, axis=0), np.sum(informations, axis=0))

    @property
    def step(self) -> Float[np.ndarray, "2"]:
        """To the next sizes; a part that is stated stays."""
        held = self.information + _LEAST * np.eye(2)
        return np.clip(np.linalg.solve(held, self.slope), -_LONGEST, _LONGEST)
