"""The shape of every sampler, and the affine change of coordinates that makes a posterior round."""

from collections.abc import Callable
from typing import Any, NamedTuple

from jaxtyping import Array, Float

LogDensity = Callable[[Float[Array, "dimension"]], Float[Array, ""]]


class Sampler(NamedTuple):
    """`init(key, position) → state` and `step(key, state) → (state, info)`; `position` is particles × dimension.

    The driver reads `state.particles`, `state.alive` (usable particles), `info.direction` (length of the last step's
    direction, for stopping) and `info.frozen` (number of particles that are not usable).
    """

    init: Callable[[Array, Float[Array, "particles dimension"]], Any]
    step: Callable[[Array, Any], tuple[Any, Any]]


def whiten(
    log_density: LogDensity, centre: Float[Array, "dimension"], root: Float[Array, "dimension dimension"]
) -> LogDensity:
    """log π in coordinates v with u = centre + root v; the constant log |root| is left out."""
    return lambda v: log_density(centre + root @ v)
