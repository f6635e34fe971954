"""Train a grid of networks (penalty λ × restart × noise level): few compilations, bounded memory.

Every network walks the whole path of penalties, from the smallest λ to the largest, and is looked at on each of them: a
grid costs little more than its restarts. Networks are trained in blocks of a fixed size, two blocks at a time, each in
its own thread, because on a CPU a larger batch is not faster. Between chunks of steps a block stops if all its weights
are gone, and in long trainings units whose gates are all dead are cut out, so that the remaining steps cost less.
"""

import threading
import time
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int, UInt32

from steinmetz.cache import Cache
from steinmetz.data.quadratic import Quadratic, misfit
from steinmetz.potentials.base import Network, slopes
from steinmetz.potentials.layered import Layered
from steinmetz.records import Reference, Report, silent
from steinmetz.sparsify.base import Penalty, Settings
from steinmetz.sparsify.narrow import narrow
from steinmetz.threads import in_threads

_BLOCK = 4
# Looks at a network before the first penalty of the path is reached, and on the way from one penalty to the next.
_FIRST_LOOKS, _LOOKS = 10, 2
# Trainings of fewer steps (times networks) are done before another compilation would pay.
_WORTH_NARROWING = 300_000
_FIRST_PACE = 100
# Distance of the seeds of several draws in one step.
_NEXT_DRAW = np.uint32(0x85EBCA6B)


class Trial(NamedTuple):
    """One network of a grid: number of the restart, index of the data set."""

    restart: int
    level: int = 0


class Trained(NamedTuple):
    """Every network at test time on every penalty of the path, its χ²/n, and the weights that were open on the way."""

    theta: Float[np.ndarray, "penalties trials parameters"]
    misfit: Float[np.ndarray, "penalties trials"]
    active: Int[np.ndarray, "marks trials"]
    steps: Int[np.ndarray, "marks"]
    penalties: Float[np.ndarray, "penalties"]

    @property
    def finite(self) -> Bool[np.ndarray, "penalties trials"]:
        return np.isfinite(self.theta).all(axis=-1) & np.isfinite(self.misfit)

    @property
    def nonzero(self) -> Int[np.ndarray, "penalties trials"]:
        """Weights that are not zero after gating or clamping, as the paper counts."""
        return np.sum(self.theta != 0, axis=-1)


class _Mark(NamedTuple):
    """A place on the way where networks are looked at: after step `last` under penalty number `penalty`."""

    last: int
    penalty: int
    reached: bool


class _Shared(NamedTuple):
    """What the compiled programs of all blocks need."""

    penalty: Penalty
    reference: Reference
    data: Quadratic  # data sets stacked along the first axis
    cells: Float[Array, "levels"]


class _Job(NamedTuple):
    """What all blocks have in common."""

    network: Network
    shared: _Shared
    settings: Settings
    narrowing: bool


class _Block(NamedTuple):
    """State of some networks: raw variables and Adam's moments, and what is theirs."""

    raw: Any
    moments: Any
    seed: Array
    level: Int[Array, "block"]
    unit: Float[Array, "block"]  # log(n)/n


def train(
    key: Array,
    network: Network,
    penalty: Penalty,
    reference: Reference,
    data: list[Quadratic],
    counts: list[int],
    trials: list[Trial],
    settings: Settings,
    report: Report = silent,
    store: Cache | None = None,
    prefix: str = "",
) -> Trained:
    """Loss = χ²/n + λ · price, minimised by Adam; `counts` are the n, the numbers of observed cells."""
    precision = jnp.dtype(settings.precision)
    stacked = jax.tree.map(lambda *arrays: jnp.stack(arrays).astype(precision), *data)
    long = len(trials) * _marks(settings)[-1].last >= _WORTH_NARROWING
    job = _Job(
        network,
        _Shared(penalty, reference, stacked, jnp.asarray(counts, precision)),
        settings,
        narrowing=long and isinstance(network, Layered) and not network.tied,
    )
    width = min(_BLOCK, len(trials))
    pieces = [trials[first : first + width] for first in range(0, len(trials), width)]
    kept = [
        _kept(store, f"{prefix}block{index}", (settings.penalties, width, network.size))
        for index in range(len(pieces))
    ]
    open_pieces = [index for index, found in enumerate(kept) if found is None]
    penalties = np.geomspace(*settings.penalty, settings.penalties)
    marks = _marks(settings)
    done = [len(pieces) - len(open_pieces)] * len(marks)
    stop = threading.Event()

    def work(index: int) -> None:
        # the last block is filled up to the width of the others, for which there is a program
        filled = pieces[index] + [pieces[index][-1]] * (width - len(pieces[index]))
        found = _train_block(
            jax.random.fold_in(key, index), job, filled, penalties, marks, stop, done
        )
        if found is not None:
            kept[index] = found
            if store is not None:
                store.put(f"{prefix}block{index}", **found)

    def shown() -> None:
        least = [found["active"][-1] for found in kept if found is not None]
        facts = {"open": f"{int(np.min(least))}–{int(np.max(least))}"} if least else {}
        report("gates", sum(done), len(pieces) * len(marks), **facts)

    in_threads(work, open_pieces, stop, shown)
    found = [piece for piece in kept if piece is not None]
    theta, misfits, active = (
        np.concatenate([piece[name] for piece in found], axis=1)[:, : len(trials)]
        for name in ("theta", "misfit", "active")
    )
    return Trained(theta, misfits, active, np.array([mark.last for mark in marks]), penalties)


