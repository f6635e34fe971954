"""∇Ψ of many parameter vectors at once, as products of matrices over layers of units.

Arrays are particles × units × data. `gradients` also gives the way back, from weights a on ∇Ψ to a
slope in θ, written out by hand: the slope of Σ a·∇Ψ in θ is the derivative of ∂Ψ/∂θ along a in x,
so one more pass forward and one back serve all parameters (Pearlmutter 1994). A potential that has
layers says so by `Potential.stack`.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from steinmetz.potentials.activations import ACTIVATIONS
from steinmetz.shapes import Particles

# Rows up to which a product of matrices is set up more slowly than done.
_FEW = 3

Matrices = list[Float[Array, "particles _ _"]]
Slopes = Float[Array, "particles inputs data"]
Block = Float[Array, "particles units data"]
Pull = Callable[[Slopes], Particles]


class Layer(NamedTuple):
    """`rows` sums z = Σ W_b (block b), and the block of values that is made of them.

    Block 0 are the inputs, block k is what layer k makes. `sees` lists blocks, each with its first
    column of W and the one after its last. `makes` lists activations, each with the rows of z that
    it is applied to, in the order of the units of the new block.
    """

    rows: int
    sees: tuple[tuple[int, int, int], ...]
    makes: tuple[tuple[str, int, int], ...]

    @property
    def columns(self) -> int:
        """Columns of W."""
        return self.sees[-1][2]


class Stack(NamedTuple):
    """Layers, the output's last, with the way from θ to the W of every layer and back.

    `collected` takes slopes in every W to slopes in θ. `tied` adds x to the first units of every
    block: the paper's W (x + h).
    """

    layers: tuple[Layer, ...]
    weights: Callable[[Particles], Matrices]
    collected: Callable[[Matrices], Particles]
    tied: bool


class _Pass(NamedTuple):
    """What one pass forward and back leaves for `pull`.

    The W of all layers, the blocks they see, slopes a'(z) of what they make, `gains` = ∂Ψ/∂block of
    all blocks and `backs` = ∂Ψ/∂z of all layers but the last.
    """

    matrices: Matrices
    blocks: list[Array]
    slopes: list[Array]
    gains: list[Array]
    backs: list[Array]


def gradients(
    stack: Stack, theta: Particles, x: Float[Array, "inputs data"]
) -> tuple[Slopes, Pull]:
    """∇Ψ at every x for every θ, and the function that takes a to Σ a·∂∇Ψ/∂θ."""
    matrices, units = stack.weights(theta), stack.layers[:-1]
    x = jnp.broadcast_to(x, (len(theta), *x.shape))
    blocks, slopes, pushes = [x], [], []
    for layer, matrix in zip(units, matrices, strict=False):
        (values, slope), push = jax.linearize(_activations(layer), _totals(layer, matrix, blocks))
        blocks.append(_lifted(values, x) if stack.tied else values)
        slopes.append(slope)
        pushes.append(push)
    gains, backs = _backward(stack, matrices, slopes)
    done = _Pass(matrices, blocks, slopes, gains, backs)

    def pull(a: Slopes) -> Particles:
        along, turned = [a], []
        for layer, matrix, push in zip(units, matrices, pushes, strict=False):
            values, turn = push(_totals(layer, matrix, along))
            along.append(_lifted(values, a) if stack.tied else values)
            turned.append(turn)
        return stack.collected(_crossed(stack, done, along, turned))

    return jnp.broadcast_to(gains[0], x.shape), pull


def _activations(layer: Layer) -> Callable[[Block], tuple[Array, Array]]:
    """z → the block that a layer makes, and its slopes a'(z)."""

    def both(z: Block) -> tuple[Array, Array]:
        kinds = [(ACTIVATIONS[name], start, stop) for name, start, stop in layer.makes]
        pairs = [(kind.many or kind.both)(z[:, start:stop]) for kind, start, stop in kinds]
        values, slopes = zip(*pairs, strict=True)
        return jnp.concatenate(values, axis=1), jnp.concatenate(slopes, axis=1)

    return both


