"""A potential as a graph of units: what pruning, closed form, certificate and storage all read.

Nodes are numbered inputs first, then units in topological order, then the output. An edge carries one parameter; edges
may share a parameter (the tied network does).
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.base import Potential


class Edge(NamedTuple):
    """`target` receives θ[parameter] times the value of `source`."""

    target: int
    source: int
    parameter: int


class Graph(Potential):
    """Ψ(θ, x) = Σ θ_e · node_e over edges into the output; unit u = activation(Σ θ_e · node_e)."""

    inputs: tuple[str, ...] = eqx.field(static=True)
    activations: tuple[str, ...] = eqx.field(static=True)
    edges: tuple[Edge, ...] = eqx.field(static=True)
    nonnegative: tuple[bool, ...] = eqx.field(static=True)

    def __check_init__(self) -> None:
        for target, source, parameter in self.edges:
            if not 0 <= source < target <= self.out or target < len(self.inputs):
                raise ValueError(f"edge {source} → {target} does not fit a graph whose output is node {self.out}")
            if not 0 <= parameter < len(self.nonnegative):
                raise ValueError(f"edge {source} → {target} names parameter {parameter}, which does not exist")

    @property
    def out(self) -> int:
        """Number of the output node."""
        return len(self.inputs) + len(self.activations)

    @property
    def output(self) -> tuple[bool, ...]:
        scaled = {edge.parameter for edge in self.edges if edge.target == self.out}
        return tuple(index in scaled for index in range(self.size))

    def into(self, node: int) -> tuple[Edge, ...]:
        """Edges that end in a node."""
        return tuple(edge for edge in self.edges if edge.target == node)

    def units(self) -> range:
        """Node numbers of the units, in topological order."""
        return range(len(self.inputs), self.out)

    def activation(self, node: int) -> str:
        return self.activations[node - len(self.inputs)]

    def energy(self, theta: Float[Array, "parameters"], x: Float[Array, "inputs"]) -> Float[Array, ""]:
        nodes = [x[index] for index in range(len(self.inputs))]

        def total(node: int) -> Float[Array, ""]:
            terms = [theta[edge.parameter] * nodes[edge.source] for edge in self.into(node)]
            return sum(terms, start=jnp.zeros((), x.dtype))

        for node in self.units():
            nodes.append(ACTIVATIONS[self.activation(node)].value(total(node)))
        return total(self.out)
