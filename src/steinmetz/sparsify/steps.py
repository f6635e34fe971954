"""Steps of training as compiled programs.

Written for one network and mapped over a block of them. Everything that decides about speed is
here: the loss, its slope, Adam, and the projection onto allowed signs.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int, PyTree, UInt32

from steinmetz.data.quadratic import Quadratic, misfit
from steinmetz.potentials.base import Network, slopes
from steinmetz.records import Reference
from steinmetz.shapes import Count, Scalar, Theta
from steinmetz.sparsify.base import Mask, Penalty, Seed

# Distance of the seeds of several draws in one step.
_NEXT_DRAW = np.uint32(0x85EBCA6B)


class Shared(NamedTuple):
    """What all networks have in common; data sets are stacked along the first axis.

    `cells` are their numbers n of observed cells.
    """

    penalty: Penalty[PyTree]
    reference: Reference
    data: Quadratic
    cells: Float[Array, "datasets"]


class Schedule(NamedTuple):
    """λ in units of log(n)/n, the learning rate, and the steps over which λ grows from zero."""

    price: Scalar
    rate: Scalar
    warm_up: Scalar


class Block(NamedTuple):
    """State of some networks: raw variables and Adam's moments, and what is theirs.

    `seed` is that of their random θ, `dataset` the index of their data and `unit` its log(n)/n.
    Inside `vmap` this is the state of one network.
    """

    raw: PyTree
    moments: PyTree
    seed: UInt32[Array, "*block"]
    dataset: Int[Array, "*block"]
    unit: Float[Array, "*block"]


@eqx.filter_jit
def start(
    network: Network, penalty: Penalty[PyTree], precision: np.dtype, keys: Array, closed: Array
) -> tuple[PyTree, PyTree, Array]:
    """Raw variables, Adam's moments and the seed of every network.

    Three random keys per network: for its weights, for its gates and for the noise of training.
    """

    def one(keys: Array, closed: Mask) -> tuple[PyTree, PyTree, Seed]:
        raw = penalty.start(network.initial(keys[0]).astype(precision), closed, keys[1])
        raw = penalty.project(network, jax.tree.map(lambda a: a.astype(precision), raw))
        return raw, optax.scale_by_adam().init(raw), jax.random.bits(keys[2], (), jnp.uint32)

    return jax.vmap(one)(keys, closed)


def _misfit(network: Network, shared: Shared, theta: Theta, dataset: Count) -> Scalar:
    """χ²/n of one network on its data set."""
    data = jax.tree.map(lambda a: a[dataset], shared.data)
    slope = slopes(network, shared.reference, theta, data.inputs)
    return misfit(data, slope) / shared.cells[dataset]


def fit(network: Network, shared: Shared, state: Block, step: Count) -> Scalar:
    """χ²/n of one network, averaged over the random θ of a step."""

    def drawn(seed: Seed) -> Scalar:
        theta = shared.penalty.draw(network, state.raw, seed, step)
        return _misfit(network, shared, theta, state.dataset)

    draws = shared.penalty.draws
    if draws == 1:
        return drawn(state.seed)
    seeds = state.seed + _NEXT_DRAW * jnp.arange(draws, dtype=jnp.uint32)
    return jnp.mean(jax.vmap(drawn)(seeds))


@eqx.filter_jit
def chunk(
    network: Network, shared: Shared, block: Block, schedule: Schedule, first: Count, last: Count
) -> tuple[Block, Int[Array, "block"], Bool[Array, "block parameters"]]:
    """Steps first … last of a block, how many weights are open after them, and which are alive.

    One step of Adam on χ²/n + λ (log n/n) · price, with λ on its ramp (method §4).
    """
    adam, penalty = optax.scale_by_adam(), shared.penalty
    price, rate, warm_up = schedule

    def one(state: Block, step: Count) -> Block:
        def loss(raw: PyTree) -> Scalar:
            ramp = jnp.minimum(1.0, (step + 1) / warm_up).astype(price.dtype)
            misfit = fit(network, shared, state._replace(raw=raw), step)
            return misfit + price * state.unit * ramp * penalty.price(raw)

        slope = jax.grad(loss)(state.raw)
        change, moments = adam.update(slope, state.moments)
        raw = jax.tree.map(lambda a, b: a - rate.astype(a.dtype) * b, state.raw, change)
        return state._replace(raw=penalty.project(network, raw), moments=moments)

    def step(index: Count, block: Block) -> Block:
        return jax.vmap(one, (0, None))(block, index)

    block = jax.lax.fori_loop(first, last, step, block)
    settled = jax.vmap(lambda raw: penalty.settled(network, raw))(block.raw)
    return block, jnp.sum(settled != 0, axis=1), jax.vmap(penalty.alive)(block.raw)


@eqx.filter_jit
def settle(network: Network, shared: Shared, block: Block) -> tuple[Array, Array]:
    """θ at test time of every network of a block, and χ²/n of it."""

    def one(state: Block) -> tuple[Theta, Scalar]:
        theta = shared.penalty.settled(network, state.raw)
        return theta, _misfit(network, shared, theta, state.dataset)

    return jax.vmap(one)(block)
