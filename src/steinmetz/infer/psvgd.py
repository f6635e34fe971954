"""Projected SVGD: Stein where data inform, prior draws elsewhere (Chen & Ghattas 2020; method §5).

With H the Gauss–Newton curvature of the likelihood and Σ0⁻¹ that of the prior, H ψ = λ Σ0⁻¹ ψ.
Where λ is small the data say nothing beyond the prior. SVGD runs on the coordinates w of the
directions with the largest λ, θ = θ* + Ψ w + θ_⊥, and θ_⊥ is a prior draw projected on the others.

A posterior that is wide and bent is informed in more directions than its mode tells: H is half that
at the mode, half its mean over some draws of the prior, which is where θ_⊥ leads.
"""

from functools import partial
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float
from pydantic import Field

from steinmetz.errors import InputError
from steinmetz.infer import kernels
from steinmetz.infer.base import Draw, Info, Sampler, Target, admitted, usable
from steinmetz.infer.particles import Descent
from steinmetz.laplace import Rows, slopes_of
from steinmetz.shapes import Alive, Count, Matrix, Particles, Scalar, Vector

# Largest λ of a draw that counts: what lies above is known well enough, and would hide in rounding
# what is known less well.
_KNOWN = 1e6

# Coordinates w, or slopes in them.
Kept = Float[Array, "particles kept"]


class Config(Descent):
    """As for SVGD, and how much of the spectrum is kept."""

    method: Literal["psvgd"] = "psvgd"
    least: float = Field(
        0.01,
        ge=0,
        description="directions are kept whose λ is above this: where it is 0.01, data "
        "take half a percent off the deviation of the prior",
    )
    content: float | None = Field(
        None,
        gt=0,
        le=1,
        description="in place of that: share of the eigenvalues' sum to keep, as "
        "published with 0.99; it may leave out directions that the data know well",
    )
    average: int = Field(
        64,
        ge=0,
        le=10_000,
        description="draws of the prior whose mean curvature is half of the one that directions "
        "are chosen by; the other half is that at the mode. 0: the mode alone, as published",
    )
    basis: int = Field(0, ge=0, description="steps between two bases of the mean curvature; 0: one")


class Basis(NamedTuple):
    """ψ with ψᵀ Σ0⁻¹ ψ = 1, largest λ first, and the prior precision Σ0⁻¹ they belong to."""

    directions: Float[Array, "dimension kept"]
    precision: Matrix

    def split(self, offset: Particles) -> tuple[Kept, Particles]:
        """w = Ψᵀ Σ0⁻¹ (θ − θ*), and what is left of θ − θ* outside the kept directions."""
        w = offset @ self.precision @ self.directions
        return w, offset - w @ self.directions.T


class State(NamedTuple):
    """As of a flow, with the coordinates w in a basis, and `rest`, θ_⊥ of every particle."""

    particles: Particles
    alive: Alive
    coordinates: Kept
    rest: Particles
    basis: Basis
    moments: optax.OptState
    bandwidth: Scalar
    number: Count


def spectrum(curvature: Matrix, precision: Matrix) -> tuple[Vector, Matrix]:
    """All λ, falling, and their ψ: the symmetric problem Rᵀ H R with R Rᵀ = Σ0."""
    root = _root(precision)
    return _axes(root.T @ curvature @ root, root)


def _root(precision: Matrix) -> Matrix:
    """R = L⁻ᵀ, with Σ0⁻¹ = L Lᵀ: in its coordinates the prior is round."""
    unit = jnp.eye(len(precision), dtype=precision.dtype)
    return jax.scipy.linalg.solve_triangular(jnp.linalg.cholesky(precision), unit, lower=True).T


def _axes(curvature: Matrix, root: Matrix) -> tuple[Vector, Matrix]:
    """All λ, falling, and their ψ, of a curvature that is seen where the prior is round."""
    values, vectors = jnp.linalg.eigh(curvature)
    return values[::-1], (root @ vectors)[:, ::-1]


def _drawn(draw: Draw, count: int) -> Particles:
    """The same draws of the prior every time: directions belong to a posterior, not to a run."""
    return jax.vmap(draw)(jax.random.split(jax.random.key(0), count))


def averaged(
    likelihood: Rows, mode: Vector, draws: Particles, precision: Matrix
) -> tuple[Vector, Matrix]:
    """`spectrum` of a curvature that is half that at the mode and half its mean over draws.

    At each of them λ counts up to 10⁶ only, by the singular values of J R, J the slopes of the rows
    and R Rᵀ the prior covariance; a draw at which J is not finite tells nothing.
    """
    root = _root(precision)

    def limited(place: Vector) -> Matrix:
        rows = slopes_of(likelihood, place) @ root
        _, sizes, axes = jnp.linalg.svd(jnp.where(jnp.isfinite(rows), rows, 0), full_matrices=False)
        axes = axes * jnp.minimum(sizes, np.sqrt(_KNOWN))[:, None]
        return jnp.where(jnp.all(jnp.isfinite(rows)), axes.T @ axes, 0.0)

    def add(total: Matrix, place: Vector) -> tuple[Matrix, None]:
        return total + limited(place) / len(draws), None

    mean = jax.lax.scan(add, jnp.zeros_like(precision), draws)[0]
    return _axes(0.5 * (limited(mode) + mean), root)


