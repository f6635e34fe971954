"""Blatz and Ko's law for foamed polyurethane, a function of I2/J² and J."""

from jaxtyping import Array, Float

INPUTS = ("I2", "J")
PARAMETERS = {"mu": 1.0}


def energy(inputs: Float[Array, "2"], parameters: dict[str, float]) -> Float[Array, ""]:
    """Ψ = μ/2 (I2/J² + 2J − 5)."""
    I2, J = inputs
    psi: Array = 0.5 * parameters["mu"] * (I2 / J**2 + 2 * J - 5)
    return psi
