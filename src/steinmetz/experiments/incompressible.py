"""Incompressible tests.

A few stretches or a shear make F with det F = 1, a free face the pressure.
"""

import abc
import dataclasses
from typing import TypeVar

import jax
import numpy as np
from jaxtyping import Array, Float
from pydantic import Field, field_validator

from steinmetz.experiments.base import Course, Experiment, Row, Rows, Settings
from steinmetz.materials.base import States

Range = tuple[float, float]
# A state is the whole deformation gradient, row by row.
STATE = tuple(f"F{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))
# How much further than the sampled range the validation path goes, in strain.
_BEYOND = 1.3


@dataclasses.dataclass(frozen=True)
class Incompressible(Experiment):
    """Columns with a range each; `rest` is their value in the undeformed state."""

    ranges: tuple[Range, ...]
    rest: float

    @abc.abstractmethod
    def deformation(self, row: Row) -> Float[np.ndarray, "3 3"]:
        """F of one row, det F = 1."""

    def states(self, rows: Rows) -> States:
        return np.stack([self.deformation(row).ravel() for row in rows])

    def fault(self, row: Row) -> str:
        return "a stretch must be positive" if self.rest == 1 and min(row) <= 0 else ""

    def sample(self, key: Array, count: int) -> Rows:
        """A test curve: evenly spaced where there is one column, random where there are more."""
        if len(self.ranges) > 1:
            return self.fresh(key, count)
        return np.linspace(*self.ranges[0], count)[:, None]

    def fresh(self, key: Array, count: int) -> Rows:
        share = np.asarray(jax.random.uniform(key, (count, len(self.ranges))))
        low, high = np.array(self.ranges).T
        return np.asarray(low + share * (high - low))

    def course(self, count: int) -> Course:
        """The first column through its range and beyond; the others follow by `beside`."""
        (low, high), (least, most) = self.ranges[0], self._stretched(self.ranges[0], _BEYOND)
        first = np.linspace(least, most, count)
        rows = np.stack([first, *(self.beside(first) for _ in self.ranges[1:])], axis=1)
        return Course(
            rows, first, self.columns[0], (first >= low - 1e-12) & (first <= high + 1e-12)
        )

    def beside(self, first: Float[np.ndarray, "rows"]) -> Float[np.ndarray, "rows"]:
        """The second column along the validation path."""
        return np.full_like(first, self.rest)

    def covering(self, rows: Rows) -> "Incompressible":
        ranges = tuple((float(column.min()), float(column.max())) for column in rows.T)
        return dataclasses.replace(self, ranges=ranges)

    def widened(self, factor: float) -> "Incompressible":
        return dataclasses.replace(
            self, ranges=tuple(self._stretched(r, factor) for r in self.ranges)
        )

    def _stretched(self, ends: Range, factor: float) -> Range:
        """A range that goes `factor` times as far from rest: in logarithms for stretches."""
        low, high = ends
        if self.rest == 1:
            return low**factor, high**factor
        return factor * low, factor * high


T = TypeVar("T", bound=Incompressible)


class Curve(Settings):
    """Settings of a test along one stretch."""

    stretch: Range = Field((0.7, 2.0), description="smallest and largest stretch of the test")
    lateral: bool = Field(
        False, description="the lateral stretch is measured too, so the volume may change"
    )

    @field_validator("stretch")
    @classmethod
    def _rises(cls, ends: Range) -> Range:
        if not 0 < ends[0] < ends[1]:
            raise ValueError(f"stretch = {list(ends)} must be positive and rise")
        return ends


def curve(kind: type[T], config: Curve, observed: tuple[str, ...], free: str) -> T:
    """The experiment of a class that has one stretch."""
    return kind(config.name, ("stretch",), STATE, observed, free, (config.stretch,), 1.0)
