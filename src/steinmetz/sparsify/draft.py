"""A graph while it is rewritten.

Links can be added, merged and dropped; what is left is numbered anew at the end (`Draft.law`).
"""

from collections import defaultdict
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.graph import UNIT, Edge, Graph
from steinmetz.potentials.law import Law
from steinmetz.records import Reference

# Target and source of a link.
Pair = tuple[int, int]


class Link(NamedTuple):
    """An edge while a graph is rewritten.

    `order` is the place of its parameter in the law, UNIT for the weight one. `shared` names a
    parameter that several edges carry; such a link is not changed.
    """

    weight: float
    nonnegative: bool
    order: int
    shared: int | None = None

    @property
    def unit(self) -> bool:
        """Whether the weight is one and has no parameter."""
        return self.order == UNIT


class Draft:
    """A graph that can be changed: links by (target, source), units by their old numbers.

    Links of weight zero are left out from the start. The rules of `prune` are functions of a draft.
    """

    def __init__(
        self, graph: Graph, values: Float[np.ndarray, "parameters"], reference: Reference
    ) -> None:
        self.graph, self.reference = graph, reference
        self.activations = {unit: graph.activation(unit) for unit in graph.units()}
        self.links: dict[Pair, Link] = {}
        self._sources: dict[int, set[int]] = defaultdict(set)  # by target
        self._targets: dict[int, set[int]] = defaultdict(set)  # by source
        uses, weights, signs = graph.uses(), np.append(values, 1.0), (*graph.nonnegative, True)
        for target, source, parameter in graph.edges:
            shared = parameter if parameter != UNIT and uses[parameter] > 1 else None
            link = Link(float(weights[parameter]), signs[parameter], parameter, shared)
            if link.unit and self.has_scale(target):
                link = link._replace(order=graph.size)
            if link.weight != 0:
                self.add(target, source, link)

    def has_scale(self, node: int) -> bool:
        """Whether the size of what leads into a node matters: every edge there has a parameter."""
        return node == self.graph.out or ACTIVATIONS[self.activations[node]].degree is None

    def add(self, target: int, source: int, link: Link) -> None:
        """Add a link; one that runs beside another gives it its weight.

        The sum of two non-negative weights is non-negative; with a free one it is free.
        """
        beside = self.links.get((target, source))
        if beside is None:
            self.links[target, source] = link
            self._sources[target].add(source)
            self._targets[source].add(target)
            return
        if beside.shared is not None or link.shared is not None:
            raise ValueError(f"two edges {source} → {target}, one of them with a shared parameter")
        order, sign = max(beside.order, link.order, 0), beside.nonnegative and link.nonnegative
        self.links[target, source] = Link(beside.weight + link.weight, sign, order)

    def tied(self, *pairs: Pair) -> bool:
        """Whether one of the links there carries a shared parameter."""
        links = (self.links.get(pair) for pair in pairs)
        return any(link is not None and link.shared is not None for link in links)

    def drop(self, pairs: list[Pair]) -> bool:
        """Take links away; whether there were any."""
        for target, source in pairs:
            del self.links[target, source]
            self._sources[target].remove(source)
            self._targets[source].remove(target)
        return bool(pairs)

    def into(self, node: int) -> dict[int, Link]:
        """Links that end in a node, by their source."""
        return {source: self.links[node, source] for source in sorted(self._sources[node])}

    def out_of(self, node: int) -> dict[int, Link]:
        """Links that begin in a node, by their target."""
        return {target: self.links[target, node] for target in sorted(self._targets[node])}

    def around(self, node: int) -> list[Pair]:
        """All links of a node: those that end in it, then those that begin in it."""
        into = [(node, source) for source in self.into(node)]
        return into + [(target, node) for target in self.out_of(node)]

    def used(self) -> list[int]:
        """Units that occur in a link, in topological order."""
        inputs, out = len(self.graph.inputs), self.graph.out
        return sorted({node for pair in self.links for node in pair if inputs <= node < out})

    def law(self) -> Law:
        """Units and parameters renumbered without gaps, in the order of the original."""
        inputs, units = len(self.graph.inputs), self.used()
        node = {old: new for new, old in enumerate((*range(inputs), *units, self.graph.out))}
        edges: list[Edge] = []
        values: list[float] = []
        signs: list[bool] = []
        places: dict[Pair | int, int] = {}
        rows = sorted(self.links.items(), key=lambda row: (row[1].order, row[0]))
        for pair, link in rows:
            name = pair if link.shared is None else link.shared
            if not link.unit and name not in places:
                places[name] = len(values)
                values.append(link.weight)
                signs.append(link.nonnegative)
            target, source = (node[end] for end in pair)
            edges.append(Edge(target, source, UNIT if link.unit else places[name]))
        small = Graph(
            inputs=self.graph.inputs,
            activations=tuple(self.activations[unit] for unit in units),
            edges=tuple(sorted(edges)),
            nonnegative=tuple(signs),
        )
        return Law(small, jnp.asarray(values, float), self.reference)
