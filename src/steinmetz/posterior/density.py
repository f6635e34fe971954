"""Log posterior of a law's parameters: Gaussian likelihood, Gaussian prior, sign constraints (method §3, §5).

log π(u) = −½ χ²(θ) − ½ Σ (θ/τ)² + log |dθ/du|, θ = bijector(u). The likelihood is the *sum* over data, so the posterior
contracts as data are added (the paper's 1/N mean is tempered, method §9.8). The noise deviation is held at the MAP
prediction.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from pydantic import BaseModel, ConfigDict, Field

from steinmetz.data.quadratic import Quadratic, residuals
from steinmetz.nouns import Reference
from steinmetz.posterior.bijector import Bijector
from steinmetz.potentials.base import slopes
from steinmetz.potentials.graph import Graph, parameter_units
from steinmetz.potentials.law import Law


class Config(BaseModel):
    """The prior."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    deviation: float = Field(
        5.0,
        gt=0,
        le=1e6,
        description="standard deviation τ of the Gaussian prior of every weight in its natural unit: inputs in units "
        "of their sizes, Ψ in units of the modulus of the data (half of a Gaussian where the sign is fixed)",
    )


class Posterior(eqx.Module):
    """The log density a sampler sees, and the way back from its coordinates to parameters."""

    graph: Graph
    reference: Reference = eqx.field(static=True)
    quadratic: Quadratic
    bijector: Bijector
    prior: Float[Array, "parameters"]

    def log_density(self, u: Float[Array, "parameters"]) -> Float[Array, ""]:
        rows = self.rows(u)
        return -0.5 * jnp.sum(rows**2) + self.bijector.log_jacobian(u)

    def rows(self, u: Float[Array, "parameters"]) -> Float[Array, "rows"]:
        """Standardised residuals of data and prior, whose half sum of squares is the misfit."""
        theta = self.bijector.forward(u)
        slope = slopes(self.graph, self.reference, theta, self.quadratic.inputs)
        return jnp.concatenate([residuals(self.quadratic, slope).ravel(), theta / self.prior])


class Touching(eqx.Module):
    """Gaussian approximation in unconstrained coordinates: where to start and how to scale."""

    centre: Float[Array, "parameters"]
    root: Float[Array, "parameters parameters"]


def build(law: Law, quadratic: Quadratic, sizes: tuple[float, ...], modulus: float, config: Config) -> Posterior:
    """Posterior of the parameters of `law`, each measured in its natural unit (`parameter_units`)."""
    unit = jnp.asarray(parameter_units(law.graph, sizes, modulus))
    bijector = Bijector(jnp.asarray(law.graph.nonnegative), unit)
    return Posterior(law.graph, law.reference, quadratic, bijector, config.deviation * unit)


@eqx.filter_jit
def laplace(posterior: Posterior, theta: Float[Array, "parameters"], steps: int = 20) -> Touching:
    """Laplace approximation at the mode in u, reached from θ by damped Newton steps.

    The curvature is JᵀJ of data and prior (Gauss–Newton), and 1 for every θ = scale · exp(u): there θ' = θ'' = θ, and
    at the mode the slope of the misfit balances that of the Jacobian term, which is 1. Always positive definite.
    """
    bent = jnp.where(posterior.bijector.nonnegative, 1.0, 1e-9)

    def curvature(u: Float[Array, "parameters"]) -> Float[Array, "parameters parameters"]:
        jacobian = jax.jacfwd(posterior.rows)(u)
        return jacobian.T @ jacobian + jnp.diag(bent)

    def step(u: Float[Array, "parameters"], _: None) -> tuple[Float[Array, "parameters"], None]:
        slope = jax.grad(posterior.log_density)(u)
        move = jnp.clip(jnp.linalg.solve(curvature(u), slope), -1, 1)
        lengths = 0.5 ** jnp.arange(6)
        trials = jax.vmap(lambda length: posterior.log_density(u + length * move))(lengths)
        best = jnp.argmax(jnp.where(jnp.isfinite(trials), trials, -jnp.inf))
        better = trials[best] > posterior.log_density(u)
        return jnp.where(better, u + lengths[best] * move, u), None

    centre = jax.lax.scan(step, posterior.bijector.inverse(theta), None, length=steps)[0]
    lower = jnp.linalg.cholesky(curvature(centre))
    return Touching(centre, jax.scipy.linalg.solve_triangular(lower, jnp.eye(theta.size), lower=True).T)
