"""Carroll's law for rubber, a I1 + b I1⁴ + c √I2, made compressible."""

import jax.numpy as jnp
from jaxtyping import Array, Float

INPUTS = ("I1", "I2", "J")
# Carroll (2011) for Treloar's rubber, in MPa; κ is ours.
PARAMETERS = {"a": 0.15, "b": 3.1e-7, "c": 0.095, "kappa": 1.0}


def energy(inputs: Float[Array, "3"], parameters: dict[str, float]) -> Float[Array, ""]:
    """Ψ = a I1 + b I1⁴ + c √I2 − n log J + κ/2 (J − 1)², n = 2 ∂Ψ/∂I1 + 4 ∂Ψ/∂I2 at (3, 3)."""
    I1, I2, J = inputs
    a, b, c = parameters["a"], parameters["b"], parameters["c"]
    slope = 2 * (a + 4 * b * 3.0**3) + 4 * c / (2 * jnp.sqrt(3.0))
    volume = 0.5 * parameters["kappa"] * (J - 1) ** 2 - slope * jnp.log(J)
    return a * I1 + b * I1**4 + c * jnp.sqrt(I2) + volume
