"""One driver for every sampler: compiled chunks, with progress, stopping and checks between them."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from steinmetz.infer.base import Sampler
from steinmetz.nouns import Report, silent

_PIECES = 20


class Run(NamedTuple):
    """Final particles, which are usable, the length of the Stein direction after each chunk, and why it ended."""

    particles: Float[np.ndarray, "particles dimension"]
    alive: Bool[np.ndarray, "particles"]
    direction: Float[np.ndarray, "chunks"]
    marks: Int[np.ndarray, "chunks"]
    reason: str

    @property
    def frozen(self) -> list[int]:
        """Numbers of the particles that met a density or slope that was not finite."""
        return [int(index) for index in np.flatnonzero(~self.alive)]


def run(
    key: Array,
    sampler: Sampler,
    position: Float[Array, "particles dimension"],
    steps: int,
    tolerance: float,
    report: Report = silent,
) -> Run:
    """Step until `steps` or until the direction is shorter than `tolerance`, whichever comes first."""
    start_key, step_key = jax.random.split(key)
    state = sampler.init(start_key, position)

    @jax.jit
    def chunk(state: Any, numbers: Int[Array, "steps"]) -> tuple[Any, Any]:
        def one(state: Any, number: Int[Array, ""]) -> tuple[Any, Any]:
            return sampler.step(jax.random.fold_in(step_key, number), state)

        state, info = jax.lax.scan(one, state, numbers)
        return state, jax.tree.map(lambda leaf: leaf[-1], info)

    length = max(1, steps // _PIECES)
    lengths, marks, reason = [], [], f"all {steps} steps done"
    for first in range(0, steps, length):
        state, info = chunk(state, jnp.arange(first, min(first + length, steps)))
        lengths.append(float(info.direction))
        marks.append(min(first + length, steps))
        report("infer", marks[-1], steps, direction=f"{lengths[-1]:.2g}", frozen=int(info.frozen))
        if not bool(jnp.any(state.alive)):
            reason = "every particle met a density or slope that was not finite"
            break
        if lengths[-1] < tolerance:
            reason = f"Stein direction {lengths[-1]:.1e} below the tolerance {tolerance:g} after {marks[-1]} steps"
            break
    return Run(np.asarray(state.particles), np.asarray(state.alive), np.array(lengths), np.array(marks), reason)
