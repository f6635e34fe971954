"""Simo and Pister's neo-Hookean law, with the square of log J for the volume."""

import jax.numpy as jnp
from jaxtyping import Array, Float

INPUTS = ("I1", "J")
PARAMETERS = {"mu": 1.0, "lame": 2.0}


def energy(inputs: Float[Array, "2"], parameters: dict[str, float]) -> Float[Array, ""]:
    """Ψ = μ/2 (I1 − 3) − μ log J + λ/2 (log J)²."""
    I1, J = inputs
    volume = 0.5 * parameters["lame"] * jnp.log(J) ** 2
    psi: Array = parameters["mu"] * (0.5 * (I1 - 3) - jnp.log(J)) + volume
    return psi
