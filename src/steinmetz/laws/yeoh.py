"""Yeoh's law, a cubic in I1, made compressible."""

import jax.numpy as jnp
from jaxtyping import Array, Float

INPUTS = ("I1", "J")
PARAMETERS = {"c1": 0.5, "c2": 0.02, "c3": 0.002, "kappa": 2.0}


def energy(inputs: Float[Array, "2"], parameters: dict[str, float]) -> Float[Array, ""]:
    """Ψ = c1 (I1 − 3) + c2 (I1 − 3)² + c3 (I1 − 3)³ − 2 c1 log J + κ/2 (J − 1)²."""
    I1, J = inputs
    c1, c2, c3 = parameters["c1"], parameters["c2"], parameters["c3"]
    chain = c1 * (I1 - 3) + c2 * (I1 - 3) ** 2 + c3 * (I1 - 3) ** 3
    return chain - 2 * c1 * jnp.log(J) + 0.5 * parameters["kappa"] * (J - 1) ** 2
