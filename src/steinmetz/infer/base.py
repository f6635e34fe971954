"""What every sampler has in common: the target it sees, its settings, and its shape.

A sampler sees a log density and nothing of mechanics. `build(log_density, config)` takes any JAX function of a vector,
or a `Target` where more than the density is known.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float
from pydantic import BaseModel, ConfigDict, Field

LogDensity = Callable[[Float[Array, "dimension"]], Float[Array, ""]]
Rows = Callable[[Float[Array, "dimension"]], Float[Array, "rows"]]
Scores = Callable[
    [Array, Float[Array, "particles dimension"]],
    tuple[Float[Array, "particles"], Float[Array, "particles dimension"]],
]
Draw = Callable[[Array], Float[Array, "dimension"]]


class Target(NamedTuple):
    """A log density, and what is known beside it.

    `scores(key, particles)` are values and slopes of many particles at once; they may be estimates from a batch of the
    data, chosen by the key. `likelihood` and `prior` are residual rows: JᵀJ of theirs is the Gauss–Newton curvature of
    the two factors (only their slopes are used). `draw_prior(key)` is one exact draw from the prior, `centre` the most
    probable point.
    """

    log_density: LogDensity
    scores: Scores
    likelihood: Rows | None = None
    prior: Rows | None = None
    draw_prior: Draw | None = None
    centre: Float[Array, "dimension"] | None = None


def as_target(log_density: LogDensity | Target) -> Target:
    """A plain function becomes a target whose slopes come from automatic differentiation."""
    if isinstance(log_density, Target):
        return log_density
    traced_once = jax.jit(log_density)
    many = jax.vmap(jax.value_and_grad(traced_once))
    return Target(traced_once, lambda key, particles: many(particles))


def whiten(
    log_density: LogDensity | Target,
    centre: Float[Array, "dimension"],
    root: Float[Array, "dimension dimension"],
) -> Target:
    """The target in coordinates v with u = centre + root v; the constant log |root| is left out."""
    target = as_target(log_density)

    def forward(v: Float[Array, "dimension"]) -> Float[Array, "dimension"]:
        return centre + root @ v

    def scores(key: Array, particles: Float[Array, "particles dimension"]) -> tuple[Array, Array]:
        value, score = target.scores(key, centre + particles @ root.T)
        return value, score @ root

    def through(rows: Rows | None) -> Rows | None:
        return None if rows is None else lambda v: rows(forward(v))

    draw = target.draw_prior
    return Target(
        lambda v: target.log_density(forward(v)),
        scores,
        through(target.likelihood),
        through(target.prior),
        None if draw is None else lambda key: jnp.linalg.solve(root, draw(key) - centre),
        jnp.zeros_like(centre),
    )


class Sampler(NamedTuple):
    """`init(key, position) → state` and `step(key, state) → (state, info)`; `position` is particles × dimension.

    The driver reads `state.particles`, `state.alive` (usable particles), `info.direction` (a length that says how far
    from rest the ensemble is), `info.frozen` (number of particles that are not usable) and `info.facts` (per particle).
    """

    init: Callable[[Array, Float[Array, "particles dimension"]], Any]
    step: Callable[[Array, Any], tuple[Any, Any]]


class Info(NamedTuple):
    """What a reader wants to know of a step; `facts` are totals per particle since the start."""

    direction: Float[Array, ""]
    frozen: Array
    facts: dict[str, Array]


class Settings(BaseModel):
    """What the driver and the engine ask of every method's configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    method: str
    whiten: bool = Field(
        True,
        description="sample in coordinates made round by the Gauss–Newton curvature at the most probable law",
    )

    @property
    def width(self) -> int:
        """Particles or chains that move side by side."""
        raise NotImplementedError

    @property
    def schedule(self) -> "Schedule":
        """How long to run and what to keep."""
        raise NotImplementedError


class Schedule(NamedTuple):
    """`burn` steps, then `steps` more of which every `thin`-th is kept; `thin` 0 keeps the last positions only.

    A run ends early when `info.direction` is below `tolerance`.
    """

    steps: int
    burn: int = 0
    thin: int = 0
    tolerance: float = 0.0


def usable(
    alive: Bool[Array, "particles"],
    value: Float[Array, "particles"],
    score: Float[Array, "particles dimension"],
) -> Bool[Array, "particles"]:
    """Particles that were usable and have a finite density and slope."""
    return alive & jnp.isfinite(value) & jnp.all(jnp.isfinite(score), axis=1)


def admitted(position: Float[Array, "particles dimension"]) -> tuple[Array, Array]:
    """Start positions with the ones that are not finite put to zero, and which were finite."""
    alive = jnp.all(jnp.isfinite(position), axis=1)
    return jnp.where(alive[:, None], position, 0.0), alive


def mean_length(
    direction: Float[Array, "particles dimension"], alive: Bool[Array, "particles"]
) -> Float[Array, ""]:
    """Mean length of the rows of the usable particles."""
    lengths = jnp.where(alive, jnp.linalg.norm(direction, axis=1), 0.0)
    return jnp.sum(lengths) / jnp.maximum(jnp.sum(alive), 1)
