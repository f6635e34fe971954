"""A potential as levels of units, and ∇Ψ of many parameter vectors at once as products of matrices.

Arrays are particles × units × data. `gradients` also gives the way back, from weights on ∇Ψ to a slope in θ, written
out by hand: the slope of Σ a·∇Ψ in θ is the derivative of ∂Ψ/∂θ along a in x, so one more pass forward and one back
serve all parameters (Pearlmutter 1994).
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.potentials.base import Potential
from steinmetz.potentials.graph import UNIT, Graph
from steinmetz.potentials.layered import Layered

# Rows up to which a product of matrices is set up more slowly than done.
_FEW = 3

Matrices = list[Float[Array, "particles _ _"]]
Pull = Callable[[Float[Array, "particles inputs data"]], Float[Array, "particles parameters"]]


class Level(NamedTuple):
    """`rows` sums z = Σ W_b (block b), and the block made of them: activation(z[start:stop]) for all of `made`.

    Block 0 are the inputs, block k is what level k made. `seen` has blocks with their first and last column of W.
    """

    rows: int
    seen: tuple[tuple[int, int, int], ...]
    made: tuple[tuple[str, int, int], ...]


class Stack(NamedTuple):
    """Levels, the output's last, with the way from θ to the W of every level and back; `tied` adds x to every block."""

    levels: tuple[Level, ...]
    weights: Callable[[Float[Array, "particles parameters"]], Matrices]
    collected: Callable[[Matrices], Float[Array, "particles parameters"]]
    tied: bool


def stack_of(potential: Potential) -> Stack | None:
    """The levels of a potential; None for one that has none."""
    if isinstance(potential, Layered):
        return _of_layers(potential)
    return _of_graph(potential) if isinstance(potential, Graph) else None


def _of_layers(network: Layered) -> Stack:
    shapes, names = network.shapes, [*([network.choices] * len(network.widths)), ()]
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    levels = tuple(
        Level(rows, network.columns(layer), tuple((name, 0, rows) for name in names[layer]))
        for layer, (rows, _) in enumerate(shapes)
    )

    def weights(theta: Float[Array, "particles parameters"]) -> Matrices:
        return [
            theta[:, end - r * c : end].reshape(-1, r, c)
            for end, (r, c) in zip(ends, shapes, strict=True)
        ]

    def collected(matrices: Matrices) -> Float[Array, "particles parameters"]:
        return jnp.concatenate([matrix.reshape(len(matrix), -1) for matrix in matrices], axis=1)

    return Stack(levels, weights, collected, network.tied)


def _of_graph(graph: Graph) -> Stack:
    """Every level sees all blocks before it, with zeros where there is no edge."""
    place = {index: index for index in range(len(graph.inputs))}
    seen, levels, spreads = [(0, 0, len(place))], [], []
    for number, level in enumerate((*graph.levels, (graph.out,))):
        nodes = level if graph.out in level else sorted(level, key=graph.activation)
        spread = np.zeros((graph.size + 1, len(nodes), len(place)))
        for row, node in enumerate(nodes):
            for edge in graph.into(node):
                spread[
                    edge.parameter if edge.parameter != UNIT else graph.size,
                    row,
                    place[edge.source],
                ] += 1
        kinds = [graph.activation(node) for node in nodes if node != graph.out]
        made = tuple(
            (kind, kinds.index(kind), kinds.index(kind) + kinds.count(kind))
            for kind in sorted(set(kinds))
        )
        levels.append(Level(len(nodes), tuple(seen), made))
        spreads.append(spread)
        seen.append((number + 1, len(place), len(place) + len(nodes)))
        place |= {node: len(place) + index for index, node in enumerate(nodes)}

    def weights(theta: Float[Array, "particles parameters"]) -> Matrices:
        return [jnp.tensordot(theta, spread[:-1], 1) + spread[-1] for spread in spreads]

    def collected(matrices: Matrices) -> Float[Array, "particles parameters"]:
        pairs = zip(matrices, spreads, strict=True)
        parts = [jnp.tensordot(matrix, spread[:-1], ((1, 2), (1, 2))) for matrix, spread in pairs]
        return sum(parts[1:], start=parts[0])

    return Stack(tuple(levels), weights, collected, False)


class _Pass(NamedTuple):
    """The W of all levels, the blocks they see, slopes a'(z) of what they make, ∂Ψ/∂block, and ∂Ψ/∂z but the last."""

    matrices: Matrices
    blocks: list[Array]
    slopes: list[Array]
    gains: list[Array]
    backs: list[Array]


