"""What every sampler has in common: the target it sees, its settings, and the shape of its file.

A sampler sees a log density and nothing of mechanics. A method is one file of this folder with

    class Config(Settings)            its settings, with defaults that run, and its capabilities
    build(target, config) → Sampler   its first state and its step
    PRESETS                           settings by the name of a preset; may be left out

It is found by the name of its file and tested by `tests/infer/test_contract.py` as soon as it
exists. A method that only chooses another one (`auto`) has `Config.chosen` in place of `build`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeVar, cast, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from pydantic import BaseModel, ConfigDict, Field, model_validator

from steinmetz import host, registry
from steinmetz.infer import placement
from steinmetz.infer.modes import Modes
from steinmetz.infer.schedule import Schedule
from steinmetz.laplace import Laplace, LogDensity, Rows, gauss_newton, positive
from steinmetz.shapes import Alive, Count, Matrix, Particles, PerParticle, Scalar, Vector

# (key, particles) → log p and ∇log p of each
ValuesAndSlopes = Callable[[Array, Particles], tuple[PerParticle, Particles]]
# key → one draw
Draw = Callable[[Array], Vector]


class Target(NamedTuple):
    """A log density, and what is known beside it.

    `values_and_slopes(key, particles)` are log p and ∇log p of many particles at once; they may be
    estimates from a batch of the data, chosen by the key. `likelihood` and `prior` are residual
    rows: JᵀJ of theirs is the Gauss–Newton curvature of the two factors (only their slopes are
    used). `draw_prior(key)` is one exact draw from the prior and `log_prior` its log density, whose
    integral is one; `centre` is the most probable point, `modes` are all that are known where there
    are several. `root` is that of Laplace's covariance where coordinates are not round: directions
    are told in posterior deviations all the same.
    """

    log_density: LogDensity
    values_and_slopes: ValuesAndSlopes
    likelihood: Rows | None = None
    prior: Rows | None = None
    draw_prior: Draw | None = None
    centre: Vector | None = None
    modes: Modes | None = None
    root: Matrix | None = None
    log_prior: LogDensity | None = None

    def in_deviations(self, direction: Particles) -> Particles:
        """A direction of slopes per posterior deviation: ∇_v = rootᵀ ∇_u."""
        return direction if self.root is None else direction @ self.root

    def curvature(self, x: Vector) -> Matrix:
        """Of −log p at x, always positive definite.

        Gauss–Newton where the rows of likelihood and prior are known, else the Hessian made
        positive.
        """
        if self.likelihood is None or self.prior is None:
            return positive(-jax.hessian(self.log_density)(x))
        return gauss_newton(self.likelihood, self.prior)(x)

    def curvatures(self, particles: Particles) -> Float[Array, "particles dimension dimension"]:
        """Of −log p at every particle, some at a time where their Jacobians would be large."""
        size, rows = particles.shape[1], self.likelihood or jnp.atleast_1d
        high = max(size, jax.eval_shape(rows, particles[0]).shape[0])
        return placement.rows(jax.vmap(self.curvature), particles, high * size)

    def by_rows(self) -> "Target":
        """The same, with the densities of many particles shared out over the devices of a run."""

        def values_and_slopes(key: Array, particles: Particles) -> tuple[PerParticle, Particles]:
            return placement.rows(lambda some: self.values_and_slopes(key, some), particles)

        return self._replace(values_and_slopes=values_and_slopes)


def as_target(log_density: LogDensity | Target) -> Target:
    """A plain function becomes a target whose slopes come from automatic differentiation."""
    if isinstance(log_density, Target):
        return log_density
    traced_once = jax.jit(log_density)
    many = jax.vmap(jax.value_and_grad(traced_once))
    return Target(traced_once, lambda key, particles: many(particles))


def whiten(target: Target, laplace: Laplace) -> Target:
    """The target in coordinates v with u = centre + root v, in which Laplace's Gaussian is round.

    Slopes change by the chain rule, ∇_v = rootᵀ ∇_u; the constant log |root| is left out.
    """

    def values_and_slopes(key: Array, particles: Particles) -> tuple[PerParticle, Particles]:
        value, slope = target.values_and_slopes(key, laplace.forward_all(particles))
        return value, slope @ laplace.root

    def through(rows: Rows | None) -> Rows | None:
        return None if rows is None else lambda v: rows(laplace.forward(v))

    draw, modes = target.draw_prior, target.modes
    return Target(
        lambda v: target.log_density(laplace.forward(v)),
        values_and_slopes,
        through(target.likelihood),
        through(target.prior),
        None if draw is None else lambda key: laplace.inverse(draw(key)),
        host.held(np.zeros(laplace.centre.shape), laplace.centre.dtype),
        None if modes is None else modes.seen_from(laplace),
    )


@runtime_checkable
class State(Protocol):
    """What the next step needs: at least where the particles are, and which are usable.

    All of it are arrays: a checkpoint is the arrays of a state.
    """

    @property
    def particles(self) -> Particles: ...

    @property
    def alive(self) -> Alive: ...


class Info(NamedTuple):
    """What a reader wants to know of a step.

    `direction` is a length that says how far from rest the ensemble is, `frozen` the number of
    particles that are not usable; `facts` are totals per particle since the start.
    """

    direction: Scalar
    frozen: Count
    facts: dict[str, Array]

    @classmethod
    def of(cls, direction: Particles, alive: Alive, facts: dict[str, Array]) -> "Info":
        """With the mean length of the directions of the usable particles."""
        lengths = jnp.where(alive, jnp.linalg.norm(direction, axis=1), 0.0)
        mean = jnp.sum(lengths) / jnp.maximum(jnp.sum(alive), 1)
        return cls(mean, jnp.sum(~alive), facts)


S = TypeVar("S", bound=State)


@dataclass(frozen=True)
class Sampler(Generic[S]):
    """`init(key, position) → state` and `step(key, state) → (state, info)`.

    `facts` are numbers that are known before the first step, such as the rank of a projection.
    `position` is particles × dimension. Both are compiled: they must not raise. A particle that
    meets a density or slope that is not finite is no longer `alive`: it stays, and nobody feels it.
    """

    init: Callable[[Array, Particles], S]
    step: Callable[[Array, S], tuple[S, Info]]
    facts: dict[str, float] = field(default_factory=dict)


class Capabilities(BaseModel):
    """What holds for the draws of a method, so which checks apply to it, and what it cannot do.

    `snapshots`: draws are snapshots of particles that keep moving: R-hat and effective draws apply.
    `rests`: a flow that comes to rest: the length of its direction applies.
    `divergences`: they are counted, as the fact `divergent`.
    `groups`: into how many independent groups of particles the draws fall; particles of one group
    are coupled, so R-hat compares groups. 1 where every particle moves for itself.
    `acceptance`: the band in which the share of accepted moves must lie, from the facts `accepted`
    and `tried`; None where moves are not tested.
    `bridges`: it comes to the target by degrees, and weighs modes by itself; what is `missing` of
    the target at the end, and the log `evidence`, are facts.
    `whitens`: it may work in coordinates made round; else it needs the target's own.
    `instead_for_laws`: why it cannot sample the posterior of a law, and what to do; empty if it
    can.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    snapshots: bool = False
    rests: bool = False
    divergences: bool = False
    groups: int = 1
    acceptance: tuple[float, float] | None = None
    bridges: bool = False
    whitens: bool = True
    instead_for_laws: str = ""