def _kept(store: Cache | None, name: str, shape: tuple[int, ...]) -> dict[str, np.ndarray] | None:
    """A block that was finished earlier, if it is whole."""
    found = None if store is None else store.get(name)
    whole = (
        found is not None
        and {"theta", "misfit", "active"} <= set(found)
        and found["theta"].shape == shape
    )
    return found if whole else None


def _marks(settings: Settings) -> list[_Mark]:
    """Steps after which networks are looked at: on the way to the first penalty, then to each of the others."""
    found = [
        _Mark(round(settings.steps * k / _FIRST_LOOKS), 0, k == _FIRST_LOOKS)
        for k in range(1, _FIRST_LOOKS + 1)
    ]
    for penalty in range(1, settings.penalties):
        start = settings.steps + (penalty - 1) * settings.stride
        found += [
            _Mark(start + round(settings.stride * k / _LOOKS), penalty, k == _LOOKS)
            for k in range(1, _LOOKS + 1)
        ]
    return found


def _train_block(
    key: Array,
    job: _Job,
    trials: list[Trial],
    penalties: Float[np.ndarray, "penalties"],
    marks: list[_Mark],
    stop: threading.Event,
    done: list[int],
) -> dict[str, np.ndarray] | None:
    """Walk some networks along the path of penalties; None if stopped from outside."""
    block, network, first = _begin(key, job, trials), job.network, 0
    shared, settings = job.shared, job.settings
    schedule = (
        jnp.asarray(settings.rate),
        jnp.asarray(max(1.0, settings.warm_up * settings.steps)),
    )
    places = np.tile(np.arange(network.size), (len(trials), 1))
    active: list[np.ndarray] = []
    theta, misfits = (
        np.zeros((len(penalties), *places.shape)),
        np.full((len(penalties), len(trials)), np.inf),
    )
    pace = _FIRST_PACE
    for number, mark in enumerate(marks):
        price = jnp.asarray(penalties[mark.penalty], block.unit.dtype)
        while first < mark.last and not stop.is_set():
            last, begun = min(mark.last, first + pace), time.perf_counter()
            bounds = (jnp.asarray(first), jnp.asarray(last))
            block, opened, alive = jax.block_until_ready(
                _chunk(network, shared, block, price, *schedule, *bounds)
            )
            pace = _paced(last - first, time.perf_counter() - begun)
            first = last
        if stop.is_set():
            return None
        active.append(np.asarray(opened))
        done[number] += 1
        if mark.reached:
            settled, fit = _settle(network, shared, block)
            np.put_along_axis(theta[mark.penalty], places, np.asarray(settled, float), axis=1)
            misfits[mark.penalty] = np.asarray(fit, float)
            if not active[-1].any():  # nothing is left, and larger penalties bring nothing back
                misfits[mark.penalty :] = misfits[mark.penalty]
                break
        if job.narrowing:
            network, (raw, moments), places = narrow(
                network, (block.raw, block.moments), places, np.asarray(alive)
            )
            block = block._replace(raw=raw, moments=moments)
    for number in range(len(active), len(marks)):
        done[number] += 1
    active += [active[-1]] * (len(marks) - len(active))
    return {"theta": theta, "misfit": misfits, "active": np.stack(active)}


