"""Phase-changing solid with wells in strain and concentration (Rudraraju et al. 2016).

Parameters are those of the paper.
"""

from jaxtyping import Array, Float

INPUTS = ("e1", "e2", "e6", "c")
PARAMETERS = {"d_c": 2.0, "d_e": 0.1, "s_e": 0.1}


def energy(inputs: Float[Array, "4"], parameters: dict[str, float]) -> Float[Array, ""]:
    """Ψ = 16 d_c (c⁴ − 2c³ + c²) + (2d_e/s_e²)(e1² + e6²) + (d_e/s_e⁴) e2⁴ +.

    2c − 1(2d_e/s_e²) e2².
    """
    e1, e2, e6, c = inputs
    stiffness = 2 * parameters["d_e"] / parameters["s_e"] ** 2
    quartic = parameters["d_e"] / parameters["s_e"] ** 4
    chemical = 16 * parameters["d_c"] * (c**4 - 2 * c**3 + c**2)
    return (
        chemical + stiffness * (e1**2 + e6**2) + quartic * e2**4 + (2 * c - 1) * stiffness * e2**2
    )
