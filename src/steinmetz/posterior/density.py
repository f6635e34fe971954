"""Log posterior of a law's parameters: Gaussian likelihood, Gaussian prior, sign constraints (method §3, §5).

log π(u) = −χ²(θ)/(2 T s²) − (n/T) log s − ½ Σ (θ/τ)² + log |dθ/du| − ½ (log s)², θ = bijector(u). The likelihood is the
*sum* over data, so the posterior contracts as data are added; T = 1 unless a tempered posterior is asked for (the
paper's 1/N mean, method §9.8). The noise deviation is held at the MAP prediction; where it is unknown, its factor s is
sampled with the weights, as the last coordinate log s; else s = 1.
"""

from typing import Annotated, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int
from pydantic import BaseModel, ConfigDict, Field

from steinmetz.data.quadratic import Quadratic, residuals
from steinmetz.laplace import Laplace, Search, at_mode, gauss_newton
from steinmetz.posterior.bijector import Bijector
from steinmetz.potentials.base import Potential, slopes
from steinmetz.potentials.graph import Graph, parameter_units
from steinmetz.potentials.law import Law
from steinmetz.records import Reference


class Config(BaseModel):
    """The prior, and how the likelihood is weighed against it."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    deviation: Annotated[float, Field(gt=0, le=1e6)] | Literal["penalty"] = Field(
        5.0,
        description="standard deviation τ of the Gaussian prior of every weight in its natural unit: inputs in units "
        "of their sizes, Ψ in units of the modulus of the data (half of a Gaussian where the sign is fixed); "
        "'penalty': that of the L2 price the law was trained with, τ = 1/√(λ log n)",
    )
    temperature: Annotated[float, Field(gt=0, le=1e9)] | Literal["mean"] = Field(
        1.0,
        description="the log likelihood is divided by this; 'mean': by the number of observed cells, as in the paper",
    )


class Posterior(eqx.Module):
    """The log density a sampler sees, and the way back from its coordinates to parameters."""

    potential: Potential
    reference: Reference = eqx.field(static=True)
    quadratic: Quadratic
    bijector: Bijector
    prior: Float[Array, "parameters"]
    cells: int = eqx.field(static=True)
    temperature: float = eqx.field(static=True)
    unknown_noise: bool = eqx.field(static=True)

    @property
    def dimension(self) -> int:
        """Coordinates: one per parameter, and log s where the noise is unknown."""
        return self.potential.size + self.unknown_noise

    def theta(self, u: Float[Array, "dimension"]) -> Float[Array, "parameters"]:
        return self.bijector.forward(u[: self.potential.size])

    def log_factor(self, u: Float[Array, "dimension"]) -> Float[Array, ""]:
        """log s."""
        return u[-1] if self.unknown_noise else jnp.zeros((), u.dtype)

    def inverse(self, theta: Float[Array, "parameters"]) -> Float[Array, "dimension"]:
        """Where θ lies in u, with the noise as it was given."""
        u = self.bijector.inverse(theta)
        return jnp.append(u, 0.0) if self.unknown_noise else u

    def log_density(self, u: Float[Array, "dimension"]) -> Float[Array, ""]:
        return self._log_density(u, self.quadratic, 1.0)

    def estimate(
        self, u: Float[Array, "dimension"], batch: Int[Array, "batch"]
    ) -> Float[Array, ""]:
        """The log density with the sum over data estimated from some of them, without bias."""
        return self._log_density(u, self.some(batch), len(self.quadratic.inputs) / batch.size)

    def some(self, batch: Int[Array, "batch"]) -> Quadratic:
        """The residuals of some data only."""
        whole = self.quadratic
        return Quadratic(
            whole.inputs[batch], whole.factor[batch], whole.target[batch], whole.constant * 0
        )

    def _log_density(
        self, u: Float[Array, "dimension"], data: Quadratic, share: float
    ) -> Float[Array, ""]:
        theta, log_factor = self.theta(u), self.log_factor(u)
        slope = slopes(self.potential, self.reference, theta, data.inputs)
        misfit = share * jnp.sum(residuals(data, slope) ** 2) + self.quadratic.constant
        likelihood = -0.5 * misfit * jnp.exp(-2 * log_factor) - self.cells * log_factor
        prior = -0.5 * jnp.sum((theta / self.prior) ** 2) - 0.5 * log_factor**2
        return (
            likelihood / self.temperature
            + prior
            + self.bijector.log_jacobian(u[: self.potential.size])
        )

    def likelihood_rows(self, u: Float[Array, "dimension"]) -> Float[Array, "rows"]:
        """Standardised residuals; JᵀJ of theirs is the Gauss–Newton curvature of the likelihood (for log s: 2n/T)."""
        slope = slopes(self.potential, self.reference, self.theta(u), self.quadratic.inputs)
        rows = residuals(self.quadratic, slope).ravel()
        if self.unknown_noise:
            rows = jnp.append(rows, jnp.sqrt(self.quadratic.constant)) * jnp.exp(-u[-1])
            rows = jnp.append(rows, jnp.sqrt(1.0 * self.cells) * u[-1])
        return rows / jnp.sqrt(self.temperature)

    def prior_rows(self, u: Float[Array, "dimension"]) -> Float[Array, "rows"]:
        """θ/τ, and u for every θ = scale · exp(u): JᵀJ is the curvature of the prior at its balance with the Jacobian.

        There θ' = θ'' = θ, and at the mode the slope of the misfit balances that of log |dθ/du|, which is 1.
        """
        bent = jnp.where(self.bijector.nonnegative, 1.0, _STRAIGHT)
        rows = jnp.concatenate([self.theta(u) / self.prior, bent * u[: self.potential.size]])
        return jnp.append(rows, u[-1]) if self.unknown_noise else rows

    def draw_prior(self, key: Array) -> Float[Array, "dimension"]:
        """An exact draw: normal, half-normal where the sign is fixed, log-normal for s."""
        normal = jax.random.normal(key, (self.dimension,))
        theta = normal[: self.potential.size] * self.prior
        theta = jnp.where(self.bijector.nonnegative, jnp.abs(theta), theta)
        u = self.bijector.inverse(theta)
        return jnp.append(u, normal[-1]) if self.unknown_noise else u


# Square root of the curvature added where a parameter is free: only to keep matrices regular.
_STRAIGHT = 3e-5


def build(
    law: Law,
    quadratic: Quadratic,
    cells: int,
    sizes: tuple[float, ...],
    modulus: float,
    config: Config,
    unknown_noise: bool = False,
) -> Posterior:
    """Posterior of the parameters of `law`, each measured in its natural unit (`parameter_units`)."""
    return of_potential(
        law.graph, law.graph, law.reference, quadratic, cells, sizes, modulus, config, unknown_noise
    )


def of_potential(
    potential: Potential,
    graph: Graph,
    reference: Reference,
    quadratic: Quadratic,
    cells: int,
    sizes: tuple[float, ...],
    modulus: float,
    config: Config,
    unknown_noise: bool = False,
) -> Posterior:
    """The same for a whole network: `graph` is its graph, whose units the prior is measured in."""
    unit = jnp.asarray(parameter_units(graph, sizes, modulus))
    bijector = Bijector(jnp.asarray(potential.nonnegative), unit)
    temperature = float(cells) if config.temperature == "mean" else float(config.temperature)
    if config.deviation == "penalty":
        raise ValueError("the deviation of the prior must be a number here")
    return Posterior(
        potential,
        reference,
        quadratic,
        bijector,
        config.deviation * unit,
        cells,
        temperature,
        unknown_noise,
    )


@eqx.filter_jit
def laplace(posterior: Posterior, theta: Float[Array, "parameters"], steps: int = 20) -> Laplace:
    """Laplace approximation at the mode in u, reached from θ by damped Newton steps.

    The curvature is JᵀJ of the rows of likelihood and prior (Gauss–Newton): always positive definite.
    """
    curvature = gauss_newton(posterior.likelihood_rows, posterior.prior_rows)
    search = Search(steps, lengths=6, longest=1.0)
    return at_mode(posterior.log_density, curvature, posterior.inverse(theta), search)