def kept(values: Vector, config: Config) -> int:
    """How many λ are above the least one, or the fewest that sum to the asked share of all."""
    content = config.content
    if content is None:
        return max(1, int(np.sum(np.asarray(values) > config.least)))
    if content == 1:
        return len(values)
    positive = np.maximum(np.asarray(values), 0.0)
    reached = np.cumsum(positive) >= content * positive.sum()
    return int(np.argmax(reached)) + 1 if positive.sum() > 0 else 1


def build(target: Target, config: Config) -> Sampler[State]:
    """SVGD on w, with θ = θ* + Ψ w + θ_⊥; θ* is the target's centre, or zero where it has none.

    Needs the rows of likelihood and prior and draws from the prior: a plain density is refused.
    """
    optimiser = config.optimise()
    likelihood, prior, draw = target.likelihood, target.prior, target.draw_prior
    if likelihood is None or prior is None or draw is None:
        raise InputError(
            "psvgd needs a Target with likelihood, prior and draw_prior, not a log density alone"
        )
    start = jnp.zeros_like(draw(jax.random.key(0))) if target.centre is None else target.centre

    def curvature(x: Vector) -> Matrix:
        """JᵀJ of the likelihood."""
        rows = slopes_of(likelihood, x)
        return jnp.matmul(rows.T, rows)

    slopes = jax.jacfwd(prior)(start)
    precision = slopes.T @ slopes
    if config.average:
        drawn, mean = _drawn(draw, config.average), jax.jit(partial(averaged, likelihood))
        values, vectors = mean(start, drawn, precision)
    else:
        values, vectors = jax.jit(spectrum)(jax.jit(curvature)(start), precision)
    rank = kept(values, config)
    left = float(values[rank]) if rank < len(values) else 0.0
    facts = {"rank": float(rank), "dimension": float(len(values)), "largest discarded": left}
    first = Basis(vectors[:, :rank], precision)

    def init(key: Array, position: Particles) -> State:
        position, alive = admitted(position)
        w, _ = first.split(position - start)
        drawn = jax.vmap(draw)(jax.random.split(key, len(position)))
        rest = first.split(drawn - start)[1]
        particles = start + w @ first.directions.T + rest
        width, number = jnp.ones((), w.dtype), jnp.zeros((), int)
        return State(particles, alive, w, rest, first, optimiser.init(w), width, number)

    def turned(state: State) -> State:
        """The basis of the averaged curvature; coordinates and moments are carried over to it."""
        share = state.alive / jnp.maximum(jnp.sum(state.alive), 1)

        def add(total: Matrix, pair: tuple[Vector, Scalar]) -> tuple[Matrix, None]:
            return total + pair[1] * curvature(pair[0]), None

        mean = jax.lax.scan(add, jnp.zeros_like(precision), (state.particles, share))[0]
        basis = Basis(spectrum(mean, precision)[1][:, :rank], precision)
        w, rest = basis.split(state.particles - start)
        change = state.basis.directions.T @ precision @ basis.directions
        moments = carried(state.moments, change)
        return state._replace(coordinates=w, rest=rest, basis=basis, moments=moments)

    def step(key: Array, state: State) -> tuple[State, Info]:
        if config.basis:
            due = (state.number > 0) & (state.number % config.basis == 0)
            state = jax.lax.cond(due, turned, lambda same: same, state)
        value, slope = target.values_and_slopes(key, state.particles)
        alive = usable(state.alive, value, slope)
        w, along = state.coordinates, slope @ state.basis.directions
        h = kernels.refreshed(state.bandwidth, w, alive, state.number, config.refresh)
        direction = kernels.direction(config.kernel, w, along, alive, h)
        change, moments = optimiser.update(-direction, state.moments)
        w = w + jnp.where(alive[:, None], change, 0.0)
        moved = start + w @ state.basis.directions.T + state.rest
        particles = jnp.where(alive[:, None], moved, state.particles)
        after = State(particles, alive, w, state.rest, state.basis, moments, h, state.number + 1)
        return after, Info.of(direction, alive, {})

    return Sampler(init, step, facts)


def carried(moments: optax.OptState, change: Float[Array, "kept kept"]) -> optax.OptState:
    """Moments of the optimiser in a new basis.

    A first moment is a slope: it changes as coordinates do. Second moments are sums of squares:
    they change by the squares, and stay positive.
    """
    adam, adagrad = optax.ScaleByAdamState, optax.ScaleByRssState

    def turned(entry: optax.OptState) -> optax.OptState:
        if isinstance(entry, adam):
            return entry._replace(mu=entry.mu @ change, nu=entry.nu @ change**2)
        if isinstance(entry, adagrad):
            return entry._replace(sum_of_squares=entry.sum_of_squares @ change**2)
        return entry

    return jax.tree.map(turned, moments, is_leaf=lambda entry: isinstance(entry, adam | adagrad))
