"""One driver for every sampler: compiled chunks, with progress, checkpoints, stopping and checks between them."""

import time
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from steinmetz.infer.base import Sampler, Schedule
from steinmetz.records import Report, silent

# Looks at progress and tolerance in a run, draws kept inside a compiled chunk, seconds between two returns to Python,
# and seconds between two checkpoints.
_LOOKS, _SLOTS, _CHUNK, _CHECKPOINT = 20, 64, 0.5, 10.0
# Share of particles that may be lost before a run is stopped.
LOST = 0.1


@runtime_checkable
class Keeper(Protocol):
    """Where checkpoints are kept: pieces of arrays by name."""

    def get(self, name: str) -> dict[str, np.ndarray] | None: ...

    def put(self, name: str, **arrays: np.ndarray) -> None: ...


class Run(NamedTuple):
    """What a run found. `draws` are all kept positions of all particles (or chains); the last are `particles`.

    `direction` is what the method calls its distance from rest, at the steps `marks`; `facts` are totals per particle.
    """

    draws: Float[np.ndarray, "kept particles dimension"]
    alive: Bool[np.ndarray, "particles"]
    direction: Float[np.ndarray, "looks"]
    marks: Int[np.ndarray, "looks"]
    facts: dict[str, np.ndarray]
    reason: str
    failed: bool

    @property
    def particles(self) -> Float[np.ndarray, "particles dimension"]:
        """The last positions."""
        return self.draws[-1]

    @property
    def frozen(self) -> list[int]:
        """Numbers of the particles that met a density or slope that was not finite."""
        return [int(index) for index in np.flatnonzero(~self.alive)]

    @property
    def usable(self) -> Float[np.ndarray, "kept living dimension"]:
        """The draws of the particles that stayed finite."""
        return self.draws[:, self.alive]


class _Progress(NamedTuple):
    """Everything a run needs to go on: replaced as a whole after every chunk, so an interrupt finds it whole."""

    state: Any
    number: int
    kept: tuple[np.ndarray, ...]
    direction: tuple[float, ...]
    marks: tuple[int, ...]
    facts: dict[str, np.ndarray]


def run(
    key: Array,
    sampler: Sampler,
    position: Float[Array, "particles dimension"],
    schedule: Schedule,
    report: Report = silent,
    store: Keeper | None = None,
    name: str = "infer",
) -> Run:
    """Step until the schedule ends, the direction is shorter than its tolerance, or too many particles are lost.

    Chunks end at fixed looks, and in between whenever half a second has passed; how the steps are cut does not change
    a digit, because every step has a key of its own and the compiled loop is the same. With a store, a checkpoint is
    kept every ten seconds and when the run is interrupted, and a later call with the same name goes on from it.
    """
    start_key, step_key = jax.random.split(key)
    chunk = _compiled(sampler, schedule, step_key)
    now = (
        None
        if store is None
        else _restored(store, name, jax.eval_shape(sampler.init, start_key, position))
    )
    if now is None:
        now = _Progress(jax.jit(sampler.init)(start_key, position), 0, (), (), (), {})
    return _loop(chunk, now, schedule, report, store, name)


def _compiled(sampler: Sampler, schedule: Schedule, step_key: Array) -> Any:
    """(state, first, last) → (state, the draws kept on the way, info), with bounds that are not compiled in."""

    @jax.jit
    def chunk(state: Any, first: Int[Array, ""], last: Int[Array, ""]) -> tuple[Any, Array, Any]:
        info = jax.tree.map(
            lambda leaf: jnp.zeros(leaf.shape, leaf.dtype),
            jax.eval_shape(sampler.step, step_key, state)[1],
        )
        slots = jnp.zeros(
            (_SLOTS if schedule.thin else 1, *state.particles.shape), state.particles.dtype
        )

        def one(number: Int[Array, ""], carry: tuple[Any, Array, Any]) -> tuple[Any, Array, Any]:
            state, slots, _ = carry
            state, info = sampler.step(jax.random.fold_in(step_key, number), state)
            if schedule.thin:
                place = _kept_before(schedule, number + 1) - _kept_before(schedule, first) - 1
                due = _kept_before(schedule, number + 1) > _kept_before(schedule, number)
                old = jax.lax.dynamic_index_in_dim(slots, jnp.maximum(place, 0), keepdims=False)
                row = jnp.where(due, state.particles, old)
                slots = jax.lax.dynamic_update_index_in_dim(slots, row, jnp.maximum(place, 0), 0)
            return state, slots, info

        return jax.lax.fori_loop(first, last, one, (state, slots, info))

    return chunk


def _kept_before(schedule: Schedule, number: Any) -> Any:
    """Draws kept in the first `number` steps."""
    after = number - schedule.burn
    return (max(after, 0) if isinstance(after, int) else jnp.maximum(after, 0)) // schedule.thin


