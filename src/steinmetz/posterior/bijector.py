"""Sign constraints as a bijector.

θ = scale · exp(u) where θ may not be negative, θ = scale · u elsewhere: every u is admissible, so
samplers need no constraints (method §5).
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool

from steinmetz.shapes import Scalar, Theta

# Weights that are exactly zero start here, inside the domain, in units of their scale: not so far
# out that their logarithm no longer feels the data.
_SMALLEST = 1e-3


class Bijector(eqx.Module):
    """Maps unconstrained u to admissible θ, one number at a time.

    `scale` is the natural unit of every parameter, so that u is a number near one or zero.
    """

    nonnegative: Bool[Array, "parameters"]
    scale: Theta

    def forward(self, u: Theta) -> Theta:
        """θ at u."""
        return self.scale * jnp.where(self.nonnegative, jnp.exp(u), u)

    def inverse(self, theta: Theta, smallest: float = _SMALLEST) -> Theta:
        """u at θ; a θ that is zero where it must be positive is moved inside."""
        ratio = theta / self.scale
        positive = jnp.maximum(ratio, smallest)
        return jnp.where(self.nonnegative, jnp.log(positive), ratio)

    def log_jacobian(self, u: Theta) -> Scalar:
        """log |dθ/du| without the constant part: Σ u over the constrained ones."""
        return jnp.sum(jnp.where(self.nonnegative, u, 0.0))
