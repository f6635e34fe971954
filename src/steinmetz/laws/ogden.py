"""Ogden's law in principal stretches, three terms, made compressible."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from steinmetz.materials.principal import power_sum

INPUTS = ("I1", "I2", "J")
# Ogden (1972) for Treloar's rubber, in MPa; κ is ours.
_TERMS = {"1": (0.63, 1.3), "2": (0.0012, 5.0), "3": (-0.01, -2.0)}
PARAMETERS = {
    **{f"mu{term}": mu for term, (mu, _) in _TERMS.items()},
    **{f"alpha{term}": alpha for term, (_, alpha) in _TERMS.items()},
    "kappa": 1.0,
}


def energy(inputs: Float[Array, "3"], parameters: dict[str, float]) -> Float[Array, ""]:
    """Ψ = Σ μ_p/α_p (λ1^α_p + λ2^α_p + λ3^α_p − 3) − Σ μ_p log J + κ/2 (J − 1)²."""
    I1, I2, J = inputs
    total = 0.5 * parameters["kappa"] * (J - 1) ** 2
    for term in ("1", "2", "3"):
        mu, alpha = parameters[f"mu{term}"], parameters[f"alpha{term}"]
        total += mu / alpha * (power_sum(jnp, alpha / 2, (I1, I2, J)) - 3) - mu * jnp.log(J)
    return total