class Settings(BaseModel):
    """What the driver and the engine ask of every method's configuration.

    Every method must declare its `capabilities`: without them its settings cannot be made.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    capabilities: ClassVar[Capabilities]
    shares: ClassVar[bool] = True  # whether devices share in its work
    method: str
    whiten: bool = Field(True, description="sample where Laplace's approximation is round")

    @model_validator(mode="after")
    def _whitens(self) -> "Settings":
        """A method that needs the target's own coordinates is not whitened."""
        if self.whiten and not self.capabilities.whitens:
            why = f"{self.method} needs the coordinates of the density itself"
            raise ValueError(f"infer.whiten must be false: {why}")
        return self

    @property
    def width(self) -> int:
        """Particles or chains that move side by side."""
        raise NotImplementedError

    @property
    def schedule(self) -> Schedule:
        """How long to run and what to keep."""
        raise NotImplementedError

    @property
    def batch_size(self) -> int | None:
        """Data that are drawn anew for every step; None takes all of them."""
        return None

    @property
    def extensions(self) -> int:
        """How often the steps may be doubled until the draws suffice."""
        return 0

    def chosen(self, dimension: int) -> "Choice":
        """The settings that run in so many dimensions: these, unless the method is a choice."""
        return Choice(self, "asked for by name")


class Choice(NamedTuple):
    """The settings of the method that runs, and why it was taken."""

    settings: Settings
    reason: str


def settings_of(name: str) -> type[Settings]:
    """The settings of the method of a name, or an error that says which methods there are."""
    return cast(type[Settings], registry.load("infer", name).Config)


def build(target: Target, settings: Settings) -> Sampler[State]:
    """The sampler of the method whose settings these are."""
    method, target = registry.load("infer", settings.method), target.by_rows()
    return cast(Sampler[State], method.build(target, settings))


def usable(alive: Alive, value: PerParticle, slope: Particles) -> Alive:
    """Particles that were usable and have a finite density and slope."""
    return alive & jnp.isfinite(value) & jnp.all(jnp.isfinite(slope), axis=1)


def admitted(position: Particles) -> tuple[Particles, Alive]:
    """Start positions with the ones that are not finite put to zero, and which were finite."""
    alive = jnp.all(jnp.isfinite(position), axis=1)
    return jnp.where(alive[:, None], position, 0.0), alive
