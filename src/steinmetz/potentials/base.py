"""What a learnable potential declares, and its normalised slopes."""

import abc
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, Float
from pydantic import BaseModel, ConfigDict

from steinmetz.records import Reference


class Settings(BaseModel):
    """What a study says of its potential; a potential adds fields of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str


class Potential(eqx.Module):
    """Ψ(θ, x) with a flat parameter vector θ.

    Constraints are declared here and enforced by construction: `nonnegative` marks the parameters that may not be
    negative.
    """

    inputs: eqx.AbstractVar[tuple[str, ...]]
    nonnegative: eqx.AbstractVar[tuple[bool, ...]]

    @property
    def size(self) -> int:
        """Number of parameters."""
        return len(self.nonnegative)

    @abc.abstractmethod
    def energy(
        self, theta: Float[Array, "parameters"], x: Float[Array, "inputs"]
    ) -> Float[Array, ""]:
        """Ψ(θ, x), not normalised."""

    def gradients(
        self, theta: Float[Array, "parameters"], x: Float[Array, "data inputs"]
    ) -> Float[Array, "data inputs"]:
        """∇Ψ at many x."""
        return jax.vmap(jax.grad(self.energy, argnums=1), (None, 0))(theta, x)


class Network(Potential):
    """A potential that can be trained from random weights and read as a graph."""

    @abc.abstractmethod
    def initial(self, key: Array) -> Float[Array, "parameters"]:
        """Random weights of either sign; the penalty makes them admissible where the sign is fixed."""

    @abc.abstractmethod
    def closed(self, restart: int) -> Bool[np.ndarray, "parameters"]:
        """Which gates start closed in a restart, so that restarts look in different places."""

    @abc.abstractmethod
    def graph(self) -> Any:
        """Every connection as a `Graph` over the same θ."""


def slopes(
    potential: Potential,
    reference: Reference,
    theta: Float[Array, "parameters"],
    x: Float[Array, "data inputs"],
) -> Float[Array, "data inputs"]:
    """∇Ψ̂(x) = ∇Ψ(x) − n d, n = v·∇Ψ(x₀): zero stress at the reference for every θ (method §1)."""
    return reference.slopes(lambda every: potential.gradients(theta, every), x)


def normalised_energy(
    potential: Potential,
    reference: Reference,
    theta: Float[Array, "parameters"],
    x: Float[Array, "inputs"],
) -> Float[Array, ""]:
    """Ψ̂(x) = Ψ(x) − Ψ(x₀) − n d·(x − x₀)."""
    return reference.energy(lambda point: potential.energy(theta, point), x)
