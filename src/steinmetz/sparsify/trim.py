"""Trim pruned laws one move at a time, each judged by a refit, and keep the whole path from rich to bare.

Moves: drop a parameter (one whose loss is predicted to hurt least, by optimal brain surgery), make a unit linear, which
merges its two layers of weights into one, or let an edge come from another input. Every step is exact pruning plus a
refit under the same sign rules, so every law on the way is admissible.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from steinmetz.data.quadratic import Quadratic
from steinmetz.nouns import Report, silent
from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.graph import Edge, Graph
from steinmetz.potentials.law import Law
from steinmetz.sparsify.prune import prune
from steinmetz.sparsify.refit import Size, refit

_SMALL = 12
_STEPS = 24
_STRAIGHTENED = 2
_EXCHANGED = 8
_POLISHES = 3
# Enough for the default network; deeper ones compile once more.
_LEAST_DEPTH = 2


class Tried(NamedTuple):
    """A refitted law, its χ² and what removing each parameter would add to it."""

    law: Law
    misfit: float
    saliency: np.ndarray


class Candidate(NamedTuple):
    """A refitted law on the way down, with its χ²."""

    law: Law
    misfit: float

    @property
    def active(self) -> int:
        return self.law.graph.size


def drop(law: Law, parameters: list[int]) -> Law:
    """The law with some parameters set to zero, pruned."""
    values = np.asarray(law.values).copy()
    values[parameters] = 0.0
    return prune(law.graph, jnp.asarray(values), law.reference)


def linearise(law: Law, unit: int) -> Law | None:
    """The law with unit(z) replaced by z·slope, its incoming weights merged into its one outgoing edge; or None.

    The slope is taken at the reference point, which only sets the start of the refit.
    """
    graph, values = law.graph, np.asarray(law.values)
    outgoing = [edge for edge in graph.edges if edge.source == unit]
    incoming = graph.into(unit)
    shared = {e.parameter for e in (*outgoing, *incoming)}
    others = {e.parameter for e in graph.edges if e not in outgoing and e not in incoming}
    if len(outgoing) != 1 or not incoming or shared & others or len(shared) < len(incoming) + 1:
        return None
    out = outgoing[0]
    slope = _reference_slope(law, unit)
    merged = values.copy()
    merged[[e.parameter for e in incoming]] *= values[out.parameter] * slope
    signs = list(graph.nonnegative)
    for edge in incoming:
        signs[edge.parameter] = graph.nonnegative[edge.parameter] and graph.nonnegative[out.parameter]
    kept = [edge for edge in graph.edges if edge not in incoming and edge != out]
    rerouted = [Edge(out.target, edge.source, edge.parameter) for edge in incoming]
    kept, merged = _join(kept, rerouted, merged)
    merged[out.parameter] = 0.0
    return prune(_reshaped(graph, tuple(kept), signs), jnp.asarray(merged), law.reference)


def _reshaped(graph: Graph, edges: tuple[Edge, ...], signs: list[bool]) -> Graph:
    """The same units with other edges."""
    return Graph(inputs=graph.inputs, activations=graph.activations, edges=edges, nonnegative=tuple(signs))


def free_inputs(graph: Graph) -> frozenset[int]:
    """Inputs whose weights may have either sign."""
    return frozenset(
        e.source for e in graph.edges if e.source < len(graph.inputs) and not graph.nonnegative[e.parameter]
    )


def exchanges(law: Law, free: frozenset[int]) -> list[Law]:
    """Laws of the same size in which one edge from an input comes from another input instead."""
    graph, values = law.graph, np.asarray(law.values)
    found = []
    for edge in graph.edges:
        shared = sum(other.parameter == edge.parameter for other in graph.edges) > 1
        if edge.source >= len(graph.inputs) or shared:
            continue
        taken = {other.source for other in graph.into(edge.target)}
        for source in set(range(len(graph.inputs))) - taken:
            edges = tuple(Edge(e.target, source, e.parameter) if e == edge else e for e in graph.edges)
            signs = list(graph.nonnegative)
            signs[edge.parameter] = source not in free
            start = values.copy()
            start[edge.parameter] = abs(start[edge.parameter]) * (-1 if source in free else 1)
            shape = _reshaped(graph, edges, signs)
            found.append(prune(shape, jnp.asarray(start), law.reference))
    return [other for other in found if other.graph.size == graph.size]


def _join(kept: list[Edge], rerouted: list[Edge], values: np.ndarray) -> tuple[list[Edge], np.ndarray]:
    """Add edges; one that runs beside an existing edge gives it its weight instead."""
    for edge in rerouted:
        beside = [e for e in kept if (e.target, e.source) == (edge.target, edge.source)]
        if beside:
            values[beside[0].parameter] += values[edge.parameter]
            values[edge.parameter] = 0.0
        else:
            kept.append(edge)
    return kept, values


def _reference_slope(law: Law, unit: int) -> float:
    """Rate of change of the unit at the reference point."""
    graph = law.graph
    nodes = list(law.reference.point)
    for node in graph.units():
        z = sum((float(law.values[e.parameter]) * nodes[e.source] for e in graph.into(node)), start=0.0)
        function = ACTIVATIONS[graph.activation(node)].value
        if node == unit:
            return float(jax.grad(function)(jnp.asarray(z)))
        nodes.append(float(function(jnp.asarray(z))))
    raise ValueError(f"node {unit} is not a unit of the graph")


def skeleton(graph: Graph, node: int | None = None) -> tuple:
    """The shape of the law below a node, the same for every order of units: what two laws share when they are one."""
    node = graph.out if node is None else node
    if node < len(graph.inputs):
        return (graph.inputs[node],)
    below = sorted(skeleton(graph, edge.source) for edge in graph.into(node))
    return ("out" if node == graph.out else graph.activation(node), *below)


def _moves(tried: Tried, count: int) -> list[Law]:
    """Smaller laws to try next; rich laws lose several parameters at once."""
    law = tried.law
    order = [int(index) for index in np.argsort(tried.saliency[: law.graph.size])]
    if law.graph.size > _SMALL:
        return [drop(law, order[: max(1, (law.graph.size - _SMALL + 1) // 2)])]
    dropped = [drop(law, [index]) for index in order[:count]]
    straightened = [linearise(law, unit) for unit in law.graph.units()]
    moves = dropped + [small for small in straightened if small is not None]
    return [small for small in moves if 0 < small.graph.size < law.graph.size][: count + _STRAIGHTENED]


def trim(
    laws: list[Law],
    quadratic: Quadratic,
    ridge: float,
    free: frozenset[int],
    moves: int,
    beam: int,
    report: Report = silent,
) -> list[Candidate]:
    """Refitted laws of every size from the starts down to one parameter, the best `beam` shapes of each size.

    Sizes are worked through from the largest down; laws of one size compete across restarts. Two padded sizes serve
    all refits, so there are two compilations.
    """
    rich = Size.of([law.graph for law in laws])
    small = Size.small(laws[0].graph, _SMALL, max(rich.depth, _LEAST_DEPTH))

    def fit(tried: list[Law]) -> list[Tried]:
        few = [law for law in tried if small.holds(law.graph)]
        many = [law for law in tried if not small.holds(law.graph)]
        return _fit(few, small, beam * (moves + _STRAIGHTENED), quadratic, ridge) + _fit(
            many, rich, len(laws), quadratic, ridge
        )

    found: list[Candidate] = []
    pool = fit(laws)
    largest = max(law.graph.size for law in laws)
    while pool:
        active = max(tried.law.graph.size for tried in pool)
        level = _best_shapes([tried for tried in pool if tried.law.graph.size == active], beam)
        if active <= _EXCHANGED:
            other = [law for tried in level for law in exchanges(tried.law, free)]
            level = _best_shapes(level + fit(_new_shapes(other, level)), beam)
        found += [Candidate(tried.law, tried.misfit) for tried in level]
        report("trim", largest - active, largest - 1)
        pool = [tried for tried in pool if tried.law.graph.size < active]
        pool += fit([law for tried in level for law in _moves(tried, moves)])
    return found


def polish(law: Law, quadratic: Quadratic, ridge: float, moves: int, beam: int) -> Law:
    """Refit one law to convergence with the program that `trim` compiled for small laws, if it fits that size."""
    small = Size.small(law.graph, _SMALL, _LEAST_DEPTH)
    size, batch = (small, beam * (moves + _STRAIGHTENED)) if small.holds(law.graph) else (Size.of([law.graph]), 1)
    for _ in range(_POLISHES):
        law = refit([law], size, quadratic, ridge, _STEPS, batch)[0][0]
    return law


def _new_shapes(laws: list[Law], level: list[Tried]) -> list[Law]:
    """Laws whose shape is not on the level yet, one per shape."""
    known = {skeleton(tried.law.graph) for tried in level}
    fresh = {skeleton(law.graph): law for law in laws}
    return [law for shape, law in fresh.items() if shape not in known]


def _best_shapes(level: list[Tried], beam: int) -> list[Tried]:
    """The best fits of one size, one per shape."""
    best: dict[tuple, Tried] = {}
    for tried in sorted(level, key=lambda tried: tried.misfit):
        best.setdefault(skeleton(tried.law.graph), tried)
    return list(best.values())[:beam]


def _fit(laws: list[Law], size: Size, batch: int, quadratic: Quadratic, ridge: float) -> list[Tried]:
    """Refit in batches of one padded length; what does not end in numbers is left out."""
    found = []
    for first in range(0, len(laws), batch):
        renewed, fitted = refit(laws[first : first + batch], size, quadratic, ridge, _STEPS, batch)
        rows = zip(renewed, fitted.misfit, fitted.saliency, strict=True)
        found += [Tried(law, float(misfit), saliency) for law, misfit, saliency in rows if np.isfinite(misfit)]
    return found
