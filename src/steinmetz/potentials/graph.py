"""A potential as a graph of units: what pruning, closed form, certificate and storage all read.

Nodes are numbered inputs first, then units in topological order, then the output. An edge carries
one parameter, or the weight one (`UNIT`). Edges may share a parameter (the tied network does).
"""

from functools import lru_cache
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.base import Potential
from steinmetz.potentials.batched import Layer, Matrices, Stack
from steinmetz.shapes import Inputs, Particles, Scalar, Theta

# In place of a parameter: the weight of this edge is one. As an index it points to the end of θ
# with a one appended.
UNIT = -1
# The name of the output among activations; it is the weighted sum itself.
OUT = "out"
# Up to so many edges every node is a scalar of its own. Larger graphs are evaluated in layers: a
# Jacobian of 48 scalar edges took 2.5 times as long to compile, and a fifth longer to run.
_SCALAR_EDGES = 32

# θ with a one appended, the weight of unit edges.
Weights = Float[Array, "weights"]
# A node as the name of its activation and the forms of all nodes that lead into it, sorted.
Form = tuple[object, ...]


class Edge(NamedTuple):
    """`target` receives θ[parameter] × `source`, or `source` itself if `parameter` is UNIT."""

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

    def out_of(self, node: int) -> tuple[Edge, ...]:
        """Edges that begin in a node."""
        return tuple(edge for edge in self.edges if edge.source == node)

    def uses(self) -> Int[np.ndarray, "parameters"]:
        """How many edges carry each parameter."""
        carried = [edge.parameter for edge in self.edges if edge.parameter != UNIT]
        return np.bincount(np.array(carried, int), minlength=self.size)

    def units(self) -> range:
        """Node numbers of the units, in topological order."""
        return range(len(self.inputs), self.out)

    def activation(self, node: int) -> str:
        """Name of the activation of a unit."""
        return self.activations[node - len(self.inputs)]

    @property
    def layers(self) -> tuple[tuple[int, ...], ...]:
        """Units by the length of the longest chain below them."""
        return _layers(len(self.inputs), self.out, self.edges)

    @property
    def shape(self) -> Form:
        """The same for every order of units: what two laws share when they have one formula."""
        return _shape(self.inputs, self.activations, self.edges)

    def names(self) -> tuple[str, ...]:
        """A name for every parameter that can be matched with the printed law.

        The factor in front of an input or unit in Ψ has the name of that input or unit: `I1`,
        `unit1`. The factor of an input or unit inside a unit has both names with a dot between
        them: `unit1.I1`, `unit2.unit1`. Units are counted in the order in which they are computed.
        In Ψ = 1.1 I1 + 8.5 log(1 + exp(0.05 I1 − 1.8 J)), `I1` = 1.1, `unit1` = 8.5,
        `unit1.I1` = 0.05 and `unit1.J` = −1.8. Edges of weight one have no parameter and no name;
        a parameter that several edges share is named by the first of them.
        """
        labels = (*self.inputs, *(f"unit{number + 1}" for number in range(len(self.activations))))
        names: dict[int, str] = {}
        for target, source, parameter in self.edges:
            if parameter == UNIT or parameter in names:
                continue
            name = labels[source] if target == self.out else f"{labels[target]}.{labels[source]}"
            names[parameter] = f"{name}.{parameter}" if name in names.values() else name
        return tuple(names[index] for index in range(self.size))

    def energy(self, theta: Theta, x: Inputs) -> Scalar:
        """Ψ(θ, x), not normalised."""
        weights = jnp.append(theta, jnp.ones((), theta.dtype))
        few = len(self.edges) <= _SCALAR_EDGES
        return self._by_scalars(weights, x) if few else self._by_layers(weights, x)

    def _by_scalars(self, weights: Weights, x: Inputs) -> Scalar:
        """Node by node: a small law compiles to a few sums."""
        nodes = [x[index] for index in range(len(self.inputs))]

        def total(node: int) -> Scalar:
            terms = [
                nodes[source] if parameter == UNIT else weights[parameter] * nodes[source]
                for _, source, parameter in self.into(node)
            ]
            return sum(terms, start=jnp.zeros((), x.dtype))

        for node in self.units():
            nodes.append(ACTIVATIONS[self.activation(node)].value(total(node)))
        return total(self.out)

    def _by_layers(self, weights: Weights, x: Inputs) -> Scalar:
        """Layer by layer: a large graph compiles to a few products of matrices."""
        nodes = x
        for layer in _layout(self.inputs, self.activations, self.edges):
            row, column, parameter = layer.cells
            for name, start, stop in layer.makes:
                at = (start <= row) & (row < stop)
                empty = jnp.zeros((stop - start, nodes.size), weights.dtype)
                matrix = empty.at[row[at] - start, column[at]].add(weights[parameter[at]])
                z = matrix @ nodes
                nodes = jnp.concatenate([nodes, z if name == OUT else ACTIVATIONS[name].value(z)])
        return nodes[-1]

    def stack(self) -> Stack:
        """Every layer sees all blocks before it, with zeros where there is no edge."""
        layers, spreads, sees = [], [], [(0, 0, len(self.inputs))]
        for number, (rows, (row, column, parameter), makes) in enumerate(
            _layout(self.inputs, self.activations, self.edges), start=1
        ):
            width = sees[-1][2]
            spread = np.zeros((self.size + 1, rows, width))  # UNIT, the last, is the weight one
            np.add.at(spread, (parameter, row, column), 1)
            spreads.append(spread)
            layers.append(Layer(rows, tuple(sees), makes))
            sees.append((number, width, width + rows))

        def weights(theta: Particles) -> Matrices:
            return [jnp.tensordot(theta, spread[:-1], 1) + spread[-1] for spread in spreads]

        def collected(matrices: Matrices) -> Particles:
            pairs = zip(matrices, spreads, strict=True)
            parts = [jnp.tensordot(matrix, s[:-1], ((1, 2), (1, 2))) for matrix, s in pairs]
            return sum(parts[1:], start=parts[0])

        return Stack(tuple(layers), weights, collected, False)


