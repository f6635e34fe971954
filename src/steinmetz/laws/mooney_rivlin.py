"""Compressible Mooney–Rivlin law."""

import jax.numpy as jnp
from jaxtyping import Array, Float

INPUTS = ("I1", "I2", "J")
PARAMETERS = {"c1": 0.5, "c2": 0.2, "kappa": 2.0}


def energy(inputs: Float[Array, "3"], parameters: dict[str, float]) -> Float[Array, ""]:
    """Ψ = c1 (I1 − 3) + c2 (I2 − 3) − 2(c1 + 2c2) log J + κ/2 (J − 1)²."""
    I1, I2, J = inputs
    c1, c2 = parameters["c1"], parameters["c2"]
    shear = c1 * (I1 - 3) + c2 * (I2 - 3) - 2 * (c1 + 2 * c2) * jnp.log(J)
    return shear + 0.5 * parameters["kappa"] * (J - 1) ** 2
