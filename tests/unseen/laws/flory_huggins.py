"""Flory and Huggins's energy of mixing with swelling of a linear elastic solid.

The logarithms are infinite at c = 0 and c = 1, where data and path may be, so they see the share
s = δ + (1 − 2δ) c of occupied sites: δ = 0.01 keeps one site in a hundred out of reach.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

INPUTS = ("e1", "e2", "e6", "c")
PARAMETERS = {
    "thermal": 1.0,
    "chi": 2.5,
    "bulk": 20.0,
    "shear": 10.0,
    "swelling": 0.1,
    "unreached": 0.01,
}


def energy(inputs: Float[Array, "4"], parameters: dict[str, float]) -> Float[Array, ""]:
    """Ψ = T (s ln s + (1−s) ln(1−s) + χ s (1−s)) + K/2 (e1 − β c)² + G (e2² + e6²)."""
    e1, e2, e6, c = inputs
    share = parameters["unreached"] + (1 - 2 * parameters["unreached"]) * c
    entropy = share * jnp.log(share) + (1 - share) * jnp.log1p(-share)
    mixing = parameters["thermal"] * (entropy + parameters["chi"] * share * (1 - share))
    swollen = 0.5 * parameters["bulk"] * (e1 - parameters["swelling"] * c) ** 2
    psi: Array = mixing + swollen + parameters["shear"] * (e2**2 + e6**2)
    return psi
