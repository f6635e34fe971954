"""The nouns every stage speaks: reference state, observations, path, progress.

Stages never see mechanics. A physics turns what was measured into `Observations`: inputs x of the potential and a
linear operator B with y = B ∇Ψ̂(x), because every observed stress is linear in the slopes of the normalised potential.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Float

from steinmetz.errors import InputError

Report = Callable[..., None]
"""`report(stage, done, total, **facts)`, called between compiled chunks."""


def silent(stage: str, done: int, total: int, **facts: object) -> None:
    """The progress report that says nothing."""


@dataclass(frozen=True)
class Reference:
    """Where energy and stress vanish: Ψ̂ = Ψ − Ψ(x₀) − n d·(x − x₀) with n = v·∇Ψ(x₀) (method §1).

    `point` is x₀, `weights` is v and `direction` is d. With v = 0 only the energy is shifted.
    """

    point: tuple[float, ...]
    weights: tuple[float, ...]
    direction: tuple[float, ...]

    def cancels(self, index: int) -> bool:
        """Whether a term linear in input `index` alone drops out of Ψ̂: e_i = v_i d."""
        unit = np.eye(len(self.point))[index]
        return bool(np.array_equal(unit, self.weights[index] * np.asarray(self.direction)))

    def scaled(self, sizes: tuple[float, ...]) -> "Reference":
        """The same normalisation for inputs measured in units of `sizes`."""
        point, weights, direction = (np.asarray(part) for part in (self.point, self.weights, self.direction))
        unit = np.asarray(sizes)
        return Reference(tuple(point / unit), tuple(weights / unit), tuple(direction * unit))


@dataclass(frozen=True)
class Conditions:
    """What a potential must satisfy: convexity in all inputs, growth in some, no stress at the reference."""

    convex: bool
    increasing: tuple[str, ...]
    stress_free: bool


class Observations(NamedTuple):
    """Stress data as the stages see them; unmeasured cells are masked, never zero."""

    state: Float[np.ndarray, "data columns"]
    inputs: Float[Array, "data inputs"]
    operator: Float[Array, "data components inputs"]
    values: Float[Array, "data components"]
    observed: Bool[Array, "data components"]
    absolute: Float[Array, "data components"]
    relative: Float[Array, "data components"]
    components: tuple[str, ...]

    @property
    def cells(self) -> int:
        """Number of observed cells."""
        return int(np.sum(np.asarray(self.observed)))

    @property
    def scale(self) -> float:
        """Root mean square of the observed values: the unit of stress of this data set."""
        values = np.asarray(self.values)[np.asarray(self.observed)]
        return float(np.sqrt(np.mean(values**2)))

    def scaled(self, sizes: tuple[float, ...]) -> "Observations":
        """The same data for inputs measured in units of `sizes`."""
        unit = np.asarray(sizes)
        return self._replace(inputs=self.inputs / unit, operator=self.operator / unit)

    def modulus(self, reference: Reference) -> float:
        """Stress per unit slope: the root-mean-square stress over that of the potentials Ψ = x_i alone.

        The natural size of a weight on the output, whatever the unit of stress and the amplitude of strain.
        """
        size = len(reference.point)
        slopes = np.eye(size) - np.outer(reference.weights, reference.direction)
        kept = slopes[[not reference.cancels(index) for index in range(size)]]
        unit = np.einsum("nci,ki->knc", np.asarray(self.operator), kept)[:, np.asarray(self.observed)]
        response = float(np.sqrt(np.mean(unit**2))) if unit.size else 0.0
        if response == 0:
            raise InputError(
                f"the observed components ({', '.join(self.components)}) do not depend on the potential at the given "
                "states; there is nothing to learn from them"
            )
        return self.scale / response


class Path(NamedTuple):
    """States along which a law is validated, the coordinate to plot them over and the sampled range."""

    state: Float[np.ndarray, "points columns"]
    coordinate: Float[np.ndarray, "points"]
    label: str
    sampled: Bool[np.ndarray, "points"]


class Plane(NamedTuple):
    """A slice of Ψ: two inputs and their ranges; the others stay at the reference."""

    first: str
    second: str
    first_range: tuple[float, float]
    second_range: tuple[float, float]


class Truth(NamedTuple):
    """A generating law, known for synthetic data only: energy(inputs) without normalisation."""

    name: str
    energy: Callable[[Float[Array, "inputs"]], Float[Array, ""]]