def _loop(
    chunk: Any, now: _Progress, schedule: Schedule, report: Report, store: Keeper | None, name: str
) -> Run:
    total = schedule.burn + schedule.steps
    look = max(1, total // _LOOKS)
    length, saved, ended = 1, time.monotonic(), None
    try:
        while ended is None:
            before, begin = now.number, time.monotonic()
            if before < total:
                last = min(
                    before + length, total, (before // look + 1) * look, _room(schedule, before)
                )
                now = _advanced(
                    chunk, now, last, schedule, at_look=last % look == 0 or last == total
                )
                length = _next_length(last - before, time.monotonic() - begin)
            if now.marks and now.marks[-1] == now.number:
                ended = _verdict(now, schedule, total)
            shown = {"direction": f"{now.direction[-1]:.2g}"} if now.direction else {}
            report(
                "infer",
                now.number,
                total,
                **shown,
                frozen=int(np.sum(~np.asarray(now.state.alive))),
            )
            if store is not None and time.monotonic() - saved > _CHECKPOINT:
                _save(store, name, now)
                saved = time.monotonic()
    except KeyboardInterrupt:
        if store is not None and now.number > 0:
            _save(store, name, now)
        raise
    draws = np.stack(now.kept) if now.kept else np.asarray(now.state.particles)[None]
    return Run(
        draws,
        np.asarray(now.state.alive),
        np.array(now.direction),
        np.array(now.marks),
        now.facts,
        *ended,
    )


def _advanced(
    chunk: Any, now: _Progress, last: int, schedule: Schedule, at_look: bool
) -> _Progress:
    """After the steps up to `last`."""
    state, slots, info = jax.block_until_ready(
        chunk(now.state, jnp.asarray(now.number), jnp.asarray(last))
    )
    count = (
        _kept_before(schedule, last) - _kept_before(schedule, now.number) if schedule.thin else 0
    )
    return _Progress(
        state,
        last,
        now.kept + tuple(np.asarray(slots[:count])),
        now.direction + ((float(info.direction),) if at_look else ()),
        now.marks + ((last,) if at_look else ()),
        {name: np.asarray(values) for name, values in info.facts.items()},
    )


def _room(schedule: Schedule, number: int) -> int:
    """The step before which the slots of a chunk would be full."""
    if not schedule.thin:
        return schedule.burn + schedule.steps
    return schedule.burn + (_kept_before(schedule, number) + _SLOTS + 1) * schedule.thin - 1


def _next_length(steps: int, seconds: float) -> int:
    """Steps that take about as long as a chunk should; the first one was mostly compilation."""
    return int(min(max(1, steps * _CHUNK / max(seconds, 1e-9)), 16 * steps))


def _verdict(now: _Progress, schedule: Schedule, total: int) -> tuple[str, bool] | None:
    """Why the run ends here and whether that is a failure; None if it goes on."""
    alive = np.asarray(now.state.alive)
    lost = np.flatnonzero(~alive)
    if len(lost) > LOST * len(alive):
        some = ", ".join(map(str, lost[:10])) + (", …" if len(lost) > 10 else "")
        return (
            f"{len(lost)} of {len(alive)} particles met a density or slope that was not finite ({some})",
            True,
        )
    if now.direction[-1] < schedule.tolerance:
        length = now.direction[-1]
        return (
            f"Stein direction {length:.1e} below the tolerance {schedule.tolerance:g} after {now.number} steps",
            False,
        )
    return (f"all {total} steps done", False) if now.number >= total else None


def _save(store: Keeper, name: str, now: _Progress) -> None:
    leaves = {
        f"state_{index}": np.asarray(leaf) for index, leaf in enumerate(jax.tree.leaves(now.state))
    }
    facts = {f"fact_{key}": value for key, value in now.facts.items()}
    store.put(
        name,
        number=np.asarray(now.number),
        kept=np.stack(now.kept) if now.kept else np.zeros(0),
        direction=np.array(now.direction),
        marks=np.array(now.marks, int),
        **leaves,
        **facts,
    )


def _restored(store: Keeper, name: str, shape: Any) -> _Progress | None:
    """The last checkpoint, if it is of this shape."""
    found = store.get(name)
    if found is None:
        return None
    wanted, tree = jax.tree.flatten(shape)
    leaves = [found.get(f"state_{index}") for index in range(len(wanted))]
    same = all(
        leaf is not None and leaf.shape == like.shape and leaf.dtype == like.dtype
        for leaf, like in zip(leaves, wanted, strict=True)
    )
    if not same:
        return None
    return _Progress(
        jax.tree.unflatten(tree, [jnp.asarray(leaf) for leaf in leaves]),
        int(found["number"]),
        tuple(found["kept"]),
        tuple(found["direction"].tolist()),
        tuple(found["marks"].tolist()),
        {
            key.removeprefix("fact_"): value
            for key, value in found.items()
            if key.startswith("fact_")
        },
    )
