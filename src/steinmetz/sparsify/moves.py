"""Moves from a law to one that is not larger.

Drop a parameter, make a unit linear, let an edge come from another node, give a unit another
activation. Every move is followed by exact pruning and keeps the sign rules of the network, so
every law on the way is admissible.
"""

import dataclasses
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

# Below this the slope of a unit at the reference says nothing (a square at zero) …
_FLAT = 1e-3
# … and its line starts with this slope.
_SLOPE = 0.5
# Laws with a unit made linear that are tried per law.
_STRAIGHTENED = 2


class Rules(NamedTuple):
    """What the network allows.

    `free` are the inputs whose weights may have either sign, `free_units` says the same of units;
    `depth` is the longest chain of units, `kinds` are the activations.
    """

    free: frozenset[int]
    free_units: bool
    depth: int
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, graph: Graph) -> "Rules":
        """The rules of a network, read from its graph."""
        inputs, signs = len(graph.inputs), (*graph.nonnegative, True)
        either = {edge.source for edge in graph.edges if not signs[edge.parameter]}
        free = frozenset(source for source in either if source < inputs)
        kinds = tuple(sorted(set(graph.activations)))
        return cls(free, any(source >= inputs for source in either), len(graph.layers), kinds)

    def signed(self, graph: Graph, source: int) -> bool:
        """Whether a weight on this node may have either sign."""
        return source in self.free if source < len(graph.inputs) else self.free_units


def drop(law: Law, parameters: list[int], units: tuple[Edge, ...] = ()) -> Law:
    """The law without some parameters and without some edges of weight one, pruned.

    Nothing is refitted; that is the judge's work.
    """
    values = np.asarray(law.values).copy()
    values[parameters] = 0.0
    edges = tuple(edge for edge in law.network.edges if edge not in units)
    graph = dataclasses.replace(law.network, edges=edges)
    return prune(graph, jnp.asarray(values), law.reference)


def smaller(law: Law, order: list[int], count: int) -> list[Law]:
    """Laws with fewer parameters, one move away.

    Without one of the first `count` parameters of `order`, without an edge of weight one, or with
    one of the first units that can be made linear.
    """
    others = [drop(law, [index]) for index in order[:count]]
    others += [drop(law, [], (edge,)) for edge in droppable_units(law.network)]
    straight = [linearise(law, unit) for unit in law.network.units()]
    others += [other for other in straight if other is not None][:_STRAIGHTENED]
    return [other for other in others if 0 < other.network.size < law.network.size]


def sideways(law: Law, rules: Rules) -> list[Law]:
    """Laws of at most the same size with an edge from elsewhere or another activation."""
    others = exchanges(law, rules) + retyped(law, rules)
    return [other for other in others if 0 < other.network.size <= law.network.size]


def droppable_units(graph: Graph) -> list[Edge]:
    """Edges of weight one that stand beside others.

    Where one is alone, dropping what follows does the same.
    """
    unit = [edge for edge in graph.edges if edge.parameter == UNIT]
    return [edge for edge in unit if len(graph.into(edge.target)) > 1]


def linearise(law: Law, unit: int) -> Law | None:
    """The law with unit(z) replaced by z·slope, its weights merged into its neighbours'.

    None where they cannot be merged. The slope is taken at the reference point, which only sets the
    start of the refit.
    """
    graph, values, uses = law.network, np.asarray(law.values).copy(), law.network.uses()
    incoming, outgoing = graph.into(unit), graph.out_of(unit)
    weights = [edge.parameter for edge in (*outgoing, *incoming) if edge.parameter != UNIT]
    single = min(len(outgoing), len(incoming)) == 1 and all(uses[weights] == 1)
    if not single or any(edge.parameter == UNIT for edge in outgoing):
        return None
    values[[edge.parameter for edge in outgoing]] *= reference_slope(law, unit)
    kinds = list(graph.activations)
    kinds[unit - len(graph.inputs)] = "identity"
    straight = dataclasses.replace(graph, activations=tuple(kinds))
    return prune(straight, jnp.asarray(values), law.reference)


