"""Prune a graph exactly: drop zero parameters and everything that then cannot change what is observed (method §4)."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.nouns import Reference
from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.graph import Edge, Graph
from steinmetz.potentials.law import Law


def prune(graph: Graph, theta: Float[Array, "parameters"], reference: Reference) -> Law:
    """The small law that equals the graph at θ to rounding: same slopes ∇Ψ̂, same energy Ψ̂."""
    values = np.asarray(theta)
    edges = [edge for edge in graph.edges if values[edge.parameter] != 0]
    while True:
        kept = _once(graph, edges, reference)
        if len(kept) == len(edges):
            return _compact(graph, kept, values, reference)
        edges = kept


def fold_mirrors(law: Law) -> Law:
    """Give twin laws one form: a unit w·a(kJ) equals w·a(−kJ) where the normalisation cancels what is linear in J.

    For a mirrored activation a(z) − a(−z) = z, so the sign of k changes nothing that is observed. It is made positive
    and fixed: otherwise every posterior would have the law twice.
    """
    graph, values, signs = law.graph, np.asarray(law.values).copy(), list(law.graph.nonnegative)
    for unit in graph.units():
        incoming, outgoing = graph.into(unit), [edge for edge in graph.edges if edge.source == unit]
        alone = len(incoming) == 1 and incoming[0].source < len(graph.inputs)
        if not (alone and ACTIVATIONS[graph.activation(unit)].mirrored and law.reference.cancels(incoming[0].source)):
            continue
        parameter = incoming[0].parameter
        unshared = sum(edge.parameter == parameter for edge in graph.edges) == 1
        if unshared and all(edge.target == graph.out for edge in outgoing):
            values[parameter], signs[parameter] = abs(values[parameter]), True
    folded = Graph(inputs=graph.inputs, activations=graph.activations, edges=graph.edges, nonnegative=tuple(signs))
    return Law(folded, jnp.asarray(values), law.reference)


def _once(graph: Graph, edges: list[Edge], reference: Reference) -> list[Edge]:
    """One sweep; every rule only removes edges, so sweeps end."""
    inputs = len(graph.inputs)
    varying = _varying(graph, edges)
    useful = {graph.out} | {edge.source for edge in edges}
    return [
        edge
        for edge in edges
        # a unit no input reaches is a constant: it adds a constant to the output, which Ψ̂ subtracts; inside another
        # unit it is a bias, which must stay
        if not (edge.source not in varying and edge.target == graph.out)
        # a unit with no way to the output
        and edge.target in useful
        # a term linear in an input that the normalisation cancels (J in hyperelasticity)
        and not (edge.target == graph.out and edge.source < inputs and reference.cancels(edge.source))
    ]


def _varying(graph: Graph, edges: list[Edge]) -> set[int]:
    """Nodes that some input reaches."""
    reached = set(range(len(graph.inputs)))
    for edge in sorted(edges):  # targets in topological order
        if edge.source in reached:
            reached.add(edge.target)
    return reached


def _compact(graph: Graph, edges: list[Edge], values: np.ndarray, reference: Reference) -> Law:
    """Renumber units and parameters without gaps, in the order of the original."""
    inputs = len(graph.inputs)
    units = sorted(
        {edge.target for edge in edges if edge.target != graph.out}
        | {edge.source for edge in edges if edge.source >= inputs}
    )
    parameters = sorted({edge.parameter for edge in edges})
    node = {old: inputs + new for new, old in enumerate(units)}
    node |= {index: index for index in range(inputs)} | {graph.out: inputs + len(units)}
    place = {old: new for new, old in enumerate(parameters)}
    renamed = sorted(Edge(node[e.target], node[e.source], place[e.parameter]) for e in edges)
    small = Graph(
        inputs=graph.inputs,
        activations=tuple(graph.activation(unit) for unit in units),
        edges=tuple(renamed),
        nonnegative=tuple(graph.nonnegative[index] for index in parameters),
    )
    return Law(small, jnp.asarray(values[parameters]), reference)
