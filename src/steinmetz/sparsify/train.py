"""Train a grid of networks (penalty λ × restart × data set): few compilations, bounded memory.

Every network walks the whole path of penalties, from the smallest λ to the largest, and is looked
at on each of them: a grid costs little more than its restarts. Networks are trained in blocks of a
fixed size, two blocks at a time, each in its own thread, because on a CPU a larger batch is not
faster. Between chunks of steps a block stops if all its weights are gone, and in long trainings
units whose gates are all dead are cut out, so that the remaining steps cost less.
"""

import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from steinmetz.cache import Cache
from steinmetz.data.quadratic import Quadratic
from steinmetz.potentials.base import Network
from steinmetz.records import Reference, Report, silent
from steinmetz.sparsify import steps
from steinmetz.sparsify.base import Settings, penalty_file
from steinmetz.threads import in_threads

# Networks in one compiled block.
_BLOCK = 4
# Looks at a network before the first penalty of the path is reached …
_FIRST_LOOKS = 10
# … and on the way from one penalty to the next.
_LOOKS = 2
# Trainings of fewer steps (times networks) are done before another compilation would pay.
_WORTH_NARROWING = 300_000
# Steps of the first chunk, before it is known how long they take.
_FIRST_PACE = 100

Arrays = dict[str, np.ndarray]


class Trial(NamedTuple):
    """One network of a grid: number of the restart, index of the data set."""

    restart: int
    dataset: int = 0


class Grid(NamedTuple):
    """What is trained: `trials` of one network on data sets in natural units.

    `cells` are the numbers n of observed cells of the data sets; `settings` name the penalty and
    its path.
    """

    network: Network
    reference: Reference
    data: list[Quadratic]
    cells: list[int]
    trials: list[Trial]
    settings: Settings


class Trained(NamedTuple):
    """Every network at test time on every penalty of the path.

    `misfit` is its χ²/n, `active` the number of weights that were open after each of `steps`.
    """

    theta: Float[np.ndarray, "penalties trials parameters"]
    misfit: Float[np.ndarray, "penalties trials"]
    active: Int[np.ndarray, "marks trials"]
    steps: Int[np.ndarray, "marks"]
    penalties: Float[np.ndarray, "penalties"]

    @property
    def finite(self) -> Bool[np.ndarray, "penalties trials"]:
        """Which networks ended in numbers."""
        return np.asarray(np.isfinite(self.theta).all(axis=-1) & np.isfinite(self.misfit))

    @property
    def nonzero(self) -> Int[np.ndarray, "penalties trials"]:
        """Weights that are not zero after gating or clamping, as the paper counts."""
        return np.asarray(np.sum(self.theta != 0, axis=-1))


class _Mark(NamedTuple):
    """Networks are looked at after step `last` under penalty number `penalty`.

    `reached`: training under this penalty is over, and the networks are kept.
    """

    last: int
    penalty: int
    reached: bool


class _Job(NamedTuple):
    """What all blocks have in common; `done` counts the blocks that have passed every mark."""

    network: Network
    shared: steps.Shared
    settings: Settings
    marks: list[_Mark]
    narrowing: bool
    stop: threading.Event
    done: list[int]


class _Walk(NamedTuple):
    """Where a block stands: its (narrowed) network, the step, and the steps of the next chunk.

    `places` says where the weights lie in the full network; `opened` and `alive` are those of the
    last chunk.
    """

    network: Network
    block: steps.Block
    places: Int[np.ndarray, "block parameters"]
    opened: Int[np.ndarray, "block"]
    alive: Bool[np.ndarray, "block parameters"]
    step: int
    pace: int


def train(key: Array, grid: Grid, report: Report = silent, cache: Cache | None = None) -> Trained:
    """Minimise χ²/n + λ (log n/n) · price by Adam, for every network of the grid (method §4).

    Finished blocks are kept in `cache`, if there is one, and not trained again.
    """
    trained = blocks(key, grid, report, cache)
    kept = [piece for piece in trained.values() if piece is not None]
    theta, misfits, active = (
        np.concatenate([piece[name] for piece in kept], axis=1)[:, : len(grid.trials)]
        for name in ("theta", "misfit", "active")
    )
    looks = np.array([mark.last for mark in _marks(grid.settings)])
    return Trained(theta, misfits, active, looks, _penalties(grid.settings))


