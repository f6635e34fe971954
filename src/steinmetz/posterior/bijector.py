"""Sign constraints as a bijector: θ = scale · exp(u) where θ may not be negative, θ = scale · u elsewhere."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

_SMALLEST = 1e-9


class Bijector(eqx.Module):
    """Maps unconstrained u to admissible θ, one number at a time."""

    nonnegative: Bool[Array, "parameters"]
    scale: Float[Array, "parameters"]

    def forward(self, u: Float[Array, "parameters"]) -> Float[Array, "parameters"]:
        return self.scale * jnp.where(self.nonnegative, jnp.exp(u), u)

    def inverse(self, theta: Float[Array, "parameters"]) -> Float[Array, "parameters"]:
        ratio = theta / self.scale
        positive = jnp.maximum(ratio, _SMALLEST)
        return jnp.where(self.nonnegative, jnp.log(positive), ratio)

    def log_jacobian(self, u: Float[Array, "parameters"]) -> Float[Array, ""]:
        """log |dθ/du| without the constant part: Σ u over the constrained ones."""
        return jnp.sum(jnp.where(self.nonnegative, u, 0.0))