def _paced(steps: int, seconds: float) -> int:
    """Steps that take about a second, so that Ctrl-C is heard; how steps are cut changes nothing they compute."""
    return max(1, min(4 * steps, round(steps / max(seconds, 1e-6))))


def _begin(key: Array, job: _Job, trials: list[Trial]) -> _Block:
    precision = job.shared.data.inputs.dtype
    level = np.array([trial.level for trial in trials])
    count = np.asarray(job.shared.cells)[level]
    closed = np.stack([job.network.closed(trial.restart) for trial in trials])
    return _start(
        job.network, job.shared.penalty, precision, jax.random.split(key, (len(trials), 3)), jnp.asarray(closed),
        jnp.asarray(level), jnp.asarray(np.log(count) / count, precision),
    )  # fmt: skip


@eqx.filter_jit
def _start(
    network: Network,
    penalty: Penalty,
    precision: Any,
    keys: Array,
    closed: Array,
    level: Array,
    unit: Array,
) -> _Block:
    def one(keys: Array, closed: Array) -> tuple:
        raw = penalty.start(network.initial(keys[0]).astype(precision), closed, keys[1])
        raw = penalty.project(network, jax.tree.map(lambda a: a.astype(precision), raw))
        return raw, optax.scale_by_adam().init(raw), jax.random.bits(keys[2], (), jnp.uint32)

    raw, moments, seed = jax.vmap(one)(keys, closed)
    return _Block(raw, moments, seed, level, unit)


def _fit(
    network: Network, shared: _Shared, raw: Any, own: _Block, step: Int[Array, ""]
) -> Float[Array, ""]:
    """χ²/n of one network, averaged over the random θ of a step."""
    data = jax.tree.map(lambda a: a[own.level], shared.data)

    def drawn(seed: UInt32[Array, ""]) -> Float[Array, ""]:
        theta = shared.penalty.draw(network, raw, seed, step)
        return (
            misfit(data, slopes(network, shared.reference, theta, data.inputs))
            / shared.cells[own.level]
        )

    if shared.penalty.draws == 1:
        return drawn(own.seed)
    return jnp.mean(
        jax.vmap(drawn)(own.seed + _NEXT_DRAW * jnp.arange(shared.penalty.draws, dtype=jnp.uint32))
    )


@eqx.filter_jit
def _chunk(
    network: Network,
    shared: _Shared,
    block: _Block,
    price: Array,
    rate: Array,
    warm_up: Array,
    first: Array,
    last: Array,
) -> tuple[_Block, Int[Array, "block"], Bool[Array, "block parameters"]]:
    """Steps first … last of a block, and which weights are open and alive after them."""
    adam = optax.scale_by_adam()

    def one(own: _Block, step: Int[Array, ""]) -> _Block:
        def loss(raw: Any) -> Float[Array, ""]:
            ramp = jnp.minimum(1.0, (step + 1) / warm_up).astype(price.dtype)
            return _fit(
                network, shared, raw, own, step
            ) + price * own.unit * ramp * shared.penalty.price(raw)

        slope = jax.grad(loss)(own.raw)
        change, moments = adam.update(slope, own.moments)
        raw = jax.tree.map(lambda a, b: a - rate.astype(a.dtype) * b, own.raw, change)
        return own._replace(raw=shared.penalty.project(network, raw), moments=moments)

    def step(index: Int[Array, ""], block: _Block) -> _Block:
        return jax.vmap(one, (0, None))(block, index)

    block = jax.lax.fori_loop(first, last, step, block)
    opened = jnp.sum(
        jax.vmap(lambda raw: shared.penalty.settled(network, raw))(block.raw) != 0, axis=1
    )
    return block, opened, jax.vmap(shared.penalty.alive)(block.raw)


@eqx.filter_jit
def _settle(network: Network, shared: _Shared, block: _Block) -> tuple[Array, Array]:
    """θ at test time, and χ²/n of it."""

    def one(own: _Block) -> tuple[Array, Array]:
        theta = shared.penalty.settled(network, own.raw)
        data = jax.tree.map(lambda a: a[own.level], shared.data)
        return theta, misfit(
            data, slopes(network, shared.reference, theta, data.inputs)
        ) / shared.cells[own.level]

    return jax.vmap(one)(block)