def gradients(
    stack: Stack, theta: Float[Array, "particles parameters"], x: Float[Array, "inputs data"]
) -> tuple[Float[Array, "particles inputs data"], Pull]:
    """∇Ψ at every x for every θ, and the function that takes a to Σ a·∂∇Ψ/∂θ."""
    matrices, units = stack.weights(theta), stack.levels[:-1]
    x = jnp.broadcast_to(x, (len(theta), *x.shape))
    blocks, slopes, pushes = [x], [], []
    for level, matrix in zip(units, matrices, strict=False):
        (values, slope), push = jax.linearize(_activations(level), _totals(level, matrix, blocks))
        blocks.append(_lifted(values, x) if stack.tied else values)
        slopes.append(slope)
        pushes.append(push)
    gains, backs = _backward(stack, matrices, slopes)
    done = _Pass(matrices, blocks, slopes, gains, backs)

    def pull(a: Float[Array, "particles inputs data"]) -> Float[Array, "particles parameters"]:
        along, turned = [a], []
        for level, matrix, push in zip(units, matrices, pushes, strict=False):
            values, turn = push(_totals(level, matrix, along))
            along.append(_lifted(values, a) if stack.tied else values)
            turned.append(turn)
        return stack.collected(_crossed(stack, done, along, turned))

    return jnp.broadcast_to(gains[0], x.shape), pull


def _activations(level: Level) -> Callable[[Array], tuple[Array, Array]]:
    """z → the block a level makes, and its slopes."""

    def both(z: Array) -> tuple[Array, Array]:
        kinds = [(ACTIVATIONS[name], start, stop) for name, start, stop in level.made]
        pairs = [(kind.many or kind.both)(z[:, start:stop]) for kind, start, stop in kinds]
        values, slopes = zip(*pairs, strict=True)
        return jnp.concatenate(values, axis=1), jnp.concatenate(slopes, axis=1)

    return both


def _folded(level: Level, units: Array) -> Array:
    """Sums over the units that share a z."""
    count, rows, data = units.shape
    return (
        units if rows == level.rows else jnp.sum(units.reshape(count, -1, level.rows, data), axis=1)
    )


def _lifted(block: Array, x: Array) -> Array:
    """The tied network sees x + h."""
    return block.at[:, : x.shape[1]].add(x)


def _totals(level: Level, matrix: Array, blocks: list[Array]) -> Array:
    """z = Σ W_b (block b)."""
    parts = [matrix[:, :, start:stop] @ blocks[block] for block, start, stop in level.seen]
    return sum(parts[1:], start=parts[0])


def _backward(
    stack: Stack, matrices: Matrices, slopes: list[Array]
) -> tuple[list[Array], list[Array]]:
    """∂Ψ/∂block of all blocks and ∂Ψ/∂z of all levels but the last, from the output back."""
    inputs = stack.levels[0].seen[0][2]
    gains: list = [0.0] * len(stack.levels)
    backs: list = [None] * len(slopes)
    for block, start, stop in stack.levels[-1].seen:
        gains[block] = matrices[-1][:, 0, start:stop, None]
    for number in range(len(slopes) - 1, -1, -1):
        level, gain = stack.levels[number], gains[number + 1]
        backs[number] = _folded(level, gain * slopes[number])
        for block, start, stop in level.seen:
            gains[block] = gains[block] + _turned_product(
                matrices[number][:, :, start:stop], backs[number]
            )
        if stack.tied:
            gains[0] = gains[0] + gain[:, :inputs]
    return gains, backs


def _crossed(stack: Stack, done: _Pass, along: list[Array], turned: list[Array]) -> Matrices:
    """The slopes in every W, from derivatives along a: of the blocks, and of the slopes a'(z)."""
    one = jnp.ones(along[0].shape[2], along[0].dtype)
    last = [along[block] @ one for block, _, _ in stack.levels[-1].seen]
    found: Matrices = [jnp.concatenate(last, axis=1)[:, None]]
    turning: list = [0.0] * len(stack.levels)
    for number in range(len(turned) - 1, -1, -1):
        level, matrix = stack.levels[number], done.matrices[number]
        change = done.gains[number + 1] * turned[number] + turning[number + 1] * done.slopes[number]
        back = _folded(level, change)
        for block, start, stop in level.seen:
            if block > 0:
                turning[block] = turning[block] + _turned_product(matrix[:, :, start:stop], back)
        pairs = [(done.blocks[block], along[block]) for block, _, _ in level.seen]
        parts = [
            _outer(back, block) + _outer(done.backs[number], change) for block, change in pairs
        ]
        found.insert(0, jnp.concatenate(parts, axis=2))
    return found


def _turned_product(matrix: Array, back: Array) -> Array:
    """Wᵀ ∂Ψ/∂z of every particle."""
    return jnp.einsum("src,srn->scn", matrix, back)


def _outer(back: Array, block: Array) -> Array:
    """Σ over data of ∂Ψ/∂z times what z sees: a slope in W. Few rows are quicker one by one."""
    if back.shape[1] > _FEW:
        return jnp.einsum("srn,scn->src", back, block)
    return jnp.stack(
        [jnp.einsum("sn,scn->sc", back[:, row], block) for row in range(back.shape[1])], axis=1
    )
