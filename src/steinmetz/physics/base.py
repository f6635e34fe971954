"""What a physics declares. Stages use this and nothing of mechanics."""

import abc

import equinox as eqx
import numpy as np
from jaxtyping import Array, Bool, Float

from steinmetz.records import Conditions, Plane, Reference, ValidationPath


class Physics(eqx.Module):
    """A kind of material behaviour with a potential Ψ(x).

    One new physics is one new file with a final subclass, `build()` and `POTENTIAL`, the network that suits it. `state`
    names the columns that describe a material point in a table, `inputs` the arguments x of Ψ and `sizes` how large
    they typically are (weights on them are trained, and their prior is set, in these units). `components` names every
    observable. `planes` names pairs of inputs, with their ranges, over which a figure of Ψ says something.
    """

    name: eqx.AbstractVar[str]
    inputs: eqx.AbstractVar[tuple[str, ...]]
    sizes: eqx.AbstractVar[tuple[float, ...]]
    state: eqx.AbstractVar[tuple[str, ...]]
    components: eqx.AbstractVar[tuple[str, ...]]
    default_components: eqx.AbstractVar[tuple[str, ...]]
    aliases: eqx.AbstractVar[dict[str, str]]
    reference: eqx.AbstractVar[Reference]
    conditions: eqx.AbstractVar[Conditions]
    planes: eqx.AbstractVar[tuple[Plane, ...]]

    @abc.abstractmethod
    def features(self, state: Float[Array, "columns"]) -> Float[Array, "inputs"]:
        """Arguments x of the potential at one state."""

    @abc.abstractmethod
    def operator(
        self, state: Float[Array, "columns"], components: tuple[str, ...]
    ) -> Float[Array, "components inputs"]:
        """B at one state: the named components are B ∇Ψ̂(x)."""

    @abc.abstractmethod
    def sample(self, key: Array, count: int, spread: float) -> Float[np.ndarray, "count columns"]:
        """Random states of the training distribution."""

    @abc.abstractmethod
    def path(self, count: int, spread: float) -> ValidationPath:
        """The validation path; `spread` marks the part inside the sampled range."""

    @abc.abstractmethod
    def reach(self, state: Float[np.ndarray, "states columns"]) -> float:
        """The smallest spread whose training distribution holds these states."""

    @abc.abstractmethod
    def possible(self, state: Float[np.ndarray, "states columns"]) -> Bool[np.ndarray, "states"]:
        """Which states a material point can be in."""

    @abc.abstractmethod
    def fault(self, state: Float[np.ndarray, "columns"]) -> str:
        """Why a state is not possible, for a message."""
