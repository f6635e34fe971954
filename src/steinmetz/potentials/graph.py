"""A potential as a graph of units: what pruning, closed form, certificate and storage all read.

Nodes are numbered inputs first, then units in topological order, then the output. An edge carries one parameter, or
the weight one (`UNIT`). Edges may share a parameter (the tied network does).
"""

from functools import lru_cache
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.base import Potential

# In place of a parameter: the weight of this edge is one. It points to the end of θ with a one appended.
UNIT = -1
# Up to so many edges every node is a scalar of its own; larger graphs are evaluated layer by layer.
_SCALAR_EDGES = 64


class Edge(NamedTuple):
    """`target` receives θ[parameter] times the value of `source`, or the value itself where `parameter` is UNIT."""

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
                raise ValueError(
                    f"edge {source} → {target} does not fit a graph whose output is node {self.out}"
                )
            if parameter != UNIT and not 0 <= parameter < len(self.nonnegative):
                raise ValueError(
                    f"edge {source} → {target} names parameter {parameter}, which does not exist"
                )

    @property
    def out(self) -> int:
        """Number of the output node."""
        return len(self.inputs) + len(self.activations)

    def into(self, node: int) -> tuple[Edge, ...]:
        """Edges that end in a node."""
        return _incoming(self.edges).get(node, ())

    def units(self) -> range:
        """Node numbers of the units, in topological order."""
        return range(len(self.inputs), self.out)

    def activation(self, node: int) -> str:
        return self.activations[node - len(self.inputs)]

    @property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """Units by the length of the longest chain below them."""
        return _levels(len(self.inputs), self.out, self.edges)

    @property
    def shape(self) -> tuple:
        """The shape of the law, the same for every order of units: what two laws share when they are one."""
        return _shape(self.inputs, self.activations, self.edges)

    def energy(
        self, theta: Float[Array, "parameters"], x: Float[Array, "inputs"]
    ) -> Float[Array, ""]:
        weights = jnp.append(theta, jnp.ones((), theta.dtype))
        return (
            self._scalars(weights, x)
            if len(self.edges) <= _SCALAR_EDGES
            else self._layers(weights, x)
        )

    def _scalars(
        self, weights: Float[Array, "weights"], x: Float[Array, "inputs"]
    ) -> Float[Array, ""]:
        nodes = [x[index] for index in range(len(self.inputs))]

        def total(node: int) -> Float[Array, ""]:
            terms = [
                nodes[edge.source]
                if edge.parameter == UNIT
                else weights[edge.parameter] * nodes[edge.source]
                for edge in self.into(node)
            ]
            return sum(terms, start=jnp.zeros((), x.dtype))

        for node in self.units():
            nodes.append(ACTIVATIONS[self.activation(node)].value(total(node)))
        return total(self.out)

    def _layers(
        self, weights: Float[Array, "weights"], x: Float[Array, "inputs"]
    ) -> Float[Array, ""]:
        place = {index: index for index in range(len(self.inputs))}
        values = x

        def totals(nodes: list[int]) -> Float[Array, "nodes"]:
            cells = [
                (row, place[e.source], e.parameter)
                for row, node in enumerate(nodes)
                for e in self.into(node)
            ]
            row, column, parameter = np.array(cells, int).reshape(-1, 3).T
            matrix = (
                jnp.zeros((len(nodes), values.size), weights.dtype)
                .at[row, column]
                .add(weights[parameter])
            )
            return matrix @ values

        for level in self.levels:
            for name in sorted({self.activation(node) for node in level}):
                alike = [node for node in level if self.activation(node) == name]
                added = ACTIVATIONS[name].value(totals(alike))
                place |= {node: values.size + index for index, node in enumerate(alike)}
                values = jnp.concatenate([values, added])
        return totals([self.out])[0]


# Kept beside the graph, not in it: what a module holds is part of its identity for compiled programs.
@lru_cache(maxsize=4096)
def _incoming(edges: tuple[Edge, ...]) -> dict[int, tuple[Edge, ...]]:
    found: dict[int, list[Edge]] = {}
    for edge in edges:
        found.setdefault(edge.target, []).append(edge)
    return {node: tuple(into) for node, into in found.items()}


@lru_cache(maxsize=4096)
def _levels(inputs: int, out: int, edges: tuple[Edge, ...]) -> tuple[tuple[int, ...], ...]:
    depth, incoming = dict.fromkeys(range(inputs), 0), _incoming(edges)
    for node in range(inputs, out):
        depth[node] = 1 + max((depth[edge.source] for edge in incoming.get(node, ())), default=0)
    units = range(inputs, out)
    return tuple(
        tuple(n for n in units if depth[n] == at)
        for at in range(1, max(depth.values(), default=0) + 1)
    )


@lru_cache(maxsize=4096)
def _shape(inputs: tuple[str, ...], activations: tuple[str, ...], edges: tuple[Edge, ...]) -> tuple:
    shapes: list[tuple] = [(name,) for name in inputs]
    incoming = _incoming(edges)
    for name in (*activations, "out"):
        below = sorted(shapes[edge.source] for edge in incoming.get(len(shapes), ()))
        shapes.append((name, *below))
    return shapes[-1]


def parameter_units(
    graph: Graph, sizes: tuple[float, ...], modulus: float
) -> Float[np.ndarray, "parameters"]:
    """The natural unit of every parameter, where input i has the size `sizes[i]` and Ψ the size `modulus`.

    A softplus unit sees a pure number. A unit without a scale of its own (`degree`) has the size that its edge of
    weight one gives it.
    """
    node = dict(enumerate(sizes))
    units: dict[int, float] = {}
    for target in (*graph.units(), graph.out):
        fixed = [edge for edge in graph.into(target) if edge.parameter == UNIT]
        argument = modulus if target == graph.out else (node[fixed[0].source] if fixed else 1.0)
        degree = None if target == graph.out else ACTIVATIONS[graph.activation(target)].degree
        node[target] = argument**degree if degree is not None else 1.0
        for edge in graph.into(target):
            if edge.parameter == UNIT:
                continue
            unit = argument / node[edge.source]
            if not np.isclose(units.setdefault(edge.parameter, unit), unit):
                raise ValueError(
                    "a shared parameter cannot have two units; use a potential without tied weights"
                )
    return np.array([units[index] for index in range(graph.size)])
