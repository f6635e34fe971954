"""What a learnable potential declares, and its normalised slopes.

A potential is a function Ψ(θ, x) of a flat parameter vector θ and inputs x (invariants or strains).
A network is a potential that starts from random weights. A file of this folder that defines what
`PotentialFile` lists is a potential that studies can name.
"""

import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, Int
from pydantic import BaseModel, ConfigDict

from steinmetz import registry
from steinmetz.errors import InputError
from steinmetz.potentials.batched import Stack
from steinmetz.records import Conditions, Reference
from steinmetz.shapes import Inputs, Points, Scalar, Theta

if TYPE_CHECKING:
    import steinmetz.potentials.graph
    import steinmetz.potentials.terms


class Potential(eqx.Module):
    """Ψ(θ, x) with a flat parameter vector θ.

    Constraints are declared here and enforced by construction: `nonnegative` marks the parameters
    that may not be negative, for the MAP, every posterior particle and every export.
    """

    inputs: eqx.AbstractVar[tuple[str, ...]]
    nonnegative: eqx.AbstractVar[tuple[bool, ...]]

    @property
    def size(self) -> int:
        """Number of parameters."""
        return len(self.nonnegative)

    @abc.abstractmethod
    def energy(self, theta: Theta, x: Inputs) -> Scalar:
        """Ψ(θ, x), not normalised."""

    def gradients(self, theta: Theta, x: Points) -> Points:
        """∇Ψ at many x."""
        each: Points = jax.vmap(jax.grad(self.energy, argnums=1), (None, 0))(theta, x)
        return each

    def stack(self) -> Stack | None:
        """Layers for products of matrices over many θ at once; None if it does not have any."""
        return None


class Narrowed(NamedTuple):
    """A smaller network, and where its weights lie in θ of each of several larger ones."""

    network: "Network"
    places: Int[np.ndarray, "networks small"]


class Network(Potential):
    """A potential that can be trained from random weights and read as a graph over the same θ."""

    @abc.abstractmethod
    def initial(self, key: Array) -> Theta:
        """Random weights of either sign; the penalty makes them admissible where it is fixed."""

    @abc.abstractmethod
    def closed(self, restart: int) -> Bool[np.ndarray, "parameters"]:
        """Which gates start closed in a restart, so that restarts look in different places."""

    @abc.abstractmethod
    def graph(self) -> "steinmetz.potentials.graph.Graph":
        """Every connection as a graph over the same θ."""

    def energy(self, theta: Theta, x: Inputs) -> Scalar:
        """Ψ(θ, x), as its graph says it: the formula of a network is written once."""
        return self.graph().energy(theta, x)

    def narrowed(self, alive: Bool[np.ndarray, "networks parameters"]) -> Narrowed | None:
        """A network that holds what is alive in each of several; None where it cannot be cut."""
        return None


# Settings that suit a network better than the defaults, by the name of a penalty.
Advice = Mapping[str, Mapping[str, object]]
# For networks in which noise or an early end of gates does harm: they start open and close slowly.
SLOW: Mapping[str, object] = {"offset": 2.0, "warm_up": 1.0, "rate": 0.02}


class Settings(BaseModel):
    """Settings of a network; every file adds its name and its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str


@runtime_checkable
class PotentialFile(Protocol):
    """What a file of this folder defines to be a potential.

    `CONVEX` says whether it can keep Ψ convex and growing where a material demands it; `TRAINING`
    is its advice on settings of sparsify.
    """

    CONVEX: bool
    TRAINING: Advice
    Config: type[Settings]

    def build(
        self, config: Settings, inputs: tuple[str, ...], conditions: Conditions
    ) -> "Network | steinmetz.potentials.terms.Vocabulary":
        """The network of a configuration, or an InputError where it cannot keep the conditions.

        A law may also be composed of the terms of a vocabulary.
        """


def refuse_convex(name: str, conditions: Conditions) -> None:
    """Refuse a network with free signs where Ψ must be convex or growing, naming those that can."""
    if conditions.convex or conditions.increasing:
        names = registry.names("potentials")
        able = [
            other for other in names if getattr(registry.load("potentials", other), "CONVEX", False)
        ]
        raise InputError(
            f"potential '{name}' cannot keep Ψ convex, which this material demands; "
            f"use {' or '.join(map(repr, able))}"
        )


def slopes(potential: Potential, reference: Reference, theta: Theta, x: Points) -> Points:
    """∇Ψ̂(x) = ∇Ψ(x) − n d, n = v·∇Ψ(x₀): zero stress at the reference for every θ (method §1)."""
    return reference.slopes(lambda every: potential.gradients(theta, every), x)


def normalised_energy(
    potential: Potential, reference: Reference, theta: Theta, x: Inputs
) -> Scalar:
    """Ψ̂(x) = Ψ(x) − Ψ(x₀) − n d·(x − x₀): zero energy at the reference (method §1)."""
    return reference.energy(lambda point: potential.energy(theta, point), x)
