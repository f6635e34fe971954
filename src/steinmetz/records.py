"""The records every stage speaks: reference state, stress map, observations, path, progress.

Stages never see mechanics. A physics turns what was measured into `Observations`: inputs x of the potential and a
linear operator B with y = B ∇Ψ̂(x), because every observed stress is linear in the slopes of the normalised potential.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from steinmetz.errors import InputError

Report = Callable[..., None]
"""`report(stage, done, total, **facts)`, called between compiled chunks."""


def silent(stage: str, done: int, total: int, **facts: object) -> None:
    """The progress report that says nothing."""


@dataclass(frozen=True)
class Reference:
    """Where energy and stress vanish: Ψ̂ = Ψ − Ψ(x₀) − Σ_k n_k d_k·(x − x₀), n_k = v_k·∇Ψ(x₀) (method §1).

    `point` is x₀, `weights` are the v_k and `directions` the d_k. Without directions only the energy
    is shifted. This is the one place where a potential is normalised.
    """

    point: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...] = ()
    directions: tuple[tuple[float, ...], ...] = ()

    def removed(self, slope: Float[Array, "*batch inputs"]) -> Float[Array, "*batch inputs"]:
        """Σ_k n_k d_k from `slope` = ∇Ψ(x₀)."""
        total = jnp.zeros_like(slope)
        for v, d in zip(self.weights, self.directions, strict=True):
            n = slope @ jnp.asarray(v, slope.dtype)
            term = n[..., None] * jnp.asarray(d, slope.dtype)
            total = term if len(self.weights) == 1 else total + term
        return total

    def returned(self, total: Float[Array, "*batch inputs"]) -> Float[Array, "*batch inputs"]:
        """The slope in ∇Ψ(x₀) of a function whose slopes in ∇Ψ̂ at all other points sum to `total`."""
        found = jnp.zeros_like(total)
        for v, d in zip(self.weights, self.directions, strict=True):
            found = found - (total @ jnp.asarray(d, total.dtype))[..., None] * jnp.asarray(
                v, total.dtype
            )
        return found

    def energy(
        self, potential: Callable[[Array], Array], x: Float[Array, "inputs"]
    ) -> Float[Array, ""]:
        """Ψ̂(x) of a potential Ψ."""
        point = jnp.asarray(self.point, x.dtype)
        value, slope = jax.value_and_grad(potential)(point)
        return potential(x) - value - self.removed(slope) @ (x - point)

    def slopes(
        self, gradients: Callable[[Array], Array], x: Float[Array, "data inputs"]
    ) -> Float[Array, "data inputs"]:
        """∇Ψ̂ at many x, from a function that gives ∇Ψ at many points."""
        slope = gradients(jnp.concatenate([x, jnp.asarray(self.point, x.dtype)[None]]))
        return slope[:-1] - self.removed(slope[-1])

    @property
    def responses(self) -> Float[np.ndarray, "inputs inputs"]:
        """Row i: the slopes of Ψ̂ where Ψ = x_i."""
        found = np.eye(len(self.point))
        for v, d in zip(self.weights, self.directions, strict=True):
            found = found - np.outer(v, d)
        return found

    def cancels(self, index: int) -> bool:
        """Whether a term linear in input `index` alone drops out of Ψ̂."""
        return not self.responses[index].any()

    def scaled(self, sizes: tuple[float, ...]) -> "Reference":
        """The same normalisation for inputs measured in units of `sizes`."""
        unit = np.asarray(sizes)
        return Reference(
            tuple(np.asarray(self.point) / unit),
            tuple(tuple(np.asarray(v) / unit) for v in self.weights),
            tuple(tuple(np.asarray(d) * unit) for d in self.directions),
        )


@dataclass(frozen=True)
class Conditions:
    """What a potential must satisfy: convexity in all inputs, growth in some, no stress at the reference."""

    convex: bool
    increasing: tuple[str, ...]
    stress_free: bool


class StressMap(NamedTuple):
    """What turns slopes of a potential into observed components at many states: y = B ∇Ψ̂(x)."""

    inputs: Float[Array, "states inputs"]
    operator: Float[Array, "states components inputs"]

    def stress(
        self, slopes: Float[Array, "*batch states inputs"]
    ) -> Float[Array, "*batch states components"]:
        """y = B ∇Ψ̂ at every state."""
        return _applied(self.operator, slopes)


@jax.jit
def _applied(operator: Array, slopes: Array) -> Array:
    return jnp.einsum("sci,...si->...sc", operator, slopes)


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
    def map(self) -> StressMap:
        """From slopes to the observed components."""
        return StressMap(self.inputs, self.operator)

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
        kept = reference.responses[[not reference.cancels(i) for i in range(len(reference.point))]]
        unit = np.einsum("nci,ki->knc", np.asarray(self.operator), kept)[
            :, np.asarray(self.observed)
        ]
        response = float(np.sqrt(np.mean(unit**2))) if unit.size else 0.0
        if response == 0:
            raise InputError(
                f"the observed components ({', '.join(self.components)}) do not depend on the potential at the given "
                "states; there is nothing to learn from them"
            )
        return self.scale / response


class ValidationPath(NamedTuple):
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