def _folded(layer: Layer, units: Array) -> Array:
    """Sums over the units that share a z: several activations of one weighted sum."""
    count, rows, data = units.shape
    if rows == layer.rows:
        return units
    return jnp.sum(units.reshape(count, -1, layer.rows, data), axis=1)


def _lifted(block: Block, x: Slopes) -> Block:
    """The tied network sees x + h."""
    return block.at[:, : x.shape[1]].add(x)


def _totals(layer: Layer, matrix: Array, blocks: list[Array]) -> Array:
    """z = Σ W_b (block b)."""
    parts = [matrix[:, :, start:stop] @ blocks[block] for block, start, stop in layer.sees]
    return sum(parts[1:], start=parts[0])


def _backward(
    stack: Stack, matrices: Matrices, slopes: list[Array]
) -> tuple[list[Array], list[Array]]:
    """∂Ψ/∂block of all blocks and ∂Ψ/∂z of all layers but the last, from the output back."""
    inputs, zero = stack.layers[0].sees[0][2], jnp.zeros((), matrices[0].dtype)
    gains, backs = [zero] * len(stack.layers), [zero] * len(slopes)
    for block, start, stop in stack.layers[-1].sees:
        gains[block] = matrices[-1][:, 0, start:stop, None]
    for number in range(len(slopes) - 1, -1, -1):
        layer, gain = stack.layers[number], gains[number + 1]
        backs[number] = _folded(layer, gain * slopes[number])
        for block, start, stop in layer.sees:
            part = _turned_product(matrices[number][:, :, start:stop], backs[number])
            gains[block] = gains[block] + part
        if stack.tied:
            gains[0] = gains[0] + gain[:, :inputs]
    return gains, backs


def _crossed(stack: Stack, done: _Pass, along: list[Array], turned: list[Array]) -> Matrices:
    """The slopes in every W, from derivatives along a of the blocks and of the slopes a'(z).

    ∂Ψ/∂W = Σ ∂Ψ/∂z ⊗ block, so its derivative along a has two terms: the change of ∂Ψ/∂z with the
    block as it is, and ∂Ψ/∂z as it is with the change of the block.
    """
    one = jnp.ones(along[0].shape[2], along[0].dtype)
    last = [along[block] @ one for block, _, _ in stack.layers[-1].sees]
    in_weights: Matrices = [jnp.concatenate(last, axis=1)[:, None]]
    turning = [jnp.zeros((), along[0].dtype)] * len(stack.layers)
    for number in range(len(turned) - 1, -1, -1):
        layer, matrix = stack.layers[number], done.matrices[number]
        change = done.gains[number + 1] * turned[number] + turning[number + 1] * done.slopes[number]
        back = _folded(layer, change)
        for block, start, stop in layer.sees:
            if block > 0:
                turning[block] = turning[block] + _turned_product(matrix[:, :, start:stop], back)
        pairs = [(done.blocks[block], along[block]) for block, _, _ in layer.sees]
        parts = [_outer(back, block) + _outer(done.backs[number], moved) for block, moved in pairs]
        in_weights.insert(0, jnp.concatenate(parts, axis=2))
    return in_weights


def _turned_product(matrix: Array, back: Array) -> Array:
    """Wᵀ ∂Ψ/∂z of every particle."""
    return jnp.einsum("src,srn->scn", matrix, back)


def _outer(back: Array, block: Array) -> Array:
    """Σ over data of ∂Ψ/∂z times what z sees: a slope in W. Few rows are quicker one by one."""
    if back.shape[1] > _FEW:
        return jnp.einsum("srn,scn->src", back, block)
    rows = [jnp.einsum("sn,scn->sc", back[:, row], block) for row in range(back.shape[1])]
    return jnp.stack(rows, axis=1)
