"""Prune a graph exactly: what cannot change an observation goes, what is said twice is said once (method §4).

Rules, until none applies: parameters that are zero; units with no way to the output; units that no input reaches (a
constant, which Ψ̂ subtracts or which is one bias); terms the normalisation cancels; units that are linear (merged into
their neighbours); units that do the same as another (merged into it); the scale of a unit that has none of its own
(a square: one of its weights becomes one). Same ∇Ψ̂, same Ψ̂, to rounding.
"""

from collections import Counter, defaultdict
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.graph import UNIT, Edge, Graph
from steinmetz.potentials.law import Law
from steinmetz.records import Reference

# Two units with weights this close (relative) are the same unit.
_SAME = 1e-12


class _Link(NamedTuple):
    """An edge while a graph is rewritten. `shared` names a parameter that several edges carry; it is not changed."""

    weight: float
    nonnegative: bool
    order: int
    shared: int | None = None

    @property
    def unit(self) -> bool:
        return self.order == UNIT


Links = dict[tuple[int, int], _Link]


class _Draft:
    """A graph that is being rewritten: links by (target, source), units by their old numbers."""

    def __init__(self, graph: Graph, values: np.ndarray, reference: Reference) -> None:
        self.graph, self.reference = graph, reference
        self.activations = {unit: graph.activation(unit) for unit in graph.units()}
        self.links: Links = {}
        self._sources: dict[int, set[int]] = defaultdict(set)  # by target
        self._targets: dict[int, set[int]] = defaultdict(set)  # by source
        uses = np.bincount(
            [e.parameter for e in graph.edges if e.parameter != UNIT], minlength=graph.size
        )
        weights, signs = np.append(values, 1.0), (*graph.nonnegative, True)
        for target, source, parameter in graph.edges:
            shared = parameter if parameter != UNIT and uses[parameter] > 1 else None
            link = _Link(float(weights[parameter]), signs[parameter], parameter, shared)
            if link.unit and (
                target == graph.out or ACTIVATIONS[self.activations[target]].degree is None
            ):
                link = link._replace(
                    order=graph.size
                )  # a unit with a scale of its own has a weight there
            if link.weight != 0:
                self.add(target, source, link)

    def add(self, target: int, source: int, link: _Link) -> None:
        """Add a link; one that runs beside another gives it its weight."""
        beside = self.links.get((target, source))
        if beside is None:
            self.links[target, source] = link
            self._sources[target].add(source)
            self._targets[source].add(target)
            return
        if beside.shared is not None or link.shared is not None:
            raise ValueError(f"two edges {source} → {target}, one of them with a shared parameter")
        order = max(beside.order, link.order, 0)
        total = beside.weight + link.weight
        self.links[target, source] = _Link(total, beside.nonnegative and link.nonnegative, order)

    def tied(self, *pairs: tuple[int, int]) -> bool:
        """Whether one of the links there carries a shared parameter."""
        found = (self.links.get(pair) for pair in pairs)
        return any(link is not None and link.shared is not None for link in found)

    def drop(self, pairs: list[tuple[int, int]]) -> bool:
        for target, source in pairs:
            del self.links[target, source]
            self._sources[target].remove(source)
            self._targets[source].remove(target)
        return bool(pairs)

    def into(self, node: int) -> dict[int, _Link]:
        return {source: self.links[node, source] for source in sorted(self._sources[node])}

    def from_(self, node: int) -> dict[int, _Link]:
        return {target: self.links[target, node] for target in sorted(self._targets[node])}

    def used(self) -> list[int]:
        """Units that occur in a link, in topological order."""
        inputs, out = len(self.graph.inputs), self.graph.out
        return sorted({node for pair in self.links for node in pair if inputs <= node < out})


def prune(graph: Graph, theta: Float[Array, "parameters"], reference: Reference) -> Law:
    """The small law that equals the graph at θ to rounding: same slopes ∇Ψ̂, same energy Ψ̂."""
    draft = _Draft(graph, np.asarray(theta), reference)
    rules = (_zero, _dead, _unshared, _constant, _cancelled, _linear, _duplicate, _scaled)
    while any(rule(draft) for rule in rules):
        pass
    return _compact(draft)


