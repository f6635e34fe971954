"""Log posterior of a law's parameters: Gaussian likelihood, Gaussian prior, signs (method §3, §5).

log π(u) = −χ²(θ)/(2 T s²) − (n/T) log s − ½ Σ (θ/τ)² + log |dθ/du| − ½ (log s)², θ = bijector(u).
The likelihood is the *sum* over data, so the posterior contracts as data are added; T = 1 unless a
tempered posterior is asked for (the paper's 1/N mean, method §9.8). The noise deviation is held at
the MAP prediction; where it is unknown, its factor s is sampled with the weights, as the last
coordinate log s; else s = 1.
"""

from typing import Annotated, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from pydantic import BaseModel, ConfigDict, Field

from steinmetz import host
from steinmetz.data.quadratic import Quadratic, residuals
from steinmetz.laplace import (
    MODE_SLOPE,
    Curvature,
    Laplace,
    Search,
    climb,
    exact,
    gauss_newton,
    touching,
)
from steinmetz.posterior.bijector import Bijector
from steinmetz.potentials.base import Potential, slopes
from steinmetz.potentials.law import Law
from steinmetz.records import Reference
from steinmetz.shapes import Scalar, Theta, Vector

# Least positive weight of a draw, in its natural unit: no draw is smaller.
_TINY = 1e-30
# Steps in u, in which the prior has a deviation of about one: no longer than that is right.
_SEARCH = Search(steps=5000, longest=1.0)
# Parameters above which a step takes a noticeable time: the search ends where the slope is small
# for any sampler, and steps times parameters are limited.
_MANY = 100
_STEPS_OF_MANY = 3_000_000
_SMALL_SLOPE = 0.01
# The slope is measured under damping while the search goes on, and may be so much larger without.
_UNDAMPED = 3.0
# Steps with the exact Hessian where those by Gauss and Newton do not end at a mode, and the slope,
# in deviations by that Hessian, at which they end.
_EXACT = Search(steps=1000, longest=1.0, rest=1e-3)

# Log of √2π.
_LOG_ROOT = 0.5 * float(np.log(2 * np.pi))

Batch = Int[Array, "batch"]
Rows = Float[Array, "rows"]


