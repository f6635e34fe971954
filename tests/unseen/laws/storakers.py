"""Storåkers's law for highly compressible foam, two terms in principal stretches."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from steinmetz.materials.principal import power_sum

INPUTS = ("I1", "I2", "J")
PARAMETERS = {"mu1": 1.0, "alpha1": 4.5, "mu2": 0.3, "alpha2": -4.5, "beta": 0.92}


def energy(inputs: Float[Array, "3"], parameters: dict[str, float]) -> Float[Array, ""]:
    """Ψ = Σ 2μ_p/α_p² (λ1^α_p + λ2^α_p + λ3^α_p − 3 + (J^(−α_p β) − 1)/β)."""
    (I1, I2, J), beta = inputs, parameters["beta"]
    total: Array = 0.0 * J
    for term in ("1", "2"):
        mu, alpha = parameters[f"mu{term}"], parameters[f"alpha{term}"]
        volume = (J ** (-alpha * beta) - 1) / beta
        total += 2 * mu / alpha**2 * (power_sum(jnp, alpha / 2, (I1, I2, J)) - 3 + volume)
    return total
