"""Proofs from the graph of a law: signs and activations decide, for every state at once.

The proof of convexity walks the graph with the rules of disciplined convexity: a sum of convex
terms with non-negative weights is convex, a convex non-decreasing activation of a convex argument
is convex, and growth in an input passes through in the same way. It proves less than everything,
but never too much. The limit of Ψ at an end of the domain follows from what activations declare of
their ends.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.graph import Graph
from steinmetz.potentials.mechanics import Terms
from steinmetz.records import Conditions

Laws = Float[np.ndarray, "laws parameters"]
PerLaw = Float[np.ndarray, "laws"]


class Proof(NamedTuple):
    """What signs and activations prove of one parameter vector."""

    convex: bool
    increasing: tuple[str, ...]


class Proofs(NamedTuple):
    """The same of many: whether Ψ is convex, and does not fall with any of the named inputs."""

    convex: Bool[np.ndarray, "laws"]
    increasing: Bool[np.ndarray, "laws"]


class _Knowledge(NamedTuple):
    """Of a node: affine, convex, and in which inputs it can rise or fall."""

    affine: bool
    convex: bool
    rises: frozenset[int]
    falls: frozenset[int]


def prove(graph: Graph | Terms, values: Float[np.ndarray, "parameters"]) -> Proof:
    """Walk the graph once; the normalisation is affine and decides nothing."""
    if isinstance(graph, Terms):
        kept = bool(np.all(values >= 0))
        return Proof(kept, graph.inputs if kept else ())
    known = [
        _Knowledge(True, True, frozenset([index]), frozenset())
        for index in range(len(graph.inputs))
    ]
    values = np.append(values, 1.0)  # the weight of unit edges
    for node in graph.units():
        total = _sum(graph, node, values, known)
        rule = ACTIVATIONS[graph.activation(node)]
        moving = total.rises | total.falls
        known.append(
            _Knowledge(
                affine=not moving or (total.affine and rule.degree == 1),
                convex=rule.convex and (total.affine or (rule.increasing and total.convex)),
                rises=total.rises if rule.increasing else moving,
                falls=total.falls if rule.increasing else moving,
            )
        )
    out = _sum(graph, graph.out, values, known)
    increasing = tuple(name for index, name in enumerate(graph.inputs) if index not in out.falls)
    return Proof(out.convex, increasing)


def _sum(graph: Graph, node: int, values: np.ndarray, known: list[_Knowledge]) -> _Knowledge:
    affine, convex = True, True
    rises: frozenset[int] = frozenset()
    falls: frozenset[int] = frozenset()
    for edge in graph.into(node):
        weight, source = values[edge.parameter], known[edge.source]
        if weight == 0:
            continue
        affine = affine and source.affine
        convex = convex and (source.affine or (weight > 0 and source.convex))
        rises |= source.rises if weight > 0 else source.falls
        falls |= source.falls if weight > 0 else source.rises
    return _Knowledge(affine, convex, rises, falls)


def admissible(proof: Proof, conditions: Conditions) -> bool:
    """Whether a proof covers convexity and growth as they are demanded."""
    return (proof.convex or not conditions.convex) and set(conditions.increasing) <= set(
        proof.increasing
    )


def prove_all(graph: Graph | Terms, every: Laws, increasing: tuple[str, ...]) -> Proofs:
    """Proofs of many parameter vectors; those with the same signs share one.

    A sum of terms is polyconvex and grows with the invariants where no parameter is negative.
    """
    if isinstance(graph, Terms):
        signs_kept = np.all(every >= 0, axis=1)
        return Proofs(signs_kept, signs_kept)
    signs, place = np.unique(np.sign(every), axis=0, return_inverse=True)
    proofs = [prove(graph, row) for row in signs]
    convex = np.array([proof.convex for proof in proofs])
    rising = np.array([set(increasing) <= set(proof.increasing) for proof in proofs])
    return Proofs(convex[place.ravel()], rising[place.ravel()])


def limit(graph: Graph, every: Laws, end: tuple[float, ...]) -> PerLaw:
    """Ψ as its inputs approach `end`: infinite where a term is; not a number where unknown."""
    weights = np.column_stack([every, np.ones(len(every))])  # the last is that of unit edges
    nodes = [np.full(len(every), value) for value in end]

    def total(node: int) -> PerLaw:
        terms = np.zeros(len(every))
        for edge in graph.into(node):
            weight = weights[:, edge.parameter]
            terms = terms + np.where(weight == 0, 0.0, weight * nodes[edge.source])
        return terms

    with np.errstate(invalid="ignore"):
        for node in graph.units():
            nodes.append(ACTIVATIONS[graph.activation(node)].limit(total(node)))
        return total(graph.out)
