"""Fung's exponential in the isochoric invariant Ī1 = J^(−2/3) I1, with a volumetric part."""

import jax.numpy as jnp
from jaxtyping import Array, Float

INPUTS = ("I1", "J")
PARAMETERS = {"mu": 1.0, "b": 2.0, "kappa": 2.0}


def energy(inputs: Float[Array, "2"], parameters: dict[str, float]) -> Float[Array, ""]:
    """Ψ = μ/(2b) (exp(b (Ī1 − 3)) − 1) + κ/2 (J − 1)²."""
    I1, J = inputs
    mu, b = parameters["mu"], parameters["b"]
    isochoric = mu / (2 * b) * jnp.expm1(b * (J ** (-2 / 3) * I1 - 3))
    psi: Array = isochoric + 0.5 * parameters["kappa"] * (J - 1) ** 2
    return psi