def _zero(draft: _Draft) -> bool:
    """Weights that are zero (or became zero when two were added)."""
    return draft.drop([pair for pair, link in draft.links.items() if link.weight == 0])


def _dead(draft: _Draft) -> bool:
    """Units with no way to the output."""
    sources = {source for _, source in draft.links}
    return draft.drop(
        [pair for pair in draft.links if pair[0] != draft.graph.out and pair[0] not in sources]
    )


def _unshared(draft: _Draft) -> bool:
    """A parameter that only one edge is left to carry is that edge's own."""
    carried = Counter(link.shared for link in draft.links.values())
    alone = [
        pair
        for pair, link in draft.links.items()
        if link.shared is not None and carried[link.shared] == 1
    ]
    for pair in alone:
        draft.links[pair] = draft.links[pair]._replace(shared=None)
    return bool(alone)


def _constant(draft: _Draft) -> bool:
    """Units that no input reaches: nothing at the output, where Ψ̂ subtracts them; elsewhere one bias per unit.

    Every constant is expressed by the first one that has no input at all, softplus(0).
    """
    reached = set(range(len(draft.graph.inputs)))
    value: dict[int, float] = {}
    for unit in draft.used():
        incoming = draft.into(unit)
        if reached & set(incoming):
            reached.add(unit)
        else:
            z = sum(link.weight * value[source] for source, link in incoming.items())
            value[unit] = float(ACTIVATIONS[draft.activations[unit]].value(jnp.asarray(z, float)))
    pairs = [(target, source) for target, source in draft.links if source in value]
    silent = [pair for pair in pairs if pair[0] == draft.graph.out or value[pair[1]] == 0]
    if silent:
        return draft.drop(silent)
    roots = [unit for unit in value if not draft.into(unit)]
    changed = False
    for target, source in pairs:
        link = draft.links[target, source]
        if source != roots[0] and not draft.tied((target, source), (target, roots[0])):
            changed = draft.drop([(target, source)])
            ratio = value[source] / value[roots[0]]
            order = max(link.order, 0)
            draft.add(
                target, roots[0], _Link(link.weight * ratio, link.nonnegative and ratio > 0, order)
            )
    return changed


def _cancelled(draft: _Draft) -> bool:
    """Terms linear in an input that the normalisation cancels (J in hyperelasticity)."""
    inputs, out = range(len(draft.graph.inputs)), draft.graph.out
    return draft.drop(
        [(out, i) for i in inputs if (out, i) in draft.links and draft.reference.cancels(i)]
    )


def _linear(draft: _Draft) -> bool:
    """Identity units with one edge in or one edge out: chains of weights become single weights."""
    changed = False
    for unit in draft.used():
        incoming, outgoing = draft.into(unit), draft.from_(unit)
        if draft.activations[unit] != "identity" or min(len(incoming), len(outgoing)) != 1:
            continue
        around = [(unit, source) for source in incoming] + [(target, unit) for target in outgoing]
        if draft.tied(*around, *((target, source) for target in outgoing for source in incoming)):
            continue
        draft.drop(around)
        for target, after in outgoing.items():
            for source, before in incoming.items():
                both = after.unit and before.unit
                order = UNIT if both else max(after.order, before.order, 0)
                sign = after.nonnegative and before.nonnegative
                draft.add(target, source, _Link(after.weight * before.weight, sign, order))
        changed = True
    return changed


def _duplicate(draft: _Draft) -> bool:
    """Units of one kind with the same weights on the same nodes: one stays and takes over the other's edges."""
    changed = False
    groups: dict[tuple, list[int]] = {}
    for unit in draft.used():
        groups.setdefault((draft.activations[unit], *sorted(draft.into(unit))), []).append(unit)
    for units in groups.values():
        for number, second in enumerate(units):
            twins = [first for first in units[:number] if _same(draft, first, second)]
            outgoing = draft.from_(second)
            if not twins or draft.tied(
                *((target, unit) for target in outgoing for unit in (second, twins[0]))
            ):
                continue
            draft.drop(
                [(second, source) for source in draft.into(second)]
                + [(t, second) for t in outgoing]
            )
            for target, link in outgoing.items():
                draft.add(target, twins[0], link)
            changed = True
    return changed


