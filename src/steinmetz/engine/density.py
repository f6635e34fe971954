"""Sample any JAX log density with any of the samplers, without mechanics."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pydantic
from jaxtyping import Array, Float

from steinmetz import registry
from steinmetz.engine.problem import require_double
from steinmetz.errors import InputError
from steinmetz.infer import auto, base, curvature, diagnostics, driver
from steinmetz.records import Report, silent

_NEWTON = 50


class Samples(NamedTuple):
    """`draws` of all usable particles (or chains) in the density's own coordinates, and how they were found."""

    draws: Float[np.ndarray, "draws dimension"]
    run: driver.Run
    health: diagnostics.Diagnostics
    method: str
    reason: str


def sample(
    log_density: Callable[[Float[Array, "dimension"]], Float[Array, ""]] | base.Target,
    start: Any,
    method: str = "auto",
    seed: int = 0,
    report: Report = silent,
    store: driver.Keeper | None = None,
    **settings: Any,
) -> Samples:
    """Draws from a log density: Newton steps from `start` to the mode, then the sampler in coordinates round there.

    `settings` are those of the method, such as particles=100; whiten=False starts around `start` and keeps the
    coordinates. With a `steinmetz.cache.Cache`, an interrupted call goes on where it was.
    """
    require_double()
    point = jnp.asarray(start, float)
    if point.ndim != 1:
        raise InputError(f"start must be a point of the density, a vector; got shape {point.shape}")
    target = base.as_target(log_density)
    if not bool(jnp.isfinite(target.log_density(point))):
        raise InputError("the log density is not finite at the start; give a point where it is")
    config = _settings(method, settings)
    module, config, reason = auto.choose(config, point.size) if method == "auto" else (
        registry.load("infer", method), config, "named in the call",
    )  # fmt: skip
    centre, root = _touching(target, point) if config.whiten else (point, jnp.eye(point.size))
    _, run_key, check_key = jax.random.split(jax.random.key(seed), 3)
    position = jnp.asarray(start_of(seed, config.width, point.size))
    if config.whiten:
        seen = base.whiten(target, centre, root)
    else:  # the density's own coordinates
        seen, position = target, centre + position
    run = driver.run(run_key, module.build(seen, config), position, config.schedule, report, store)
    health = diagnostics.examine(check_key, seen, run.usable)
    draws = run.usable.reshape(-1, point.size)
    if config.whiten:
        draws = np.asarray(centre + draws @ root.T)
    return Samples(draws, run, health, config.method, reason)


def start_of(seed: int, particles: int, dimension: int) -> Float[np.ndarray, "particles dimension"]:
    """Where the particles of `sample` start, as offsets from the mode (or from `start`) in its coordinates."""
    key = jax.random.split(jax.random.key(seed), 3)[0]
    return np.asarray(jax.random.normal(key, (particles, dimension)))


def _settings(method: str, settings: dict[str, Any]) -> Any:
    try:
        return registry.load("infer", method).Config(**settings)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}") from None


def _touching(target: base.Target, start: Float[Array, "dimension"]) -> tuple[Array, Array]:
    """Mode and inverse root of the curvature there, by damped Newton steps."""
    bent = curvature.curvature_of(target)

    def step(x: Float[Array, "dimension"], _: None) -> tuple[Array, None]:
        slope = jax.grad(target.log_density)(x)
        move = jnp.linalg.solve(bent(x), slope)
        lengths = 0.5 ** jnp.arange(12)
        values = jax.vmap(lambda length: target.log_density(x + length * move))(lengths)
        best = jnp.argmax(jnp.where(jnp.isfinite(values), values, -jnp.inf))
        better = values[best] > target.log_density(x)
        return jnp.where(better, x + lengths[best] * move, x), None

    @jax.jit
    def found(x: Float[Array, "dimension"]) -> tuple[Array, Array]:
        mode = jax.lax.scan(step, x, None, length=_NEWTON)[0]
        lower = jnp.linalg.cholesky(bent(mode))
        return mode, jax.scipy.linalg.solve_triangular(lower, jnp.eye(x.size), lower=True).T

    return found(start)
