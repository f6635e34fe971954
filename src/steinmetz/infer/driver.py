"""One driver for every sampler: compiled chunks, and progress, checkpoints and stops between them.

How the steps are cut into chunks does not change a digit, because every step has a key of its own
and the compiled loop is the same.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from steinmetz import host
from steinmetz.infer import placement
from steinmetz.infer.base import Info, S, Sampler
from steinmetz.infer.schedule import Schedule
from steinmetz.records import Report, silent
from steinmetz.shapes import Count, Particles

# Looks at progress and tolerance in a run: few, because each ends a chunk.
_LOOKS = 20
# Draws kept inside a compiled chunk before it returns to Python, whatever the length of the run,
# and numbers in them: of large ensembles there are fewer.
_SLOTS, _NUMBERS = 64, 2**25
# Seconds between two returns to Python: short enough for Ctrl-C, long against the cost of a return.
_CHUNK = 0.5
# Seconds between two checkpoints: what a kill may cost.
_CHECKPOINT = 10.0
# Share of particles that may be lost before a run is stopped.
LOST = 0.1

Number = TypeVar("Number", int, Array)
Slots = Float[Array, "slots particles dimension"]
Chunk = Callable[[S, Count, Count], tuple[S, Slots, Info]]


@runtime_checkable
class Cache(Protocol):
    """Where checkpoints are kept: arrays by name."""

    def get(self, name: str) -> dict[str, np.ndarray] | None: ...

    def put(self, name: str, **arrays: np.ndarray) -> None: ...


class Checkpoints(NamedTuple):
    """The cache that keeps the state of a run, and the name of the run in it."""

    cache: Cache
    name: str = "infer"


class Run(NamedTuple):
    """The outcome of a run: where the particles (or chains) started, and all places that were kept.

    `direction` is what the method calls its distance from rest, at the steps `marks`; `facts` are
    totals per particle; `reason` says why the run ended, `failed` whether that is a failure.
    `halfway` are the places at the look after half of the steps, of a flow that keeps only its last
    ones and got so far.
    """

    start: Float[np.ndarray, "particles dimension"]
    draws: Float[np.ndarray, "kept particles dimension"]
    alive: Bool[np.ndarray, "particles"]
    direction: Float[np.ndarray, "looks"]
    marks: Int[np.ndarray, "looks"]
    facts: dict[str, np.ndarray]
    reason: str
    failed: bool
    halfway: Float[np.ndarray, "particles dimension"] | None = None

    @property
    def particles(self) -> Float[np.ndarray, "particles dimension"]:
        """The last places that were kept."""
        return np.asarray(self.draws[-1])

    @property
    def frozen(self) -> list[int]:
        """Numbers of the particles that met a density or slope that was not finite."""
        return [int(index) for index in np.flatnonzero(~self.alive)]

    @property
    def usable(self) -> Float[np.ndarray, "kept living dimension"]:
        """The draws of the particles that stayed finite."""
        return self.draws[:, self.alive]


@dataclass(frozen=True)
class _Progress(Generic[S]):
    """Everything a run needs to go on: replaced as a whole, so that an interrupt finds it whole.

    `pace` is how many steps the next chunk should have; it is not kept in checkpoints.
    """

    state: S
    number: int
    kept: Float[np.ndarray, "kept particles dimension"]
    direction: Float[np.ndarray, "looks"]
    marks: Int[np.ndarray, "looks"]
    facts: dict[str, np.ndarray]
    halfway: Float[np.ndarray, "particles dimension"] | None = None
    pace: int = 1


def run(
    key: Array,
    sampler: Sampler[S],
    position: Particles,
    schedule: Schedule,
    report: Report = silent,
    checkpoints: Checkpoints | None = None,
) -> Run:
    """Step until the schedule ends, the direction is below its tolerance, or too many are lost.

    A run whose draws do not suffice is doubled, as the schedule allows. Chunks end at fixed looks,
    and in between whenever half a second has passed. A checkpoint is
    kept every ten seconds and when the run is interrupted; a later call with the same name goes on
    from it and ends with the same bits.
    """
    start_key, step_key = host.split(key)
    now = None
    if checkpoints is not None:
        now = _restored(checkpoints, jax.eval_shape(sampler.init, start_key, position))
    if now is None:
        none = np.zeros((0, *position.shape)), np.zeros(0), np.zeros(0, int)
        now = _Progress(jax.jit(sampler.init)(start_key, position), 0, *none, {})
    now = replace(now, state=placement.chosen().everywhere(now.state))
    chunk, saved, verdict = _compiled(sampler, schedule, step_key), time.monotonic(), None
    while now.number > schedule.total:  # a restored run had been doubled
        schedule = schedule.doubled()
    try:
        with placement.chosen().lockstep():
            while verdict is None:
                now = _advanced(chunk, now, schedule)
                verdict, alive = _verdict(now, schedule), np.asarray(now.state.alive)
                well = verdict is not None and not verdict[1]
                if well and schedule.unfinished(now.kept[:, alive]):
                    schedule, verdict = schedule.doubled(), None
                direction = f"{now.direction[-1]:.2g}" if len(now.direction) else ""
                frozen = int(np.sum(~alive))
                report("sampling", now.number, schedule.total, direction=direction, frozen=frozen)
                if checkpoints is not None and time.monotonic() - saved > _CHECKPOINT:
                    _save(checkpoints, now)
                    saved = time.monotonic()
    except KeyboardInterrupt:
        if checkpoints is not None and now.number > 0:
            _save(checkpoints, now)
        raise
    kept = schedule.counted(now.kept)
    draws = kept if len(kept) else np.asarray(now.state.particles)[None]
    looks = now.direction, now.marks, now.facts
    return Run(np.asarray(position), draws, alive, *looks, *verdict, now.halfway)


def _compiled(sampler: Sampler[S], schedule: Schedule, step_key: Array) -> Chunk[S]:
    """(state, first, last) → (state, draws kept on the way, info); bounds are not compiled in."""

    def chunk(state: S, first: Count, last: Count) -> tuple[S, Slots, Info]:
        shapes = jax.eval_shape(sampler.step, step_key, state)[1]
        info = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
        count = _slots(state.particles) if schedule.thin else 1
        slots = jnp.zeros((count, *state.particles.shape), state.particles.dtype)

        def one(number: Count, carry: tuple[S, Slots, Info]) -> tuple[S, Slots, Info]:
            state, slots, _ = carry
            state, info = sampler.step(jax.random.fold_in(step_key, number), state)
            if schedule.thin:
                after = _kept_before(schedule, number + 1)
                place = jnp.maximum(after - _kept_before(schedule, first) - 1, 0)
                due = after > _kept_before(schedule, number)
                old = jax.lax.dynamic_index_in_dim(slots, place, keepdims=False)
                row = jnp.where(due, state.particles, old)
                slots = jax.lax.dynamic_update_index_in_dim(slots, row, place, 0)
            return state, slots, info

        ended: tuple[S, Slots, Info] = jax.lax.fori_loop(first, last, one, (state, slots, info))
        return ended

    return placement.chosen().spread(chunk)


def _slots(particles: Particles) -> int:
    """How many draws of all particles are kept in a chunk."""
    return max(1, min(_SLOTS, _NUMBERS // particles.size))


def _kept_before(schedule: Schedule, number: Number) -> Number:
    """Draws kept in the first `number` steps."""
    return (number - schedule.burn) * (number > schedule.burn) // schedule.thin


def _advanced(chunk: Chunk[S], now: _Progress[S], schedule: Schedule) -> _Progress[S]:
    """After one more chunk: it ends at the next look, and before its slots are full."""
    begin, total, every = time.monotonic(), schedule.total, max(1, schedule.total // _LOOKS)
    if now.number >= total:  # a finished run that was restored
        return now
    look = min((now.number // every + 1) * every, total)
    last = min(now.number + now.pace, look)
    if schedule.thin:
        before = _kept_before(schedule, now.number)
        room = _slots(now.state.particles)
        last = min(last, schedule.burn + (before + room + 1) * schedule.thin - 1)
    last = placement.chosen().agreed(now.number, last, now.state.particles)
    bounds = host.held(now.number), host.held(last)
    state, slots, info = chunk(now.state, *placement.chosen().everywhere(bounds))
    slots.block_until_ready()
    kept, direction, marks = now.kept, now.direction, now.marks
    if schedule.thin:
        count = _kept_before(schedule, last) - before
        kept = np.concatenate([kept, np.asarray(slots)[:count]])
    if last == look:
        direction, marks = np.append(direction, float(info.direction)), np.append(marks, last)
    facts = {name: np.asarray(values) for name, values in info.facts.items()}
    # as many steps as take half a second, and not too many more: the first were mostly compilation
    steps, seconds = last - now.number, max(time.monotonic() - begin, 1e-9)
    pace = int(min(max(1, steps * _CHUNK / seconds), 16 * steps))
    halfway = now.halfway
    if halfway is None and not schedule.thin and last == look and 2 * last >= total:
        halfway = np.asarray(state.particles)
    return _Progress(state, last, kept, direction, marks, facts, halfway, pace)


def _verdict(now: _Progress[S], schedule: Schedule) -> tuple[str, bool] | None:
    """Why the run ends at this look and whether that is a failure; None if it goes on."""
    if now.number not in now.marks[-1:]:
        return None
    alive = np.asarray(now.state.alive)
    lost, length = np.flatnonzero(~alive), now.direction[-1]
    if len(lost) > LOST * len(alive):
        some = ", ".join(map(str, lost[:10])) + (", …" if len(lost) > 10 else "")
        what = "particles met a density or slope that was not finite"
        return f"{len(lost)} of {len(alive)} {what} ({some})", True
    if length < schedule.tolerance:
        what = f"Stein direction {length:.1e} below the tolerance {schedule.tolerance:g}"
        return f"{what} after {now.number} steps", False
    done = f"all {schedule.total} steps done"
    return (done, False) if now.number >= schedule.total else None


def _save(checkpoints: Checkpoints, now: _Progress[S]) -> None:
    """Keep all arrays of a run so far; the leaves of the state by their number."""
    arrays = {"kept": now.kept, "direction": now.direction, "marks": now.marks}
    if now.halfway is not None:
        arrays["halfway"] = now.halfway
    for index, leaf in enumerate(jax.tree.leaves(now.state)):
        arrays[f"state_{index}"] = np.asarray(leaf)
    facts = {f"fact_{key}": value for key, value in now.facts.items()}
    checkpoints.cache.put(checkpoints.name, number=np.asarray(now.number), **arrays, **facts)


def _restored(checkpoints: Checkpoints, shape: S) -> _Progress[S] | None:
    """The last checkpoint, if there is one and its state is of this shape."""
    arrays = checkpoints.cache.get(checkpoints.name)
    if arrays is None:
        return None
    wanted, tree = jax.tree.flatten(shape)
    leaves = [arrays.get(f"state_{index}", np.zeros(0)) for index in range(len(wanted))]
    if any(a.shape != b.shape or a.dtype != b.dtype for a, b in zip(leaves, wanted, strict=True)):
        return None
    state: S = jax.tree.unflatten(tree, [host.held(leaf) for leaf in leaves])
    facts = {key.removeprefix("fact_"): a for key, a in arrays.items() if key.startswith("fact_")}
    looks = arrays["direction"], arrays["marks"]
    number, halfway = int(arrays["number"]), arrays.get("halfway")
    return _Progress(state, number, arrays["kept"], *looks, facts, halfway)
