"""What an experiment declares: its columns, the states they make, what is observed, and B.

An experiment turns rows of a table into states of a material and says which stress is measured at
them. With a free face it also eliminates the pressure of an incompressible material: the traction
on that face is zero, which is linear in ∇Ψ, so the pressure goes into B.
"""

import abc
import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import numpy as np
from jaxtyping import Array, Bool, Float
from pydantic import BaseModel, ConfigDict

from steinmetz import host, registry
from steinmetz.errors import InputError
from steinmetz.materials.base import Material, State, States
from steinmetz.records import StressMap

Rows = Float[np.ndarray, "rows entries"]
Row = Float[np.ndarray, "entries"]
# States whose B is computed at once: more need memory, and are not faster.
_AT_ONCE = 2**15


class Settings(BaseModel):
    """What a study says of an experiment; an experiment adds the range of its columns."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    name: str


@dataclasses.dataclass(frozen=True)
class Course:
    """A way through the states of an experiment.

    The coordinate to plot over, and what was sampled.
    """

    rows: Rows
    coordinate: Float[np.ndarray, "rows"]
    label: str
    sampled: Bool[np.ndarray, "rows"]


@dataclasses.dataclass(frozen=True)
class Experiment(abc.ABC):
    """One kind of test.

    One new experiment is one new file with `Config`, a class and `build(config)`.

    - `columns` describe a row of a table, `state` the material states they make.
    - `observed`: the components measured unless a table names others.
    - `free`: the face without traction, such as "33"; None where no pressure is eliminated.
    """

    name: str
    columns: tuple[str, ...]
    state: tuple[str, ...]
    observed: tuple[str, ...]
    free: str | None

    @abc.abstractmethod
    def states(self, rows: Rows) -> States:
        """States of the material, a row each."""

    def fault(self, row: Row) -> str:
        """Why a row is not possible; empty where it is (the material judges its state)."""
        return ""

    @abc.abstractmethod
    def sample(self, key: Array, count: int) -> Rows:
        """Rows of a synthetic test."""

    def fresh(self, key: Array, count: int) -> Rows:
        """Random rows of the same range, to judge a law by."""
        return self.sample(key, count)

    @abc.abstractmethod
    def course(self, count: int) -> Course:
        """The validation path: through the sampled range and beyond it."""

    @abc.abstractmethod
    def covering(self, rows: Rows) -> "Experiment":
        """The same experiment with the smallest range that holds these rows."""

    @abc.abstractmethod
    def widened(self, factor: float) -> "Experiment":
        """The same experiment with a range that reaches further from the undeformed state."""

    @property
    def isochoric(self) -> bool:
        """Whether the volume is taken as constant, and the free face decides the pressure."""
        return self.free is not None

    def operator(
        self, material: Material, state: State, components: tuple[str, ...]
    ) -> Float[Array, "components inputs"]:
        """B at one state; with a free face, B_c − (π_c/π_f) B_f, π what a pressure adds."""
        rows = material.operator(state, components)
        if self.free is None:
            return rows
        faces = tuple(name.rstrip("0123456789") + self.free for name in components)
        share = material.pressure(state, components) / material.pressure(state, faces)
        return rows - share[:, None] * material.operator(state, faces)

    def check(self, material: Material) -> None:
        """Refuse a material whose states or stress this experiment does not describe."""
        if material.state != self.state:
            raise InputError(
                f"experiment '{self.name}' describes a point by {', '.join(self.state)}, material "
                f"'{material.name}' by {', '.join(material.state)}; name another experiment"
            )
        if material.incompressible and self.free is None:
            raise InputError(
                f"experiment '{self.name}' has no free face, so the pressure of an incompressible "
                "material stays unknown; set material.incompressible = false"
            )
        if self.isochoric and not material.incompressible:
            raise InputError(
                f"experiment '{self.name}' is an incompressible test; set material.incompressible "
                "= true, or measure the lateral stretch too (a column 'lateral_stretch')"
            )
        if not self.isochoric and material.incompressible:
            raise InputError(
                f"experiment '{self.name}' measures the lateral stretch, so the volume may change; "
                "set material.incompressible = false"
            )

    def map(self, material: Material, states: States, components: tuple[str, ...]) -> StressMap:
        """Inputs and B of every state, in compiled batches."""
        unknown = [name for name in components if name not in material.components]
        if unknown:
            known = list(material.components)
            raise InputError(registry.unknown("stress component", unknown[0], known))
        every, parts = _compiled(_Way(self, material, components)), range(0, len(states), _AT_ONCE)
        found = [every(host.filled_up(states[first : first + _AT_ONCE])) for first in parts]
        if not found:
            found = [every(np.zeros((0, len(material.state))))]
        whole = (np.concatenate([*map(np.asarray, part)]) for part in zip(*found, strict=True))
        inputs, operator = (host.held(part[: len(states)]) for part in whole)
        return StressMap(inputs, operator)


class _Way(NamedTuple):
    """From states of a material to what an experiment observes: equal ones share a program.

    Numbers of materials need not be hashable, so names are hashed, and everything is compared.
    """

    experiment: Experiment
    material: Material
    components: tuple[str, ...]

    def __hash__(self) -> int:
        return hash((self.experiment.name, self.material.name, self.components))


@functools.lru_cache(maxsize=32)
def _compiled(way: _Way) -> Callable[[States], tuple[Array, Array]]:
    """Inputs and B of many states."""
    experiment, material, components = way

    def at(state: State) -> tuple[Array, Array]:
        return material.features(state), experiment.operator(material, state, components)

    return jax.jit(jax.vmap(at))


@runtime_checkable
class ExperimentFile(Protocol):
    """What a file in `experiments` defines."""

    Config: type[Settings]

    def build(self, config: Any) -> Experiment:
        """The experiment with its settings."""


def load(name: str) -> ExperimentFile:
    """The file of an experiment by name."""
    return registry.load_as("experiments", name, ExperimentFile)


def build(settings: Settings) -> Experiment:
    """The experiment that settings describe."""
    return load(settings.name).build(settings)