def blocks(
    key: Array, grid: Grid, report: Report, cache: Cache | None, only: Sequence[int] | None = None
) -> dict[int, Arrays | None]:
    """Every block by its number: kept earlier or trained now; None where it is not wanted."""
    settings, trials, marks = grid.settings, grid.trials, _marks(grid.settings)
    width = min(_BLOCK, len(trials))
    pieces = [trials[first : first + width] for first in range(0, len(trials), width)]
    shape = (settings.penalties, width, grid.network.size)
    names = [f"{settings.method}-block{index}" for index in range(len(pieces))]
    kept = {index: _kept(cache, name, shape) for index, name in enumerate(names)}
    missing = [index for index, piece in kept.items() if piece is None]
    missing = [index for index in missing if only is None or index in only]
    job = _job(grid, marks, done=len(pieces) - len(missing))

    def work(index: int) -> None:
        # the last block is filled up to the width of the others, for which there is a program
        filled = pieces[index] + [pieces[index][-1]] * (width - len(pieces[index]))
        piece = kept[index] = _train_block(jax.random.fold_in(key, index), job, filled)
        if cache is not None and piece is not None:
            cache.put(names[index], **piece)

    def shown() -> None:
        counts = [piece["active"][-1] for piece in kept.values() if piece is not None]
        facts = {"open": f"{int(np.min(counts))}–{int(np.max(counts))}"} if counts else {}
        report("training", sum(job.done), len(pieces) * len(marks), **facts)

    in_threads(work, missing, shown, job.stop)
    return kept


def _job(grid: Grid, marks: list[_Mark], done: int) -> _Job:
    """The grid as compiled programs need it; `done` blocks were finished earlier."""
    settings, precision = grid.settings, jnp.dtype(grid.settings.precision)
    stacked = jax.tree.map(lambda *arrays: jnp.stack(arrays).astype(precision), *grid.data)
    penalty = penalty_file(settings.method).build(settings)
    shared = steps.Shared(penalty, grid.reference, stacked, jnp.asarray(grid.cells, precision))
    narrowing = len(grid.trials) * marks[-1].last >= _WORTH_NARROWING
    counts = [done] * len(marks)
    return _Job(grid.network, shared, settings, marks, narrowing, threading.Event(), counts)


def _kept(cache: Cache | None, name: str, shape: tuple[int, ...]) -> Arrays | None:
    """A block that was finished earlier, if it is whole."""
    piece = (None if cache is None else cache.get(name)) or {}
    whole = {"theta", "misfit", "active"} <= set(piece) and piece["theta"].shape == shape
    return piece if whole else None


def _penalties(settings: Settings) -> Float[np.ndarray, "penalties"]:
    """The path: λ in equal ratios from the first to the last."""
    return np.geomspace(*settings.penalty, settings.penalties)


def _marks(settings: Settings) -> list[_Mark]:
    """Steps after which networks are looked at, on the way to every penalty.

    Between two marks there is at least one step, however few steps there are.
    """
    marks: dict[int, _Mark] = {}
    for penalty in range(settings.penalties):
        count, looks = (settings.stride, _LOOKS) if penalty else (settings.steps, _FIRST_LOOKS)
        begun = settings.steps + (penalty - 1) * settings.stride if penalty else 0
        for look in range(1, looks + 1):
            last = begun + round(count * look / looks)
            if last > begun:
                marks[last] = _Mark(last, penalty, look == looks)
    return list(marks.values())


