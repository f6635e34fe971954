"""Push every draw through the law. Two distributions, never mixed (method §6).

*Push-forward*: the model output alone. *Posterior predictive*: the same with the noise of the
likelihood, which is observation noise and the discrepancy the model is allowed.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.data import noise
from steinmetz.potentials.base import normalised_energy, slopes
from steinmetz.potentials.law import Law
from steinmetz.records import StressMap
from steinmetz.shapes import Theta

Pushed = Float[np.ndarray, "draws states components"]
# Draws that are pushed forward at once: more do not go faster, and need memory.
_BATCH = 64


@jax.jit
def _push(law: Law, draws: Array, at: StressMap) -> tuple[Array, Array]:
    def one(theta: Theta) -> tuple[Array, Array]:
        slope = slopes(law.graph, law.reference, theta, at.inputs)
        energy = jax.vmap(lambda x: normalised_energy(law.graph, law.reference, theta, x))(
            at.inputs
        )
        return at.stress(slope), energy

    pushed: tuple[Array, Array] = jax.lax.map(one, draws, batch_size=_BATCH)
    return pushed


def push_forward(
    law: Law, draws: Float[Array, "draws parameters"], at: StressMap
) -> tuple[Pushed, Float[np.ndarray, "draws states"]]:
    """Observed components and energy of every draw at every state."""
    values, energy = _push(law, jnp.asarray(draws), at)
    return np.asarray(values), np.asarray(energy)


def predictive(
    key: Array,
    pushed: Pushed,
    deviations: tuple[Float[Array, "..."], Float[Array, "..."]],
    discrepancy: float,
    factor: Float[np.ndarray, "draws"],
) -> Pushed:
    """One observation per draw, state and component, with the noise of the likelihood.

    `deviations` are the relative and the absolute one, `discrepancy` what the law is allowed
    besides. `factor` is what every draw multiplies the noise with: one, unless it was sampled.
    """
    relative, absolute = deviations
    spread = jnp.sqrt(absolute**2 + discrepancy**2)
    own = jnp.asarray(factor)[:, None, None]
    return np.asarray(noise.draw(key, jnp.asarray(pushed), own * relative, own * spread))