def exchanges(law: Law, rules: Rules) -> list[Law]:
    """Laws that are not deeper, in which one edge comes from another node instead.

    A node that leads into the same unit already is left out, and so is an edge whose parameter
    others share.
    """
    graph, inputs, uses = law.network, len(law.network.inputs), law.network.uses()
    others = []
    for edge in graph.edges:
        if edge.parameter != UNIT and uses[edge.parameter] > 1:
            continue
        taken = {other.source for other in graph.into(edge.target)}
        units = [unit for unit in graph.units() if unit < edge.target and unit != edge.source]
        free = [node for node in (*range(inputs), *units) if node not in taken]
        others += [_exchanged(law, edge, source, rules) for source in free]
    return [other for other in others if len(other.network.layers) <= rules.depth]


def _exchanged(law: Law, edge: Edge, source: int, rules: Rules) -> Law:
    """The law in which an edge comes from `source`, with a weight of the sign allowed there."""
    graph, values = law.network, np.asarray(law.values).copy()
    edges = tuple(e._replace(source=source) if e == edge else e for e in graph.edges)
    signs = list(graph.nonnegative)
    if edge.parameter != UNIT:
        free = rules.signed(graph, source)
        signs[edge.parameter] = not free
        values[edge.parameter] = abs(values[edge.parameter]) * (-1 if free else 1)
    other = dataclasses.replace(graph, edges=edges, nonnegative=tuple(signs))
    return prune(other, jnp.asarray(values), law.reference)


def retyped(law: Law, rules: Rules) -> list[Law]:
    """Laws in which one unit has another activation of the network."""
    others = []
    for index, name in enumerate(law.network.activations):
        for kind in (kind for kind in rules.kinds if kind != name):
            kinds = list(law.network.activations)
            kinds[index] = kind
            other = dataclasses.replace(law.network, activations=tuple(kinds))
            others.append(prune(other, law.values, law.reference))
    return others


def flipped(law: Law) -> Law | None:
    """The same shape from another start; None where there is no other.

    In units without a scale, what stands beside the weight one changes its sign. Least squares does
    not cross from (a − kb)² to (a + kb)²: k would have to become infinite or zero on the way.
    """
    graph, values = law.network, np.asarray(law.values).copy()
    targets = [unit.target for unit in droppable_units(graph)]
    beside = [edge for node in targets for edge in graph.into(node) if edge.parameter != UNIT]
    free = [edge for edge in beside if not graph.nonnegative[edge.parameter]]
    if not free:
        return None
    for edge in free:
        values[edge.parameter] = -np.sign(values[edge.parameter])
    for unit in {edge.target for edge in free}:
        outgoing = [edge.parameter for edge in graph.out_of(unit) if edge.parameter != UNIT]
        fixed = [graph.nonnegative[parameter] for parameter in outgoing]
        values[outgoing] = np.where(fixed, values[outgoing], -values[outgoing])
    return Law(graph, jnp.asarray(values), law.reference)


def reference_slope(law: Law, unit: int) -> float:
    """Rate of change of the unit at the reference point; a nominal one where it is flat."""
    graph, weights = law.network, np.append(np.asarray(law.values), 1.0)
    nodes = list(law.reference.point)
    for node in graph.units():
        terms = (float(weights[e.parameter]) * nodes[e.source] for e in graph.into(node))
        z = sum(terms, start=0.0)
        if node == unit:
            slope = float(_slope(graph.activation(node))(z))
            return slope if abs(slope) > _FLAT else _SLOPE
        nodes.append(float(ACTIVATIONS[graph.activation(node)].value(jnp.asarray(z))))
    raise ValueError(f"node {unit} is not a unit of the graph")


@cache
def _slope(activation: str) -> Callable[[float], Array]:
    """The compiled slope of an activation."""
    return jax.jit(jax.grad(ACTIVATIONS[activation].value))
