"""Layers of units without biases: what the convex, the plain and the mixed network have in common.

z_k = W_k · (nodes the layer sees), h_k = a(z_k) for every activation a the network offers, Ψ = the
last z. Nodes come in blocks: block 0 are the inputs x, block k the units h_k of layer k.
"""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Shaped

from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.base import Narrowed, Network
from steinmetz.potentials.batched import Layer, Matrices, Stack
from steinmetz.potentials.graph import OUT, Edge, Graph
from steinmetz.shapes import Particles, Points, Theta

# Networks are narrowed to one of these shares of their widths: few shapes mean few compilations.
_SHARES = (0.5, 0.27)
# Below this width a step of training is all overhead.
_LEAST_WIDTH = 8


class Wiring(NamedTuple):
    """What a layer sees besides the layer before it.

    `direct`: also the inputs. `skip`: all layers before it. `tied`: the paper's W_k (x + h), where
    x is added to the first units of the layer before.
    """

    direct: bool = False
    skip: bool = False
    tied: bool = False


# A layer sees the layer before it and nothing else.
_PLAIN = Wiring()


class Layered(Network):
    """Weights lie in θ layer by layer, row by row; columns are inputs, if seen, then units.

    Where `increasing` is given, Ψ is convex and does not decrease in the inputs it names: weights
    on them and on all units are non-negative. Where it is None, all signs are free.
    """

    inputs: tuple[str, ...] = eqx.field(static=True)
    widths: tuple[int, ...] = eqx.field(static=True)
    activations: tuple[str, ...] = eqx.field(static=True)
    wiring: Wiring = eqx.field(static=True)
    increasing: tuple[str, ...] | None = eqx.field(static=True)
    nonnegative: tuple[bool, ...] = eqx.field(static=True)

    def __init__(
        self,
        inputs: tuple[str, ...],
        widths: tuple[int, ...],
        activations: tuple[str, ...] = ("softplus",),
        wiring: Wiring = _PLAIN,
        increasing: tuple[str, ...] | None = None,
    ) -> None:
        self.inputs, self.widths, self.activations = inputs, widths, activations
        self.wiring, self.increasing = wiring, increasing
        convex = increasing is not None
        fixed = [convex and name in (increasing or ()) for name in inputs]
        self.nonnegative = tuple(self._by_source([fixed, *([convex] * n for n in self.blocks[1:])]))

    @property
    def blocks(self) -> list[int]:
        """Number of nodes in every block."""
        return [len(self.inputs), *(width * len(self.activations) for width in self.widths)]

    @property
    def layers(self) -> tuple[Layer, ...]:
        """Every layer, the output's last: its rows, what it sees and what it makes."""
        layers, blocks = [], self.blocks
        for number, rows in enumerate((*self.widths, 1)):
            units = range(1 if self.wiring.skip else number, number + 1)
            seen = [0] * (self.wiring.direct or number == 0) + [b for b in units if b > 0]
            ends = np.cumsum([blocks[block] for block in seen]).tolist()
            sees = tuple((b, end - blocks[b], end) for b, end in zip(seen, ends, strict=True))
            names = self.activations if number < len(self.widths) else (OUT,)
            layers.append(Layer(rows, sees, tuple((name, 0, rows) for name in names)))
        return tuple(layers)

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Rows and columns of every W, the output's last."""
        return [(layer.rows, layer.columns) for layer in self.layers]

    def _by_source(self, nodes: Sequence[Sequence[bool]]) -> list[bool]:
        """For every weight what holds for the node it acts on; `nodes` has a row per block."""
        rows = [([s for b, _, _ in layer.sees for s in nodes[b]], layer) for layer in self.layers]
        return [flag for row, layer in rows for flag in row * layer.rows]

    def matrices(self, theta: Shaped[Array, "*many parameters"]) -> list[Shaped[Array, "..."]]:
        """W of every layer, for one θ or for many."""
        ends = np.cumsum([rows * columns for rows, columns in self.shapes]).tolist()
        spans = zip(ends, self.shapes, strict=True)
        return [theta[..., e - r * c : e].reshape(*theta.shape[:-1], r, c) for e, (r, c) in spans]

    def gradients(self, theta: Theta, x: Points) -> Points:
        """∇Ψ by one pass forward and one back, as products of matrices over all data.

        Training differentiates this in θ; `batched.gradients` is the same for many θ, with the
        slope in θ by hand and data along the last axis, and is faster where there is no training.
        """
        matrices, layers, width = self.matrices(theta), self.layers, x.shape[1]
        blocks, slopes, depth = [x], [], len(self.widths)
        for number in range(depth):
            z = self._totals(matrices[number], layers[number], blocks)
            pairs = [ACTIVATIONS[name].both(z) for name in self.activations]
            blocks.append(jnp.concatenate([value for value, _ in pairs], axis=1))
            slopes.append([slope for _, slope in pairs])
        # what Ψ gains per unit of every node, from the output back
        gains = [jnp.zeros((1, block.shape[1]), x.dtype) for block in blocks]
        back = jnp.ones((1, 1), x.dtype)
        for number in range(depth, -1, -1):
            if number < depth:
                parts = jnp.split(gains[number + 1], len(self.activations), axis=1)
                terms = [part * slope for part, slope in zip(parts, slopes[number], strict=True)]
                back = jnp.sum(jnp.stack(terms), axis=0) if len(terms) > 1 else terms[0]
            for block, start, stop in layers[number].sees:
                weights = matrices[number][:, start:stop]
                gains[block] = gains[block] + back @ weights
                if self.wiring.tied and number > 0:
                    gains[0] = gains[0] + back @ weights[:, :width]
        return jnp.broadcast_to(gains[0], x.shape)

    def _totals(
        self, matrix: Array, layer: Layer, blocks: list[Array]
    ) -> Float[Array, "data rows"]:
        """z of a layer at all data."""
        parts = [blocks[block] for block, _, _ in layer.sees]
        seen = parts[0] if len(parts) == 1 else jnp.concatenate(parts, axis=1)
        if self.wiring.tied and len(blocks) > 1:
            seen = seen.at[:, : blocks[0].shape[1]].add(blocks[0])
        return seen @ matrix.T

    def initial(self, key: Array) -> Theta:
        """Normal weights of variance 1/fan-in; the penalty makes fixed signs admissible."""
        deviations = [
            np.full(rows * columns, 1 / np.sqrt(columns)) for rows, columns in self.shapes
        ]
        return jax.random.normal(key, (self.size,)) * np.concatenate(deviations)

    def closed(self, restart: int) -> Bool[np.ndarray, "parameters"]:
        """Restarts begin with different activations, in turn all sets of them.

        The gates on the outputs of the other activations start closed.
        """
        kept = 1 + restart % (2 ** len(self.activations) - 1)
        off = [not kept >> index & 1 for index in range(len(self.activations))]
        units = [[flag for flag in off for _ in range(width)] for width in self.widths]
        return np.array(self._by_source([[False] * len(self.inputs), *units]))

    def graph(self) -> Graph:
        """Every connection as a graph over the same θ.

        A row of W is one unit per activation; these units share the weights of the row.
        """
        first, inputs = len(self.inputs), len(self.inputs)
        nodes, edges, kinds, offset = [list(range(inputs))], [], [], 0
        for number, layer in enumerate(self.layers):
            seen = [node for block, _, _ in layer.sees for node in nodes[block]]
            units = [first + count for count in range(len(layer.makes) * layer.rows)]
            for count, unit in enumerate(units):
                place = offset + count % layer.rows * layer.columns
                edges += [Edge(unit, node, place + column) for column, node in enumerate(seen)]
                if self.wiring.tied and number > 0:
                    edges += [Edge(unit, column, place + column) for column in range(inputs)]
            kinds += [name for name, _, _ in layer.makes for _ in range(layer.rows)]
            nodes.append(units)
            first, offset = first + len(units), offset + layer.rows * layer.columns
        return Graph(
            inputs=self.inputs,
            activations=tuple(kinds[:-1]),
            edges=tuple(edges),
            nonnegative=self.nonnegative,
        )

    def stack(self) -> Stack:
        """Layers as they are, for many θ at once."""

        def collected(matrices: Matrices) -> Particles:
            return jnp.concatenate([matrix.reshape(len(matrix), -1) for matrix in matrices], axis=1)

        return Stack(self.layers, self.matrices, collected, self.wiring.tied)

    def living(self, alive: Bool[np.ndarray, "parameters"]) -> list[Bool[np.ndarray, "_"]]:
        """Units of every layer that living weights lead both into and out of."""
        matrices = [np.asarray(matrix) for matrix in self.matrices(jnp.asarray(alive))]
        into = [matrix.any(axis=1) for matrix in matrices[:-1]]
        out = [np.zeros(width, bool) for width in self.widths]
        for layer, matrix in zip(self.layers, matrices, strict=True):
            for block, start, stop in layer.sees:
                if block > 0:
                    used = matrix[:, start:stop].any(axis=0)
                    out[block - 1] |= used.reshape(len(self.activations), -1).any(axis=0)
        return [a & b for a, b in zip(into, out, strict=True)]

    def places(self, units: Sequence[Int[np.ndarray, "_"]]) -> Int[np.ndarray, "small"]:
        """Where the weights lie in θ that a network of only these units of every layer has."""
        copies = range(len(self.activations))
        pairs = list(zip(units, self.widths, strict=True))
        kept = [np.concatenate([some + copy * width for copy in copies]) for some, width in pairs]
        nodes = [np.arange(len(self.inputs)), *kept]
        places, offset = [], 0
        for layer, rows in zip(self.layers, [*units, np.arange(1)], strict=True):
            columns = np.concatenate([nodes[block] + start for block, start, _ in layer.sees])
            places.append((offset + rows[:, None] * layer.columns + columns[None]).ravel())
            offset += layer.rows * layer.columns
        return np.concatenate(places)

    def narrowed(self, alive: Bool[np.ndarray, "networks parameters"]) -> Narrowed | None:
        """The network of one of a few smaller shapes, if the living units of all networks fit it.

        Living units come first, dead ones fill up. A tied network is not narrowed: its inputs are
        added to the first units, whichever these are.
        """
        useful = [self.living(mask) for mask in alive]
        needed = [max(int(units.sum()) for units in layer) for layer in zip(*useful, strict=True)]
        shapes = [tuple(max(1, round(share * w)) for w in self.widths) for share in _SHARES]
        fit = [shape for shape in shapes if all(n <= w for n, w in zip(needed, shape, strict=True))]
        if self.wiring.tied or not fit or max(self.widths) < _LEAST_WIDTH:
            return None
        kept = [
            [np.argsort(~units, kind="stable")[:w] for units, w in zip(row, fit[-1], strict=True)]
            for row in useful
        ]
        small = Layered(self.inputs, fit[-1], self.activations, self.wiring, self.increasing)
        return Narrowed(small, np.stack([self.places(units) for units in kept]))
