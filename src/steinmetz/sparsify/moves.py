"""Moves from a law to one that is not larger: drop a parameter, make a unit linear, exchange a source or activation.

Every move is followed by exact pruning and keeps the sign rules of the network, so every law on the way is admissible.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.graph import UNIT, Edge, Graph
from steinmetz.potentials.law import Law
from steinmetz.sparsify.prune import prune

# Where the slope of a unit at the reference says nothing (a square at zero), its line starts with this slope.
_FLAT, _SLOPE = 1e-3, 0.5


class Rules(NamedTuple):
    """What the network allows: inputs, and whether units, whose weights may have either sign; depth; activations."""

    free: frozenset[int]
    free_units: bool
    depth: int
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, graph: Graph) -> "Rules":
        inputs, signs = len(graph.inputs), (*graph.nonnegative, True)
        either = {edge.source for edge in graph.edges if not signs[edge.parameter]}
        free = frozenset(source for source in either if source < inputs)
        kinds = tuple(sorted(set(graph.activations)))
        return cls(free, any(source >= inputs for source in either), len(graph.levels), kinds)

    def signed(self, graph: Graph, source: int) -> bool:
        """Whether a weight on this node may have either sign."""
        return source in self.free if source < len(graph.inputs) else self.free_units


def drop(law: Law, parameters: list[int], units: tuple[Edge, ...] = ()) -> Law:
    """The law without some parameters and without some edges of weight one, pruned."""
    values = np.asarray(law.values).copy()
    values[parameters] = 0.0
    edges = tuple(edge for edge in law.graph.edges if edge not in units)
    return prune(reshaped(law.graph, edges), jnp.asarray(values), law.reference)


def droppable_units(graph: Graph) -> list[Edge]:
    """Edges of weight one that stand beside others; where they are alone, dropping what follows does the same."""
    return [
        edge for edge in graph.edges if edge.parameter == UNIT and len(graph.into(edge.target)) > 1
    ]


def linearise(law: Law, unit: int) -> Law | None:
    """The law with unit(z) replaced by z·slope, its weights merged into its neighbours'; or None where they cannot be.

    The slope is taken at the reference point, which only sets the start of the refit.
    """
    graph, values = law.graph, np.asarray(law.values).copy()
    outgoing = [edge for edge in graph.edges if edge.source == unit]
    around = [edge.parameter for edge in (*outgoing, *graph.into(unit)) if edge.parameter != UNIT]
    uses = np.bincount(
        [edge.parameter for edge in graph.edges if edge.parameter != UNIT], minlength=1
    )
    if min(len(outgoing), len(graph.into(unit))) != 1 or any(
        uses[parameter] > 1 for parameter in around
    ):
        return None
    if any(edge.parameter == UNIT for edge in outgoing):
        return None
    values[[edge.parameter for edge in outgoing]] *= reference_slope(law, unit)
    kinds = list(graph.activations)
    kinds[unit - len(graph.inputs)] = "identity"
    return prune(
        reshaped(graph, graph.edges, activations=tuple(kinds)), jnp.asarray(values), law.reference
    )


def reshaped(
    graph: Graph,
    edges: tuple[Edge, ...],
    nonnegative: tuple[bool, ...] | None = None,
    activations: tuple[str, ...] | None = None,
) -> Graph:
    """A graph over the same inputs and parameters with other edges, signs or activations."""
    return Graph(
        inputs=graph.inputs,
        activations=graph.activations if activations is None else activations,
        edges=edges,
        nonnegative=graph.nonnegative if nonnegative is None else nonnegative,
    )


def exchanges(law: Law, rules: Rules) -> list[Law]:
    """Laws of at most the same size in which one edge comes from another node instead."""
    graph, values = law.graph, np.asarray(law.values)
    inputs, found = len(graph.inputs), []
    for edge in graph.edges:
        if edge.parameter != UNIT and sum(e.parameter == edge.parameter for e in graph.edges) > 1:
            continue
        taken = {other.source for other in graph.into(edge.target)}
        units = [unit for unit in graph.units() if unit < edge.target and unit != edge.source]
        for source in [node for node in (*range(inputs), *units) if node not in taken]:
            edges = tuple(
                Edge(e.target, source, e.parameter) if e == edge else e for e in graph.edges
            )
            signs, start = list(graph.nonnegative), values.copy()
            if edge.parameter != UNIT:
                free = rules.signed(graph, source)
                signs[edge.parameter] = not free
                start[edge.parameter] = abs(start[edge.parameter]) * (-1 if free else 1)
            found.append(
                prune(reshaped(graph, edges, tuple(signs)), jnp.asarray(start), law.reference)
            )
    fitting = [other for other in found if len(other.graph.levels) <= rules.depth]
    return [other for other in fitting if 0 < other.graph.size <= graph.size]


def retyped(law: Law, rules: Rules) -> list[Law]:
    """Laws of at most the same size in which one unit has another activation of the network."""
    graph, found = law.graph, []
    for index, name in enumerate(graph.activations):
        for kind in rules.kinds:
            if kind != name:
                kinds = (*graph.activations[:index], kind, *graph.activations[index + 1 :])
                found.append(
                    prune(
                        reshaped(graph, graph.edges, activations=kinds), law.values, law.reference
                    )
                )
    return [other for other in found if 0 < other.graph.size <= graph.size]


def flipped(law: Law) -> Law | None:
    """The same shape from another start: in units without a scale, what stands beside the one changes its sign.

    Least squares does not cross from (a − kb)² to (a + kb)²: k would have to become infinite or zero on the way.
    """
    graph, values = law.graph, np.asarray(law.values).copy()
    beside = [
        edge
        for unit in droppable_units(graph)
        for edge in graph.into(unit.target)
        if edge.parameter != UNIT
    ]
    free = [edge for edge in beside if not graph.nonnegative[edge.parameter]]
    if not free:
        return None
    for edge in free:
        values[edge.parameter] = -np.sign(values[edge.parameter])
    for unit in {edge.target for edge in free}:
        outgoing = [e.parameter for e in graph.edges if e.source == unit and e.parameter != UNIT]
        values[outgoing] = np.where(
            [graph.nonnegative[p] for p in outgoing], values[outgoing], -values[outgoing]
        )
    return Law(graph, jnp.asarray(values), law.reference)


def reference_slope(law: Law, unit: int) -> float:
    """Rate of change of the unit at the reference point; a nominal one where it is flat."""
    graph, weights = law.graph, np.append(np.asarray(law.values), 1.0)
    nodes = list(law.reference.point)
    for node in graph.units():
        z = sum(
            (float(weights[e.parameter]) * nodes[e.source] for e in graph.into(node)), start=0.0
        )
        function = ACTIVATIONS[graph.activation(node)].value
        if node == unit:
            slope = float(_slope(graph.activation(node))(z))
            return slope if abs(slope) > _FLAT else _SLOPE
        nodes.append(float(function(jnp.asarray(z))))
    raise ValueError(f"node {unit} is not a unit of the graph")


@cache
def _slope(activation: str) -> Callable[[float], Array]:
    return jax.jit(jax.grad(ACTIVATIONS[activation].value))
