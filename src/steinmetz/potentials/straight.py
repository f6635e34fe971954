"""What a law that is linear in its parameters is to a sampler: Ψ = Σ θ_i x_i."""

import equinox as eqx
import jax.numpy as jnp

from steinmetz.potentials.base import Potential
from steinmetz.shapes import Inputs, Points, Scalar, Theta


class Straight(Potential):
    """As many inputs as parameters; its slopes are the parameters themselves.

    With the residuals of all data compressed to one triangle in θ, a step of a sampler costs the
    same however many data there are, and no term is compiled.
    """

    inputs: tuple[str, ...] = eqx.field(static=True)
    nonnegative: tuple[bool, ...] = eqx.field(static=True)

    def energy(self, theta: Theta, x: Inputs) -> Scalar:
        """Σ θ_i x_i."""
        return theta @ x

    def gradients(self, theta: Theta, x: Points) -> Points:
        """θ at every x."""
        return jnp.broadcast_to(theta, x.shape)