class _Rows(NamedTuple):
    """One layer of a graph as a matrix whose columns are all nodes before it.

    θ[parameter] is added at (row, column) for every column (row, column, parameter) of `cells`;
    rows are units sorted by activation, and `makes` says which rows have which.
    """

    rows: int
    cells: Int[np.ndarray, "3 edges"]
    makes: tuple[tuple[str, int, int], ...]


# What follows is kept beside the graph, not in it: what a module holds is part of its identity for
# compiled programs.
@lru_cache(maxsize=4096)
def _incoming(edges: tuple[Edge, ...]) -> dict[int, tuple[Edge, ...]]:
    """Edges by their target."""
    targets: dict[int, list[Edge]] = {}
    for edge in edges:
        targets.setdefault(edge.target, []).append(edge)
    return {node: tuple(into) for node, into in targets.items()}


@lru_cache(maxsize=4096)
def _layers(inputs: int, out: int, edges: tuple[Edge, ...]) -> tuple[tuple[int, ...], ...]:
    """See `Graph.layers`."""
    depth, incoming, units = dict.fromkeys(range(inputs), 0), _incoming(edges), range(inputs, out)
    for node in units:
        depth[node] = 1 + max((depth[edge.source] for edge in incoming.get(node, ())), default=0)
    deepest = max(depth.values(), default=0)
    return tuple(tuple(n for n in units if depth[n] == at) for at in range(1, deepest + 1))


@lru_cache(maxsize=64)
def _layout(
    inputs: tuple[str, ...], activations: tuple[str, ...], edges: tuple[Edge, ...]
) -> tuple[_Rows, ...]:
    """The matrices of all layers, the output's last."""
    out, incoming, rows = len(inputs) + len(activations), _incoming(edges), []
    kinds = dict(enumerate((*activations, OUT), start=len(inputs)))
    place = {index: index for index in range(len(inputs))}
    for layer in (*_layers(len(inputs), out, edges), (out,)):
        nodes = sorted(layer, key=lambda node: kinds[node])
        cells = [
            (row, place[edge.source], edge.parameter)
            for row, node in enumerate(nodes)
            for edge in incoming.get(node, ())
        ]
        names = [kinds[node] for node in nodes]
        makes = [(name, names.index(name), names.count(name)) for name in sorted(set(names))]
        spans = tuple((name, first, first + count) for name, first, count in makes)
        rows.append(_Rows(len(nodes), np.array(cells, int).reshape(-1, 3).T, spans))
        place |= {node: len(place) + index for index, node in enumerate(nodes)}
    return tuple(rows)


@lru_cache(maxsize=4096)
def _shape(inputs: tuple[str, ...], activations: tuple[str, ...], edges: tuple[Edge, ...]) -> Form:
    """See `Graph.shape`."""
    shapes: list[Form] = [(name,) for name in inputs]
    incoming = _incoming(edges)
    for name in (*activations, OUT):
        below = sorted(shapes[edge.source] for edge in incoming.get(len(shapes), ()))
        shapes.append((name, *below))
    return shapes[-1]
