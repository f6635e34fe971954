"""The records every stage speaks: reference state, stress map, observations, path, progress.

Stages never see mechanics. A material and an experiment turn what was measured into `Observations`:
inputs x of the potential and a linear operator B with y = B ∇Ψ̂(x), because every observed stress
is linear in the slopes of the normalised potential.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int
from pydantic import BaseModel, ConfigDict

from steinmetz import host
from steinmetz.errors import InputError
from steinmetz.shapes import Cells, Inputs, Points, Scalar

Report = Callable[..., None]
"""`report(stage, done, total, **facts)`, called between compiled chunks."""


def silent(stage: str, done: int, total: int, **facts: object) -> None:
    """The progress report that says nothing."""


@dataclass(frozen=True)
class Reference:
    """Where energy and stress vanish (method §1).

    Ψ̂ = Ψ − Ψ(x₀) − Σ_k n_k d_k·(x − x₀) with n_k = v_k·∇Ψ(x₀).

    `point` is x₀, `weights` are the v_k and `directions` the d_k. Without directions only the
    energy is shifted. This is the one place where a potential is normalised. `bulk` is the bulk
    modulus that completes a law found at constant volume, zero where none is given.
    """

    point: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...] = ()
    directions: tuple[tuple[float, ...], ...] = ()
    bulk: float = 0.0

    def removed(self, slope: Float[Array, "*batch inputs"]) -> Float[Array, "*batch inputs"]:
        """Σ_k n_k d_k from `slope` = ∇Ψ(x₀)."""
        total = jnp.zeros_like(slope)
        for v, d in zip(self.weights, self.directions, strict=True):
            n = slope @ jnp.asarray(v, slope.dtype)
            term = n[..., None] * jnp.asarray(d, slope.dtype)
            total = term if len(self.weights) == 1 else total + term
        return total

    def returned(self, total: Float[Array, "*batch inputs"]) -> Float[Array, "*batch inputs"]:
        """The transpose of −`removed`: Σ over points of slopes in ∇Ψ̂ to the slope in ∇Ψ(x₀)."""
        slope = jnp.zeros_like(total)
        for v, d in zip(self.weights, self.directions, strict=True):
            n = total @ jnp.asarray(d, total.dtype)
            slope = slope - n[..., None] * jnp.asarray(v, total.dtype)
        return slope

    def energy(self, potential: Callable[[Array], Array], x: Inputs) -> Scalar:
        """Ψ̂(x) of a potential Ψ."""
        point = jnp.asarray(self.point, x.dtype)
        value: Array
        slope: Array
        value, slope = jax.value_and_grad(potential)(point)
        return potential(x) - value - self.removed(slope) @ (x - point)

    def slopes(self, gradients: Callable[[Array], Array], x: Points) -> Points:
        """∇Ψ̂ at many x, from a function that gives ∇Ψ at many points."""
        slope = gradients(jnp.concatenate([x, jnp.asarray(self.point, x.dtype)[None]]))
        return slope[:-1] - self.removed(slope[-1])

    @property
    def responses(self) -> Float[np.ndarray, "inputs inputs"]:
        """Row i: the slopes of Ψ̂ where Ψ = x_i."""
        slopes = np.eye(len(self.point))
        for v, d in zip(self.weights, self.directions, strict=True):
            slopes = slopes - np.outer(v, d)
        return slopes

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
            self.bulk,
        )


@dataclass(frozen=True)
class Conditions:
    """What a potential must satisfy.

    Convexity in all inputs, growth in some, no stress at the reference, and an energy that grows
    without bound at the ends of the domain. What a material is examined for beside that is in
    `steinmetz.materials.demands`.
    """

    convex: bool
    increasing: tuple[str, ...]
    stress_free: bool
    growth: bool = False


class StressMap(NamedTuple):
    """What turns slopes of a potential into observed components at many states: y = B ∇Ψ̂(x)."""

    inputs: Float[Array, "states inputs"]
    operator: Float[Array, "states components inputs"]

    def stress(
        self, slopes: Float[Array, "*batch states inputs"]
    ) -> Float[Array, "*batch states components"]:
        """y = B ∇Ψ̂ at every state."""
        stress: Array = _applied(self.operator, slopes)
        return stress


@jax.jit
def _applied(operator: Array, slopes: Array) -> Array:
    return jnp.einsum("sci,...si->...sc", operator, slopes)


def spaced(count: int, most: int) -> Int[np.ndarray, "rows"]:
    """As many of `count` rows at most, evenly spaced, the first and the last among them."""
    return np.arange(count) if count <= most else np.linspace(0, count - 1, most).astype(int)


class Observations(NamedTuple):
    """Stress data as the stages see them; unmeasured cells are masked, never zero.

    `absolute` and `relative` are the parts of the noise, not a number where they are to be
    estimated.
    """

    state: Float[np.ndarray, "data columns"]
    inputs: Points
    operator: Float[Array, "data components inputs"]
    values: Cells
    observed: Bool[Array, "data components"]
    absolute: Cells
    relative: Cells
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

    def rows(self, index: Int[np.ndarray, "rows"]) -> "Observations":
        """Some rows."""
        arrays = [host.held(np.asarray(array)[index]) for array in self[1:-1]]
        inputs, operator, values, observed, absolute, relative = arrays
        parts = (inputs, operator, values, observed, absolute, relative, self.components)
        return Observations(self.state[index], *parts)

    def spread(self, most: int) -> "Observations":
        """As many rows at most, evenly spaced, the first and the last among them."""
        count = len(self.state)
        return self if count <= most else self.rows(spaced(count, most))

    def scaled(self, sizes: tuple[float, ...]) -> "Observations":
        """The same data for inputs measured in units of `sizes`."""
        unit = np.asarray(sizes)
        inputs, operator = (np.asarray(part) / unit for part in (self.inputs, self.operator))
        return self._replace(inputs=host.held(inputs), operator=host.held(operator))

    def modulus(self, reference: Reference) -> float:
        """Stress per unit slope: the root-mean-square stress over that of Ψ = x_i, all i together.

        The natural size of a weight on the output, whatever the unit of stress and the amplitude
        of strain.
        """
        kept = reference.responses[[not reference.cancels(i) for i in range(len(reference.point))]]
        every = np.einsum("nci,ki->knc", np.asarray(self.operator), kept)
        unit = every[:, np.asarray(self.observed)]
        response = float(np.sqrt(np.mean(unit**2))) if unit.size else 0.0
        if response == 0:
            raise InputError(
                f"the observed components ({', '.join(self.components)}) do not depend on the "
                "potential at the given states; there is nothing to learn from them"
            )
        return self.scale / response


class Segment(NamedTuple):
    """The part of a validation path that belongs to one experiment.

    And the name of its coordinate.
    """

    experiment: str
    label: str
    points: slice


class ValidationPath(NamedTuple):
    """States along which a law is validated, one segment per experiment of the study.

    `coordinate` is what to plot over, `sampled` whether a point lies in the range of the data,
    `observed` which components an experiment measures there, with the noise of its data.
    """

    state: Float[np.ndarray, "points columns"]
    map: StressMap
    components: tuple[str, ...]
    observed: Bool[np.ndarray, "points components"]
    relative: Float[np.ndarray, "points components"]
    absolute: Float[np.ndarray, "points components"]
    coordinate: Float[np.ndarray, "points"]
    sampled: Bool[np.ndarray, "points"]
    segments: tuple[Segment, ...]

    def known(
        self, values: Float[Array, "points components"], part: Bool[np.ndarray, "points"]
    ) -> Observations:
        """Values at some of the points, as observations."""
        nothing = np.zeros(self.observed[part].shape)
        found = (*self.map, values, self.observed)
        inputs, operator, known, cells = (host.held(np.asarray(each)[part]) for each in found)
        seen = (known, cells, host.held(nothing), host.held(nothing), self.components)
        return Observations(self.state[part], inputs, operator, *seen)


class Plane(NamedTuple):
    """A slice of Ψ: two inputs and their ranges; the others stay at the reference."""

    first: str
    second: str
    first_range: tuple[float, float]
    second_range: tuple[float, float]


class Truth(NamedTuple):
    """A generating law, known for synthetic data only: energy(inputs) without normalisation."""

    name: str
    energy: Callable[[Inputs], Scalar]

    def stress(self, reference: Reference, at: StressMap) -> Cells:
        """y = B ∇Ψ̂, normalised like every potential (method §1)."""
        filled = StressMap(*(host.held(host.filled_up(np.asarray(part))) for part in at))
        found = np.asarray(_true_stress(self, reference, filled))
        return host.held(found[: len(at.inputs)])

    def energies(self, reference: Reference, x: Points) -> Float[Array, "data"]:
        """Ψ̂ at many inputs."""
        return _true_energy(self, reference, x)


@eqx.filter_jit
def _true_stress(truth: Truth, reference: Reference, at: StressMap) -> Array:
    slope = jax.grad(truth.energy)
    removed = reference.removed(slope(jnp.asarray(reference.point)))
    return at.stress(jax.vmap(slope)(at.inputs) - removed)


@eqx.filter_jit
def _true_energy(truth: Truth, reference: Reference, x: Array) -> Array:
    return jax.vmap(lambda row: reference.energy(truth.energy, row))(x)


class Document(BaseModel):
    """A record that is also a JSON object: `scores["r2"]["path"]` is `scores.r2.path`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __getitem__(self, name: str) -> Any:
        if name not in type(self).model_fields:
            raise KeyError(name)
        return getattr(self, name)
