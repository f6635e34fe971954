"""Lopez-Pamies's law, two powers of I1, made compressible; the smaller power is concave in I1."""

import jax.numpy as jnp
from jaxtyping import Array, Float

INPUTS = ("I1", "J")
PARAMETERS = {"mu1": 0.03, "alpha1": 3.8, "mu2": 0.24, "alpha2": 0.56, "kappa": 1.0}


def energy(inputs: Float[Array, "2"], parameters: dict[str, float]) -> Float[Array, ""]:
    """Ψ = Σ μ_p 3^(1−α_p)/(2α_p) (I1^α_p − 3^α_p) − Σ μ_p log J + κ/2 (J − 1)²."""
    I1, J = inputs
    total: Array = 0.5 * parameters["kappa"] * (J - 1) ** 2
    for term in ("1", "2"):
        mu, alpha = parameters[f"mu{term}"], parameters[f"alpha{term}"]
        chain = 3.0 ** (1 - alpha) / (2 * alpha) * (I1**alpha - 3.0**alpha)
        total += mu * (chain - jnp.log(J))
    return total
