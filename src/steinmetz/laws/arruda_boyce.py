"""Arruda and Boyce's eight-chain law, five terms of the series, made compressible."""

import jax.numpy as jnp
from jaxtyping import Array, Float

INPUTS = ("I1", "J")
PARAMETERS = {"mu": 1.0, "locking": 2.8, "kappa": 2.0}

# Coefficients of the inverse Langevin function's series (Arruda and Boyce 1993).
_SERIES = (1 / 2, 1 / 20, 11 / 1050, 19 / 7000, 519 / 673750)


def energy(inputs: Float[Array, "2"], parameters: dict[str, float]) -> Float[Array, ""]:
    """Ψ = μ Σ c_i (I1ⁱ − 3ⁱ)/λ_m^(2i−2) − n log J + κ/2 (J − 1)², n = 2 ∂Ψ/∂I1 at I1 = 3."""
    I1, J = inputs
    mu, squared = parameters["mu"], parameters["locking"] ** 2
    powers = enumerate(_SERIES, start=1)
    terms = [(mu * c / squared ** (i - 1), i) for i, c in powers]
    chain = sum((weight * (I1**i - 3.0**i) for weight, i in terms), start=jnp.zeros(()))
    slope = sum(weight * i * 3.0 ** (i - 1) for weight, i in terms)
    return chain - 2 * slope * jnp.log(J) + 0.5 * parameters["kappa"] * (J - 1) ** 2
