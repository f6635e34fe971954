"""What a material declares: the arguments of its potential, and how slopes become stress.

A material knows nothing of tests or tables, an experiment nothing of potentials. Stages use this
class and nothing of mechanics.
"""

import abc
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Array, Bool, Float
from pydantic import BaseModel, ConfigDict

from steinmetz import registry
from steinmetz.materials.demands import Demands
from steinmetz.records import Conditions, Plane, Reference
from steinmetz.shapes import Inputs

State = Float[Array, "columns"]
States = Float[np.ndarray, "states columns"]


class Settings(BaseModel):
    """What a study says of its material; a material adds fields of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    name: str


@dataclass(frozen=True)
class Material(abc.ABC):
    """A kind of material behaviour with a potential Ψ(x); every observed stress is B ∇Ψ̂(x).

    One new material is one new file with `Config`, a final subclass and `build(config)`.

    - `potential`: the potential that suits it.
    - `state`: what describes a material point, `undeformed`: that of the stress-free body.
    - `inputs`: the arguments x of Ψ; `sizes`: how large they typically are (weights on them are
      trained, and their prior is set, in these units); `constants`: quantities a generating law may
      ask for that do not vary here, such as J = 1.
    - `components`: every stress that can be observed; `aliases`: twins such as S21 of S12.
    - `reference` normalises Ψ, `conditions` say which potentials are admissible.
    - `objective`: x depends on F through FᵀF alone, so that turning the body changes nothing.
    - `incompressible`: stress is known up to a pressure, which an experiment's free face decides.
    - `planes`: pairs of inputs over which a figure of Ψ says something.
    """

    name: str
    potential: str
    experiment: str
    state: tuple[str, ...]
    undeformed: tuple[float, ...]
    inputs: tuple[str, ...]
    sizes: tuple[float, ...]
    components: tuple[str, ...]
    reference: Reference
    conditions: Conditions
    aliases: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, float] = field(default_factory=dict)
    incompressible: bool = False
    objective: bool = False
    planes: tuple[Plane, ...] = ()

    @abc.abstractmethod
    def features(self, state: State) -> Inputs:
        """Arguments x of the potential at one state."""

    @abc.abstractmethod
    def operator(
        self, state: State, components: tuple[str, ...]
    ) -> Float[Array, "components inputs"]:
        """B at one state: the named components are B ∇Ψ̂(x), without the pressure."""

    def pressure(self, state: State, components: tuple[str, ...]) -> Float[Array, "components"]:
        """What a pressure of one takes from each component (incompressible materials only)."""
        raise NotImplementedError(f"material '{self.name}' has no free pressure")

    def in_unit(self, unit: str) -> "Material":
        """The same with what was given in a unit of its own in that of the data."""
        return self

    @property
    def completed(self) -> "Material":
        """The same with a volume that may change, where a law is completed for that."""
        return self

    def demands(self, states: States) -> Demands:
        """What laws are examined for beside `conditions`; `states` are some around the data."""
        return Demands()

    @abc.abstractmethod
    def possible(self, states: States) -> Bool[np.ndarray, "states"]:
        """Which states a material point can be in."""

    @abc.abstractmethod
    def fault(self, state: Float[np.ndarray, "columns"]) -> str:
        """Why a state is not possible, for a message."""


@runtime_checkable
class MaterialFile(Protocol):
    """What a file in `materials` defines."""

    Config: type[Settings]

    def build(self, config: Any) -> Material:
        """The material with its settings."""


def load(name: str) -> MaterialFile:
    """The file of a material by name."""
    return registry.load_as("materials", name, MaterialFile)


def build(settings: Settings) -> Material:
    """The material that settings describe."""
    return load(settings.name).build(settings)
