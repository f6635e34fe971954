"""Gent's law with limited chain extension, parameters of the paper."""

import jax.numpy as jnp
from jaxtyping import Array, Float

INPUTS = ("I1", "I2", "J")
PARAMETERS = {"Jm": 77.931, "theta1": 2.4195, "theta2": -0.75, "theta3": 1.20975}


def energy(inputs: Float[Array, "3"], parameters: dict[str, float]) -> Float[Array, ""]:
    """Ψ = −ϑ1/2 Jm log(1 − (I1−3)/Jm) − ϑ2 log(I2/J) + ϑ3 (½(J²−1) − log J).

    As printed the law has stress 2.67·I at F = I (method §9.2); it is normalised like every other
    potential.
    """
    I1, I2, J = inputs
    chain = -parameters["theta1"] / 2 * parameters["Jm"] * jnp.log(1 - (I1 - 3) / parameters["Jm"])
    second = -parameters["theta2"] * jnp.log(I2 / J)
    volumetric = parameters["theta3"] * (0.5 * (J**2 - 1) - jnp.log(J))
    return chain + second + volumetric
