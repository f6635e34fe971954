"""Layers of units without biases: what the input-convex, the plain and the mixed network have in common.

z_k = W_k · (nodes the layer sees), h_k = a(z_k) for every activation a the network offers, Ψ = the last z. A layer sees
the layer before it; with `direct` also the inputs, with `skip` all layers before it. `tied` is the paper's W_k (x + h).
"""

import dataclasses
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Shaped

from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.base import Network
from steinmetz.potentials.graph import Edge, Graph


class Layered(Network):
    """Weights lie in θ layer by layer, row by row; the columns of a row are inputs (if seen), then units."""

    inputs: tuple[str, ...] = eqx.field(static=True)
    widths: tuple[int, ...] = eqx.field(static=True)
    choices: tuple[str, ...] = eqx.field(static=True)
    nonnegative: tuple[bool, ...] = eqx.field(static=True)
    direct: bool = eqx.field(static=True)
    skip: bool = eqx.field(static=True)
    tied: bool = eqx.field(static=True)

    def matrices(self, theta: Shaped[Array, "parameters"]) -> list[Shaped[Array, "_ _"]]:
        """W of every layer."""
        ends = np.cumsum([rows * columns for rows, columns in self.shapes])
        parts = (
            theta[end - r * c : end].reshape(r, c)
            for end, (r, c) in zip(ends, self.shapes, strict=True)
        )
        return list(parts)

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Rows and columns of every W, the output's last."""
        return _shapes(len(self.inputs), self.widths, len(self.choices), self.direct, self.skip)

    def _seen(self, layer: int) -> list[int]:
        """Blocks a layer sees: 0 is the inputs, k the units of layer k."""
        if layer == 0:
            return [0]
        units = list(range(1, layer + 1)) if self.skip else [layer]
        return ([0] if self.direct else []) + units

    def columns(self, layer: int) -> tuple[tuple[int, int, int], ...]:
        """Blocks a layer sees, each with its first and last column of W."""
        sizes = [len(self.inputs)] + [width * len(self.choices) for width in self.widths]
        ends = np.cumsum([sizes[block] for block in self._seen(layer)]).tolist()
        return tuple(
            (block, end - sizes[block], end)
            for block, end in zip(self._seen(layer), ends, strict=True)
        )

    def gradients(
        self, theta: Float[Array, "parameters"], x: Float[Array, "data inputs"]
    ) -> Float[Array, "data inputs"]:
        """∇Ψ by one pass forward and one back, as products of matrices over all data."""
        matrices, depth, width = self.matrices(theta), len(self.widths), x.shape[1]
        blocks, slopes = [x], []
        for layer in range(depth):
            z = self._totals(matrices[layer], layer, blocks)
            pairs = [ACTIVATIONS[name].both(z) for name in self.choices]
            blocks.append(jnp.concatenate([value for value, _ in pairs], axis=1))
            slopes.append([slope for _, slope in pairs])
        # what Ψ gains per unit of every node, from the output back
        gains = [jnp.zeros((1, block.shape[1]), x.dtype) for block in blocks]
        back = jnp.ones((1, 1), x.dtype)
        for layer in range(depth, -1, -1):
            if layer < depth:
                parts = jnp.split(gains[layer + 1], len(self.choices), axis=1)
                terms = [part * slope for part, slope in zip(parts, slopes[layer], strict=True)]
                back = jnp.sum(jnp.stack(terms), axis=0) if len(terms) > 1 else terms[0]
            start = 0
            for block in self._seen(layer):
                columns = blocks[block].shape[1]
                weights = matrices[layer][:, start : start + columns]
                gains[block] = gains[block] + back @ weights
                if self.tied and layer > 0:
                    gains[0] = gains[0] + back @ weights[:, :width]
                start += columns
        return jnp.broadcast_to(gains[0], x.shape)

    def _totals(self, weights: Array, layer: int, blocks: list[Array]) -> Float[Array, "data rows"]:
        seen = blocks[self._seen(layer)[0]] if len(self._seen(layer)) == 1 else None
        seen = (
            jnp.concatenate([blocks[b] for b in self._seen(layer)], axis=1)
            if seen is None
            else seen
        )
        if self.tied and layer > 0:
            seen = seen.at[:, : blocks[0].shape[1]].add(blocks[0])
        return seen @ weights.T

    def energy(
        self, theta: Float[Array, "parameters"], x: Float[Array, "inputs"]
    ) -> Float[Array, ""]:
        matrices, blocks = self.matrices(theta), [x[None]]
        for layer in range(len(self.widths)):
            z = self._totals(matrices[layer], layer, blocks)
            blocks.append(
                jnp.concatenate([ACTIVATIONS[name].value(z) for name in self.choices], axis=1)
            )
        return self._totals(matrices[-1], len(self.widths), blocks)[0, 0]

    def initial(self, key: Array) -> Float[Array, "parameters"]:
        """Normal weights of variance 1/fan-in; the penalty makes them admissible where the sign is fixed."""
        deviation = np.concatenate(
            [np.full(rows * columns, 1 / np.sqrt(columns)) for rows, columns in self.shapes]
        )
        return jax.random.normal(key, (self.size,)) * deviation

    def closed(self, restart: int) -> Bool[np.ndarray, "parameters"]:
        """Restarts begin with different activations, in turn all sets of them: their other gates start closed."""
        kept = 1 + restart % (2 ** len(self.choices) - 1)
        units = [
            np.repeat([not kept >> i & 1 for i in range(len(self.choices))], width)
            for width in self.widths
        ]
        off = [np.zeros(len(self.inputs), bool), *units]
        rows = [
            np.tile(np.concatenate([off[block] for block in self._seen(layer)]), rows)
            for layer, (rows, _) in enumerate(self.shapes)
        ]
        return np.concatenate(rows)

    def graph(self) -> Graph:
        """Every connection as a graph over the same θ: one unit per activation, sharing its incoming weights."""
        first, inputs = len(self.inputs), len(self.inputs)
        nodes, edges, kinds, offset = [list(range(inputs))], [], [], 0
        for layer, (rows, columns) in enumerate(self.shapes):
            seen = [node for block in self._seen(layer) for node in nodes[block]]
            copies = self.choices if layer < len(self.widths) else ("out",)
            units = [
                first + copy * rows + row for copy in range(len(copies)) for row in range(rows)
            ]
            for unit in units:
                place = offset + (unit - first) % rows * columns
                edges += [Edge(unit, node, place + column) for column, node in enumerate(seen)]
                if self.tied and layer > 0:
                    edges += [Edge(unit, column, place + column) for column in range(inputs)]
            kinds += [name for name in copies if name != "out" for _ in range(rows)]
            nodes.append(units)
            first, offset = first + len(units), offset + rows * columns
        return Graph(
            inputs=self.inputs,
            activations=tuple(kinds),
            edges=tuple(edges),
            nonnegative=self.nonnegative,
        )

    def living(self, alive: Bool[np.ndarray, "parameters"]) -> list[Bool[np.ndarray, "_"]]:
        """Units of every layer that some living weight leads into and some living weight leads out of."""
        matrices = [np.asarray(matrix) for matrix in self.matrices(jnp.asarray(alive))]
        into = [matrix.any(axis=1) for matrix in matrices[:-1]]
        out = [np.zeros(width, bool) for width in self.widths]
        for layer, matrix in enumerate(matrices):
            start = 0
            for block in self._seen(layer):
                columns = (
                    len(self.inputs) if block == 0 else self.widths[block - 1] * len(self.choices)
                )
                if block > 0:
                    used = matrix[:, start : start + columns].any(axis=0)
                    out[block - 1] |= used.reshape(len(self.choices), -1).any(axis=0)
                start += columns
        return [a & b for a, b in zip(into, out, strict=True)]

    def narrowed(
        self, widths: tuple[int, ...], kept: Sequence[Int[np.ndarray, "_"]]
    ) -> Int[np.ndarray, "small"]:
        """Where the weights of a narrower network of the same kind lie in θ, if it keeps these units of every layer."""
        choices, inputs = len(self.choices), len(self.inputs)
        columns = [np.arange(inputs)] + [
            np.concatenate([units + copy * width for copy in range(choices)])
            for units, width in zip(kept, self.widths, strict=True)
        ]
        sizes = [inputs] + [width * choices for width in self.widths]
        found, offset = [], 0
        for layer, (rows, across) in enumerate(self.shapes):
            starts = np.cumsum([0] + [sizes[block] for block in self._seen(layer)])
            chosen = np.concatenate(
                [
                    columns[block] + start
                    for block, start in zip(self._seen(layer), starts, strict=False)
                ]
            )
            own = kept[layer] if layer < len(widths) else np.arange(1)
            found.append((offset + own[:, None] * across + chosen[None]).ravel())
            offset += rows * across
        return np.concatenate(found)

    def narrow(self, widths: tuple[int, ...]) -> "Layered":
        """A network of the same kind with fewer units; its signs are those of the first units of every layer."""
        index = self.narrowed(widths, [np.arange(width) for width in widths])
        signs = tuple(bool(sign) for sign in np.asarray(self.nonnegative)[index])
        return dataclasses.replace(self, widths=widths, nonnegative=signs)