class Config(BaseModel):
    """The prior, and how the likelihood is weighed against it."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    deviation: Annotated[float, Field(gt=0, le=1e6)] | Literal["penalty"] = Field(
        5.0,
        description="standard deviation τ of the Gaussian prior of every weight in its natural "
        "unit: inputs in units of their sizes, Ψ in units of the modulus of the data (half of a "
        "Gaussian where the sign is fixed); 'penalty': that of the price the law was trained with, "
        "if it is a Gaussian prior as the L2 price is, τ = 1/√(λ log n)",
    )
    temperature: Annotated[float, Field(gt=0, le=1e9)] | Literal["mean"] = Field(
        1.0,
        description="the log likelihood is divided by this; 'mean': by the number of observed "
        "cells, as in the paper",
        json_schema_extra={"stage": "infer"},
    )

    def tempered(self, cells: int) -> float:
        """The temperature in numbers, for so many observed cells."""
        return float(cells if self.temperature == "mean" else self.temperature)


class Likelihood(eqx.Module):
    """What the data say: residuals in units of the noise, and n, the number of observed cells.

    With `unknown_noise`, a common factor s of all deviations is sampled with the weights.
    """

    quadratic: Quadratic
    cells: int = eqx.field(static=True)
    unknown_noise: bool = eqx.field(static=True, default=False)


class Posterior(eqx.Module):
    """The log density a sampler sees, and the way back from its coordinates to parameters.

    `prior` is the standard deviation τ of every parameter, in the units of the data.
    """

    potential: Potential
    reference: Reference = eqx.field(static=True)
    likelihood: Likelihood
    bijector: Bijector
    prior: Theta
    temperature: float = eqx.field(static=True)

    @property
    def dimension(self) -> int:
        """Coordinates: one per parameter, and log s where the noise is unknown."""
        return self.potential.size + self.likelihood.unknown_noise

    def theta(self, u: Vector) -> Theta:
        """Parameters θ at coordinates u."""
        return self.bijector.forward(u[: self.potential.size])

    def log_factor(self, u: Vector) -> Scalar:
        """log s."""
        return u[-1] if self.likelihood.unknown_noise else jnp.zeros((), u.dtype)

    def inverse(self, theta: Theta) -> Vector:
        """Where θ lies in u, with the noise as it was given."""
        u = self.bijector.inverse(theta)
        return jnp.append(u, 0.0) if self.likelihood.unknown_noise else u

    def log_density(self, u: Vector) -> Scalar:
        """log π(u), up to a constant."""
        return self._log_density(u, self.likelihood.quadratic, 1.0)

    def estimate(self, u: Vector, batch: Batch) -> Scalar:
        """log π(u) with the sum over data estimated from some of them, without bias."""
        share = len(self.likelihood.quadratic.inputs) / batch.size
        return self._log_density(u, self.some(batch), share)

    def some(self, batch: Batch) -> Quadratic:
        """The residuals of some data only."""
        inputs, factor, target, constant = self.likelihood.quadratic
        return Quadratic(inputs[batch], factor[batch], target[batch], constant * 0)

    def _log_density(self, u: Vector, data: Quadratic, share: float) -> Scalar:
        """log π(u) with the sum over `data` taken `share` times."""
        theta, log_factor = self.theta(u), self.log_factor(u)
        slope = slopes(self.potential, self.reference, theta, data.inputs)
        constant, cells = self.likelihood.quadratic.constant, self.likelihood.cells
        misfit = share * jnp.sum(residuals(data, slope) ** 2) + constant
        likelihood = -0.5 * misfit * jnp.exp(-2 * log_factor) - cells * log_factor
        return likelihood / self.temperature + self._prior_part(u)

    def _prior_part(self, u: Vector) -> Scalar:
        """The terms of log π(u) that do not know the data."""
        theta, log_factor = self.theta(u), self.log_factor(u)
        prior = -0.5 * jnp.sum((theta / self.prior) ** 2) - 0.5 * log_factor**2
        return prior + self.bijector.log_jacobian(u[: self.potential.size])

    def log_prior(self, u: Vector) -> Scalar:
        """Log density of `draw_prior` in u; its integral is one."""
        half = jnp.where(self.bijector.nonnegative, jnp.log(2.0), 0.0)
        terms = half + jnp.log(self.bijector.scale / self.prior) - _LOG_ROOT
        factor = _LOG_ROOT if self.likelihood.unknown_noise else 0.0
        return self._prior_part(u) + jnp.sum(terms) - factor

    def likelihood_rows(self, u: Vector) -> Rows:
        """Standardised residuals; JᵀJ of theirs is the Gauss–Newton curvature of the likelihood.

        For log s a row is added whose curvature is 2n/T together with that of the residuals.
        """
        quadratic = self.likelihood.quadratic
        slope = slopes(self.potential, self.reference, self.theta(u), quadratic.inputs)
        rows = residuals(quadratic, slope).ravel()
        if self.likelihood.unknown_noise:
            rows = jnp.append(rows, jnp.sqrt(quadratic.constant)) * jnp.exp(-u[-1])
            rows = jnp.append(rows, jnp.sqrt(1.0 * self.likelihood.cells) * u[-1])
        return rows / jnp.sqrt(self.temperature)

    def prior_rows(self, u: Vector) -> Rows:
        """θ/τ, and u where the sign is fixed: there the prior is nearly a normal density in u.

        JᵀJ is the curvature of the prior; where the sign is fixed the exact one is 0.85 to 1.34.
        """
        known = u[: self.potential.size]
        rows = jnp.where(self.bijector.nonnegative, known, self.theta(u) / self.prior)
        return jnp.append(rows, u[-1]) if self.likelihood.unknown_noise else rows

    def draw_prior(self, key: Array) -> Vector:
        """An exact draw: normal, half-normal where the sign is fixed, log-normal for s."""
        normal = jax.random.normal(key, (self.dimension,))
        theta = normal[: self.potential.size] * self.prior
        theta = jnp.where(self.bijector.nonnegative, jnp.abs(theta), theta)
        u = self.bijector.inverse(theta, _TINY)
        return jnp.append(u, normal[-1]) if self.likelihood.unknown_noise else u


def build(
    law: Law,
    likelihood: Likelihood,
    units: Theta,
    config: Config,
    potential: Potential | None = None,
) -> Posterior:
    """Posterior of the parameters of `law`.

    `units` are their natural units (`NaturalUnits.parameters`), in which the prior is given.
    `potential` is another form of the law's graph with the same parameters, if there is a faster
    one: the network itself, where nothing was pruned.
    """
    if config.deviation == "penalty":
        raise ValueError("the deviation of the prior must be a number here")
    potential = potential or law.graph
    signs = np.asarray(potential.nonnegative, bool)
    deviations = config.deviation * np.asarray(units)
    bijector = Bijector(host.held(signs), host.held(np.where(signs, deviations, units)))
    temperature = config.tempered(likelihood.cells)
    return Posterior(
        potential, law.reference, likelihood, bijector, host.held(deviations), temperature
    )


def laplace(posterior: Posterior, theta: Theta) -> Laplace:
    """Laplace approximation at the mode in u, reached from θ by Gauss–Newton steps alone."""
    found, _ = _by_rows(posterior, posterior.inverse(theta)[None])
    first: Laplace = jax.tree.map(lambda leaf: leaf[0], found)
    return first


def climbed(
    posterior: Posterior, starts: Float[Array, "starts dimension"]
) -> tuple[Laplace, Float[Array, "reached"]]:
    """Laplace approximations at the modes reached from starts in u, and log π there.

    Laws of many units are bent so much that Gauss–Newton steps may lead to no mode. Where none of
    the starts does, the exact Hessian leads on from the highest place that was reached, which is
    then the only one. It is a program of its own: most posteriors need not compile it.
    """
    found, heights = _by_rows(posterior, starts)
    wanted = _SMALL_SLOPE if posterior.dimension > _MANY else MODE_SLOPE
    height = np.asarray(heights)
    if np.any(np.asarray(found.slope) <= wanted) or not np.isfinite(height).any():
        return found, heights
    highest = int(np.nanargmax(np.where(np.isfinite(height), height, np.nan)))
    return _exactly(posterior, found.centre[highest][None])


def _rows_curvature(posterior: Posterior) -> Curvature:
    """JᵀJ of the rows of likelihood and prior (Gauss–Newton): always positive definite."""
    return gauss_newton(posterior.likelihood_rows, posterior.prior_rows)


@eqx.filter_jit
def _by_rows(
    posterior: Posterior, starts: Float[Array, "starts dimension"]
) -> tuple[Laplace, Float[Array, "starts"]]:
    """Places reached with the curvature of the rows, and log π there."""
    search = _SEARCH
    if posterior.dimension > _MANY:
        search = Search(
            _STEPS_OF_MANY // posterior.dimension, search.longest, _SMALL_SLOPE / _UNDAMPED
        )
    return _reached(posterior, _rows_curvature(posterior), starts, search)


@eqx.filter_jit
def _exactly(
    posterior: Posterior, starts: Float[Array, "starts dimension"]
) -> tuple[Laplace, Float[Array, "starts"]]:
    """Places reached with the exact Hessian, and log π there."""
    return _reached(posterior, exact(posterior.log_density), starts, _EXACT)


def _reached(
    posterior: Posterior,
    curvature: Curvature,
    starts: Float[Array, "starts dimension"],
    search: Search,
) -> tuple[Laplace, Float[Array, "starts"]]:
    """Climb with a curvature from every start; the approximation has that of the rows."""
    log_density = posterior.log_density

    def one(start: Vector) -> tuple[Laplace, Scalar]:
        place = climb(log_density, curvature, start, search)
        found = touching(log_density, _rows_curvature(posterior), place)
        return found, log_density(place)

    every: tuple[Laplace, Float[Array, "starts"]] = jax.lax.map(one, starts)
    return every
