"""Simulation-based calibration: ranks of truths among posterior draws (Talts et al. 2018)."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jaxtyping import Array

from steinmetz.infer.base import Target, whiten
from steinmetz.laplace import Laplace

Ranks = npt.NDArray[np.int_]
# key → a truth, and data that it gives
Simulate = Callable[[Array], tuple[Array, Array]]
# the target, given data
Conditional = Callable[[Array], Target]


def ranks(
    method: ModuleType,
    simulate: Simulate,
    target: Conditional,
    count: int,
    draws: int,
    laplace: Callable[[Array], Laplace],
    **settings: object,
) -> Ranks:
    """Ranks (count × dimension) of truths among `draws` posterior draws each, in one program.

    `simulate(key) → (truth, data)`, `target(data)`, `laplace(data)` for start and metric.
    """
    config = method.Config(**settings)
    schedule = config.schedule

    def one(key: Array) -> Array:
        data_key, start_key, run_key, pick_key = jax.random.split(key, 4)
        truth, data = simulate(data_key)
        touching = laplace(data)
        sampler = method.build(whiten(target(data), touching), config)
        state = sampler.init(start_key, jax.random.normal(start_key, (config.width, truth.size)))

        def step(state: Any, number: Array) -> tuple[Any, None]:
            return sampler.step(jax.random.fold_in(run_key, number), state)[0], None

        def kept(state: Any, first: Array) -> tuple[Any, Array]:
            return (lambda state: (state, state.particles))(
                jax.lax.scan(step, state, first + jnp.arange(schedule.thin or schedule.steps))[0]
            )

        state = jax.lax.scan(step, state, jnp.arange(schedule.burn))[0]
        firsts = schedule.burn + jnp.arange(0, schedule.steps, schedule.thin or schedule.steps)
        every = jax.lax.scan(kept, state, firsts)[1].reshape(-1, truth.size)
        some = jax.random.choice(pick_key, every, (draws,), replace=False)
        return jnp.sum(touching.forward_all(some) < truth, axis=0)

    return np.asarray(
        jax.jit(lambda keys: jax.lax.map(one, keys))(jax.random.split(jax.random.key(0), count))
    )