def _shapes(
    inputs: int, widths: tuple[int, ...], choices: int, direct: bool, skip: bool
) -> list[tuple[int, int]]:
    shapes, units = [], 0
    for layer, rows in enumerate((*widths, 1)):
        columns = inputs if layer == 0 else units + (inputs if direct else 0)
        shapes.append((rows, columns))
        units = (units if skip else 0) + rows * choices
    return shapes


def build(
    inputs: tuple[str, ...],
    widths: tuple[int, ...],
    choices: tuple[str, ...] = ("softplus",),
    *,
    increasing: tuple[str, ...] = (),
    convex: bool = False,
    direct: bool = False,
    skip: bool = False,
    tied: bool = False,
) -> Layered:
    """Lay out θ and declare its signs: where `convex`, weights on units and on `increasing` inputs are non-negative."""
    fixed = np.array([convex and name in increasing for name in inputs])
    signs = []
    for layer, (rows, columns) in enumerate(
        _shapes(len(inputs), widths, len(choices), direct, skip)
    ):
        sees_inputs = layer == 0 or direct
        units = columns - (len(inputs) if sees_inputs else 0)
        row = np.concatenate([fixed if sees_inputs else fixed[:0], np.full(units, convex)])
        signs.append(np.tile(row, rows))
    nonnegative = tuple(bool(sign) for sign in np.concatenate(signs))
    return Layered(
        inputs=inputs,
        widths=widths,
        choices=choices,
        nonnegative=nonnegative,
        direct=direct,
        skip=skip,
        tied=tied,
    )
