"""Sample any JAX log density with any of the samplers, without mechanics."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import pydantic
from numpy.typing import ArrayLike

from steinmetz.engine.problem import use_double
from steinmetz.errors import InputError
from steinmetz.infer.base import Settings, Target, as_target, settings_of
from steinmetz.infer.driver import Cache, Checkpoints
from steinmetz.infer.sampling import Samples
from steinmetz.infer.sampling import sample as draw
from steinmetz.laplace import Laplace, LogDensity, Search, at_mode
from steinmetz.records import Report, silent

# Many steps, because a start may be far away, of any length, because nothing is known of scales.
_SEARCH = Search(steps=50, lengths=12)


def sample(
    log_density: LogDensity | Target,
    start: ArrayLike,
    method: str = "auto",
    seed: int = 0,
    report: Report = silent,
    cache: Cache | None = None,
    **settings: Any,
) -> Samples:
    """Draws from a log density: Newton steps from `start` to its mode, then a sampler from there.

    `settings` are those of the method, such as particles=100; whiten=False starts around `start`
    and keeps the coordinates. With a `cache`, an interrupted call goes on where it was. Raises
    `InputError` for settings and starts that cannot be, and `RunFailure` where more than a tenth of
    the particles meet a density that is not finite.
    """
    use_double()
    point = jnp.asarray(start, float)
    if point.ndim != 1:
        raise InputError(f"start must be a point of the density, a vector; got shape {point.shape}")
    target = as_target(log_density)
    if not bool(jnp.isfinite(target.log_density(point))):
        raise InputError("the log density is not finite at the start; give a point where it is")
    choice = _settings(method, settings).chosen(point.size)
    laplace = Laplace(point, jnp.eye(point.size))
    if choice.settings.whiten:
        search = partial(at_mode, target.log_density, target.curvature, search=_SEARCH)
        laplace = jax.jit(search)(point)
    checkpoints = None if cache is None else Checkpoints(cache)
    return draw(jax.random.key(seed), target, laplace, choice, report, checkpoints)


def _settings(method: str, settings: dict[str, Any]) -> Settings:
    """The method's settings, or the first that is wrong, in words."""
    try:
        return settings_of(method)(**settings)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"{part}: " for part in first["loc"])
        raise InputError(place + first["msg"].removeprefix("Value error, ").lower()) from None
