"""Tests whose lateral stretch is measured: F is known in full, so the volume may change.

The free sides are data: the stress on them is zero. With that the stress along the pull is freed
from Ψ_J, P_c − (π_c/π_f) P_f, in which an error of the lateral stretch hardly matters; what the
volume does is in the row of the free side alone, P_f = 0 (method §1).
"""

import dataclasses

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.experiments.base import Course, Row, Rows
from steinmetz.experiments.incompressible import Incompressible
from steinmetz.materials.base import Material, State

# The column that the lateral stretch is in.
COLUMN = "lateral_stretch"
# Directions in which a test with this free face moves sideways: both sides of a bar are free.
_SIDES = {"22": (1, 2), "33": (2,)}
# A volume that changes by less is hardly measured through a lateral stretch.
_LITTLE = 0.02


@dataclasses.dataclass(frozen=True)
class Lateral(Incompressible):
    """A test with one more column, the lateral stretch.

    `inner` is the test without it. Along the validation path the lateral stretch is a^−m, a the
    area stretch of what is loaded and m the `contraction` that fits the rows best.
    """

    inner: Incompressible
    contraction: float

    @property
    def isochoric(self) -> bool:
        return False

    @property
    def sides(self) -> tuple[int, ...]:
        """Directions of the lateral stretch."""
        return _SIDES[str(self.inner.free)]

    @property
    def face(self) -> str:
        """The nominal stress that is zero because its side is free."""
        return f"P{self.inner.free}"

    def deformation(self, row: Row) -> Float[np.ndarray, "3 3"]:
        F = self.inner.deformation(row[:-1])
        F[self.sides, self.sides] = row[-1]
        return F

    def course(self, count: int) -> Course:
        """That of the test, with the lateral stretch that belongs to it."""
        along = self.inner.course(count)
        aside = self._loaded(along.rows) ** -self.contraction
        return dataclasses.replace(along, rows=np.column_stack([along.rows, aside]))

    def covering(self, rows: Rows) -> "Lateral":
        loaded, aside = np.log(self._loaded(rows[:, :-1])), np.log(rows[:, -1])
        size = float(loaded @ loaded)
        return dataclasses.replace(
            self,
            inner=self.inner.covering(rows[:, :-1]),
            ranges=tuple((float(column.min()), float(column.max())) for column in rows.T),
            contraction=-float(loaded @ aside) / size if size > 0 else self.contraction,
        )

    def widened(self, factor: float) -> "Lateral":
        ranges = tuple(self._stretched(ends, factor) for ends in self.ranges)
        return dataclasses.replace(self, inner=self.inner.widened(factor), ranges=ranges)

    def operator(
        self, material: Material, state: State, components: tuple[str, ...]
    ) -> Float[Array, "components inputs"]:
        """B without Ψ_J on loaded faces, and as it is on the sides."""
        freed = super().operator(material, state, components)
        sides = tuple(f"{side + 1}{side + 1}" for side in self.sides)
        own = jnp.asarray([name.endswith(sides) for name in components])
        return jnp.where(own[:, None], material.operator(state, components), freed)

    def _loaded(self, rows: Rows) -> Float[np.ndarray, "rows"]:
        """The product of the stretches that are not lateral."""
        stretches = np.array([np.diag(self.inner.deformation(row)) for row in rows])
        return np.asarray(np.prod(np.delete(stretches, self.sides, axis=1), axis=1))

    def notes(self, rows: Rows) -> list[str]:
        """What is assumed of the sides, and whether the volume is measured at all."""
        found = [f"the sides are free: {self.face} = 0 is fitted beside the measured stress"]
        if not len(rows):
            return found
        change = np.abs(np.linalg.det(self.states(rows).reshape(-1, 3, 3)) - 1).max()
        if change < _LITTLE:
            found.append(
                f"the volume changes by {100 * change:.2g} % at most, which a lateral stretch "
                "hardly shows; leave the column out, and give the bulk modulus (--bulk)"
            )
        return found


def lateral(test: Incompressible) -> Lateral:
    """A test with its lateral stretch measured; without rows it is that of a constant volume."""
    columns, ranges = (*test.columns, COLUMN), (*test.ranges, test.ranges[0])
    named = test.name, columns, test.state, test.observed, test.free
    return Lateral(*named, ranges, test.rest, test, 1 / len(_SIDES[str(test.free)]))
