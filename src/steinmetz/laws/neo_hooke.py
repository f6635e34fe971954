"""Compressible neo-Hookean law."""

import jax.numpy as jnp
from jaxtyping import Array, Float

INPUTS = ("I1", "J")
PARAMETERS = {"mu": 1.0, "kappa": 2.0}


def energy(inputs: Float[Array, "2"], parameters: dict[str, float]) -> Float[Array, ""]:
    """Ψ = μ/2 (I1 − 3) − μ log J + κ/2 (J − 1)²."""
    I1, J = inputs
    return (
        parameters["mu"] * (0.5 * (I1 - 3) - jnp.log(J)) + 0.5 * parameters["kappa"] * (J - 1) ** 2
    )
