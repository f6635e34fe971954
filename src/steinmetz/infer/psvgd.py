"""Projected SVGD: Stein steps where the data inform, prior draws elsewhere (Chen & Ghattas 2020; method §5)."""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int
from pydantic import Field

from steinmetz.errors import InputError
from steinmetz.infer import kernels, svgd
from steinmetz.infer.base import (
    Info,
    LogDensity,
    Sampler,
    Target,
    admitted,
    as_target,
    mean_length,
    usable,
)


class Config(svgd.Config):
    """As for SVGD, and how much of the spectrum is kept."""

    method: Literal["psvgd"] = "psvgd"  # type: ignore[assignment]
    content: float = Field(
        0.99, gt=0, le=1, description="share of the sum of eigenvalues that is kept"
    )
    basis: int = Field(
        0,
        ge=0,
        description="steps between two new bases, from the curvature averaged over particles; 0 keeps the first",
    )


class Basis(NamedTuple):
    """Directions ψ with H ψ = λ Σ0⁻¹ ψ and ψᵀ Σ0⁻¹ ψ = 1, largest λ first, and the prior precision they belong to."""

    directions: Float[Array, "dimension kept"]
    precision: Float[Array, "dimension dimension"]

    def coordinates(
        self, offset: Float[Array, "particles dimension"]
    ) -> Float[Array, "particles kept"]:
        """w = Ψᵀ Σ0⁻¹ (θ − θ*)."""
        return offset @ self.precision @ self.directions


class State(NamedTuple):
    """`rest` is θ_⊥: what a particle has outside the kept directions."""

    particles: Float[Array, "particles dimension"]
    alive: Bool[Array, "particles"]
    coordinates: Float[Array, "particles kept"]
    rest: Float[Array, "particles dimension"]
    basis: Basis
    moments: optax.OptState
    bandwidth: Float[Array, ""]
    number: Int[Array, ""]


def spectrum(
    curvature: Float[Array, "dimension dimension"], precision: Float[Array, "dimension dimension"]
) -> tuple[Float[Array, "dimension"], Float[Array, "dimension dimension"]]:
    """All λ, falling, and their ψ: the symmetric problem R H Rᵀ with Σ0⁻¹ = L Lᵀ, R = L⁻¹."""
    lower = jnp.linalg.cholesky(precision)
    inverse = jax.scipy.linalg.solve_triangular(
        lower, jnp.eye(len(lower), dtype=lower.dtype), lower=True
    )
    values, vectors = jnp.linalg.eigh(inverse @ curvature @ inverse.T)
    return values[::-1], (inverse.T @ vectors)[:, ::-1]


def kept(values: Float[Array, "dimension"], content: float) -> int:
    """The smallest r whose eigenvalues sum to `content` of all."""
    if content == 1:
        return len(values)
    positive = np.maximum(np.asarray(values), 0.0)
    reached = np.cumsum(positive) >= content * positive.sum()
    return int(np.argmax(reached)) + 1 if positive.sum() > 0 else 1


def build(log_density: LogDensity | Target, config: Config) -> Sampler:
    """SVGD on w, with θ = θ* + Ψ w + θ_⊥ and θ_⊥ a prior draw projected on the complement; θ* is the centre."""
    target, optimiser = as_target(log_density), svgd.optimiser_of(config)
    likelihood, prior, draw = target.likelihood, target.prior, target.draw_prior
    if likelihood is None or prior is None or draw is None:
        raise InputError(
            "psvgd needs a Target with likelihood, prior and draw_prior, not a log density alone"
        )
    start = jnp.zeros_like(draw(jax.random.key(0))) if target.centre is None else target.centre

    def curvature(x: Float[Array, "dimension"]) -> Float[Array, "dimension dimension"]:
        rows = jax.jacrev(likelihood)(x)
        return rows.T @ rows

    slopes = jax.jacfwd(prior)(start)
    precision = slopes.T @ slopes
    values, vectors = jax.jit(spectrum)(jax.jit(curvature)(start), precision)
    rank = kept(values, config.content)
    first = Basis(vectors[:, :rank], precision)

    def split(basis: Basis, offset: Array) -> tuple[Array, Array]:
        w = basis.coordinates(offset)
        return w, offset - w @ basis.directions.T

    def init(key: Array, position: Float[Array, "particles dimension"]) -> State:
        position, alive = admitted(position)
        w, _ = split(first, position - start)
        drawn = jax.vmap(draw)(jax.random.split(key, len(position)))
        rest = split(first, drawn - start)[1]
        particles = start + w @ first.directions.T + rest
        number = jnp.zeros((), int)
        return State(
            particles, alive, w, rest, first, optimiser.init(w), jnp.ones((), w.dtype), number
        )

    def turned(state: State) -> State:
        """The basis of the averaged curvature; coordinates and optimiser moments are carried over to it."""
        share = state.alive / jnp.maximum(jnp.sum(state.alive), 1)
        add = lambda total, pair: (total + pair[1] * curvature(pair[0]), None)  # noqa: E731
        mean = jax.lax.scan(add, jnp.zeros_like(precision), (state.particles, share))[0]
        basis = Basis(spectrum(mean, precision)[1][:, :rank], precision)
        w, rest = split(basis, state.particles - start)
        change = state.basis.directions.T @ precision @ basis.directions
        moments = jax.tree.map(lambda leaf: _projected(leaf, w.shape, change), state.moments)
        return state._replace(
            coordinates=w, rest=rest, basis=basis, moments=_squared(moments, state.moments, change)
        )

    def step(key: Array, state: State) -> tuple[State, Info]:
        if config.basis:
            due = (state.number > 0) & (state.number % config.basis == 0)
            state = jax.lax.cond(due, turned, lambda same: same, state)
        value, score = target.values_and_slopes(key, state.particles)
        alive = usable(state.alive, value, score)
        w, downhill = state.coordinates, score @ state.basis.directions
        h = kernels.refreshed(state.bandwidth, w, alive, state.number, config.refresh)
        direction = kernels.direction(config.kernel, w, downhill, alive, h)
        change, moments = optimiser.update(-direction, state.moments)
        w = w + jnp.where(alive[:, None], change, 0.0)
        particles = jnp.where(
            alive[:, None], start + w @ state.basis.directions.T + state.rest, state.particles
        )
        moved = State(particles, alive, w, state.rest, state.basis, moments, h, state.number + 1)
        return moved, Info(mean_length(direction, alive), jnp.sum(~alive), {})

    return Sampler(init, step)


def _projected(leaf: Array, shape: tuple[int, ...], change: Float[Array, "kept kept"]) -> Array:
    """A first moment is a slope: it changes basis as the coordinates do."""
    return leaf @ change if leaf.shape == shape else leaf


def _squared(
    moments: optax.OptState, before: optax.OptState, change: Float[Array, "kept kept"]
) -> optax.OptState:
    """Second moments are sums of squares: they change by the squares, and stay positive."""

    def mend(new: object, old: object) -> object:
        for name in ("nu", "sum_of_squares"):
            if hasattr(old, name):
                new = new._replace(**{name: getattr(old, name) @ change**2})  # type: ignore[attr-defined]
        return new

    named = lambda entry: hasattr(entry, "nu") or hasattr(entry, "sum_of_squares")  # noqa: E731
    return jax.tree.map(mend, moments, before, is_leaf=named)