def _same(draft: _Draft, first: int, second: int) -> bool:
    a, b = draft.into(first), draft.into(second)
    return bool(a) and all(abs(a[s].weight - b[s].weight) <= _SAME * abs(a[s].weight) for s in a)


def _scaled(draft: _Draft) -> bool:
    """A unit with a(kz) = kᵈ a(z) has no scale of its own: its largest weight becomes one, the next weights take it."""
    changed = False
    for unit in draft.used():
        degree = ACTIVATIONS[draft.activations[unit]].degree
        incoming, outgoing = draft.into(unit), draft.from_(unit)
        around = [(unit, source) for source in incoming] + [(target, unit) for target in outgoing]
        if degree is None or not incoming or any(link.unit for link in incoming.values()):
            continue
        if draft.tied(*around):
            continue
        # where some signs are fixed, divide by a positive weight
        fixed = {s: link for s, link in incoming.items() if link.nonnegative} or incoming
        chosen = max(fixed, key=lambda source: abs(fixed[source].weight))
        scale = incoming[chosen].weight
        if scale < 0 and degree % 2 and any(link.nonnegative for link in outgoing.values()):
            continue
        for source, link in incoming.items():
            draft.links[unit, source] = link._replace(weight=link.weight / scale)
        draft.links[unit, chosen] = _Link(1.0, True, UNIT)
        for target, link in outgoing.items():
            # an outgoing edge of weight one loses it: the next unit is scaled in turn
            draft.links[target, unit] = link._replace(
                weight=link.weight * scale**degree, order=max(link.order, 0)
            )
        changed = True
    return changed


def _compact(draft: _Draft) -> Law:
    """Renumber units and parameters without gaps, in the order of the original."""
    inputs, units = len(draft.graph.inputs), draft.used()
    node = {old: inputs + new for new, old in enumerate(units)}
    node |= {index: index for index in range(inputs)} | {draft.graph.out: inputs + len(units)}
    edges: list[Edge] = []
    values: list[float] = []
    signs: list[bool] = []
    places: dict[tuple, int] = {}
    rows = sorted(draft.links.items(), key=lambda row: (row[1].order, row[0]))
    for (target, source), link in rows:
        name = ("shared", link.shared) if link.shared is not None else (target, source)
        if not link.unit and name not in places:
            places[name] = len(values)
            values.append(link.weight)
            signs.append(link.nonnegative)
        edges.append(Edge(node[target], node[source], UNIT if link.unit else places[name]))
    small = Graph(
        inputs=draft.graph.inputs,
        activations=tuple(draft.activations[unit] for unit in units),
        edges=tuple(sorted(edges)),
        nonnegative=tuple(signs),
    )
    return Law(small, jnp.asarray(values, float), draft.reference)


def fold_mirrors(law: Law) -> Law:
    """Give twin laws one form: a unit w·a(kJ) equals w·a(−kJ) where the normalisation cancels what is linear in J.

    For a mirrored activation a(z) − a(−z) = z, so the sign of k changes nothing that is observed. It is made positive
    and fixed: otherwise every posterior would have the law twice.
    """
    graph, values, signs = law.graph, np.asarray(law.values).copy(), list(law.graph.nonnegative)
    for unit in graph.units():
        incoming, outgoing = graph.into(unit), [edge for edge in graph.edges if edge.source == unit]
        alone = len(incoming) == 1 and incoming[0].source < len(graph.inputs)
        if not (
            alone
            and ACTIVATIONS[graph.activation(unit)].mirrored
            and law.reference.cancels(incoming[0].source)
        ):
            continue
        parameter = incoming[0].parameter
        unshared = sum(edge.parameter == parameter for edge in graph.edges) == 1
        if unshared and all(edge.target == graph.out for edge in outgoing):
            values[parameter], signs[parameter] = abs(values[parameter]), True
    folded = Graph(
        inputs=graph.inputs,
        activations=graph.activations,
        edges=graph.edges,
        nonnegative=tuple(signs),
    )
    return Law(folded, jnp.asarray(values), law.reference)