def _train_block(key: Array, job: _Job, trials: list[Trial]) -> Arrays | None:
    """Walk some networks along the path of penalties; None if stopped from outside.

    θ and χ²/n at the end of every penalty, and the open weights at every mark.
    """
    walk, active = _begin(key, job, trials), list[np.ndarray]()
    theta = np.zeros((job.settings.penalties, *walk.places.shape))
    misfits = np.full(theta.shape[:2], np.inf)
    for number, mark in enumerate(job.marks):
        walk = _advanced(walk, job, mark)
        if walk.step < mark.last:
            return None
        active.append(walk.opened)
        job.done[number] += 1
        if mark.reached:
            settled, fit = steps.settle(walk.network, job.shared, walk.block)
            np.put_along_axis(theta[mark.penalty], walk.places, np.asarray(settled, float), axis=1)
            misfits[mark.penalty] = np.asarray(fit, float)
            if not walk.opened.any():  # nothing is left, and larger penalties bring nothing back
                misfits[mark.penalty :] = misfits[mark.penalty]
                break
        if job.narrowing:
            walk = _narrowed(walk)
    for number in range(len(active), len(job.marks)):
        job.done[number] += 1
    active += [active[-1]] * (len(job.marks) - len(active))
    return {"theta": theta, "misfit": misfits, "active": np.stack(active)}


def _advanced(walk: _Walk, job: _Job, mark: _Mark) -> _Walk:
    """Train up to a mark, or until stopped, in chunks of about a second, so that Ctrl-C is heard.

    How steps are cut into chunks changes nothing they compute.
    """
    settings, precision = job.settings, walk.block.unit.dtype
    price = jnp.asarray(_penalties(settings)[mark.penalty], precision)
    ramp = max(1.0, settings.warm_up * settings.steps)
    schedule = steps.Schedule(price, jnp.asarray(settings.rate), jnp.asarray(ramp))
    while walk.step < mark.last and not job.stop.is_set():
        last, begun = min(mark.last, walk.step + walk.pace), time.perf_counter()
        bounds = jnp.asarray(walk.step), jnp.asarray(last)
        block, *state = steps.chunk(walk.network, job.shared, walk.block, schedule, *bounds)
        opened, alive = (np.asarray(array) for array in state)  # waits for the chunk
        done, seconds = last - walk.step, time.perf_counter() - begun
        pace = max(1, min(4 * done, round(done / max(seconds, 1e-6))))
        walk = walk._replace(block=block, opened=opened, alive=alive, step=last, pace=pace)
    return walk


def _narrowed(walk: _Walk) -> _Walk:
    """The same networks without dead units, if the network can be narrowed that far.

    Raw variables and moments are arrays with one number per weight; of these the living are taken.
    """
    smaller = walk.network.narrowed(walk.alive)
    if smaller is None:
        return walk
    index = jnp.asarray(smaller.places)

    def taken(array: Array) -> Array:
        per_weight = array.ndim == 2 and array.shape[1] == walk.network.size
        return jnp.take_along_axis(array, index, axis=1) if per_weight else array

    raw, moments = jax.tree.map(taken, (walk.block.raw, walk.block.moments))
    block = walk.block._replace(raw=raw, moments=moments)
    places = np.take_along_axis(walk.places, smaller.places, axis=1)
    return walk._replace(network=smaller.network, block=block, places=places)


def _begin(key: Array, job: _Job, trials: list[Trial]) -> _Walk:
    """Random weights and closed gates of every trial; nothing is trained yet."""
    network, shared, precision = job.network, job.shared, job.shared.data.inputs.dtype
    dataset = np.array([trial.dataset for trial in trials])
    cells = np.asarray(shared.cells)[dataset]
    closed = np.stack([network.closed(trial.restart) for trial in trials])
    keys = jax.random.split(key, (len(trials), 3))
    begun = steps.start(network, shared.penalty, precision, keys, jnp.asarray(closed))
    unit = jnp.asarray(np.log(cells) / cells, precision)
    block = steps.Block(*begun, jnp.asarray(dataset), unit)
    places = np.tile(np.arange(network.size), (len(trials), 1))
    opened, alive = np.zeros(len(trials), int), np.ones(places.shape, bool)
    return _Walk(network, block, places, opened, alive, 0, _FIRST_PACE)
