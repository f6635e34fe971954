"""Hartmann and Neff's polyconvex law in the isochoric invariants Ī1 and Ī2."""

import jax.numpy as jnp
from jaxtyping import Array, Float

INPUTS = ("I1", "I2", "J")
# Hartmann and Neff (2003) for carbon-black filled rubber, in MPa; κ is ours.
PARAMETERS = {"alpha": 0.00367, "c10": 0.1788, "c01": 0.1958, "kappa": 2.0}


def energy(inputs: Float[Array, "3"], parameters: dict[str, float]) -> Float[Array, ""]:
    """Ψ = α (Ī1³ − 27) + c10 (Ī1 − 3) + c01 (Ī2^(3/2) − 3√3) + κ/50 (J⁵ + J⁻⁵ − 2)."""
    I1, I2, J = inputs
    first, second = J ** (-2 / 3) * I1, J ** (-4 / 3) * I2
    shear = parameters["alpha"] * (first**3 - 27) + parameters["c10"] * (first - 3)
    mixed = parameters["c01"] * (second**1.5 - 3 * jnp.sqrt(3.0))
    psi: Array = shear + mixed + parameters["kappa"] / 50 * (J**5 + J**-5 - 2)
    return psi
