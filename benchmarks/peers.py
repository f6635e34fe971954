"""One SVGD step of this package, of blackjax and of numpyro, each as a compiled loop over steps."""

from collections.abc import Callable
from typing import Any, NamedTuple

import blackjax
import jax
import jax.numpy as jnp
import numpyro
import optax
from blackjax.vi.svgd import rbf_kernel, update_median_heuristic
from numpyro.contrib.einstein import SVGD, RBFKernel
from numpyro.infer import init_to_uniform

from steinmetz.infer import kernels, svgd

RATE = 1e-3


class Loop(NamedTuple):
    """`run(state, steps)` with a number of steps that is not compiled in."""

    run: Callable
    state: Any


def _loop(step: Callable, state: Any) -> Loop:
    return Loop(
        jax.jit(lambda start, steps: jax.lax.fori_loop(0, steps, lambda _, at: step(at), start)),
        state,
    )


def ours(target, position) -> Loop:
    """Adam, RBF, the median looked at in every step."""
    sampler = svgd.build(target, svgd.Config(particles=len(position), refresh=1, rate=RATE))
    key = jax.random.key(0)
    return _loop(lambda state: sampler.step(key, state)[0], sampler.init(key, position))


def of_blackjax(log_density, position) -> Loop:
    """The same with `blackjax.svgd`."""
    algorithm = blackjax.svgd(
        jax.grad(log_density), optax.adam(RATE), rbf_kernel, update_median_heuristic
    )
    return _loop(algorithm.step, algorithm.init(position, {"length_scale": jnp.asarray(1.0)}))


def of_numpyro(log_density, position) -> Loop:
    """The same with `numpyro.contrib.einstein.SVGD`, which draws its own start."""
    dimension = position.shape[1]

    def model():
        flat = numpyro.distributions.Normal(0, 1).expand([dimension]).to_event(1).mask(False)
        numpyro.factor("density", log_density(numpyro.sample("x", flat)))

    algorithm = SVGD(
        model,
        numpyro.optim.Adam(RATE),
        RBFKernel(),
        num_stein_particles=len(position),
        guide_kwargs={"init_loc_fn": init_to_uniform(radius=1.0)},
    )
    return _loop(lambda state: algorithm.update(state)[0], algorithm.init(jax.random.key(0)))


def difference_of_directions(cell, particles: int) -> float:
    """Our direction against that of blackjax at the same width, where it is a plain step of one."""
    position = cell.start(jax.random.key(2), particles)
    alive = jnp.ones(particles, bool)
    h = kernels.bandwidth(position, alive)
    slope = cell.target.values_and_slopes(jax.random.key(0), position)[1]
    # in units of the steepest slope: a long step, added to a position, would lose its digits
    size = jnp.max(jnp.abs(slope))
    theirs = blackjax.svgd(lambda x: jax.grad(cell.natural)(x) / size, optax.sgd(1.0))
    expected = theirs.step(theirs.init(position, {"length_scale": h})).particles - position
    found = kernels.direction("rbf", position, slope / size, alive, h)
    return float(jnp.max(jnp.abs(found - expected)) / jnp.max(jnp.abs(expected)))
