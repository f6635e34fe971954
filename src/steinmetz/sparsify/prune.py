"""Prune a graph exactly: drop zero parameters and everything that then cannot change what is observed (method §4)."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.nouns import Reference
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
