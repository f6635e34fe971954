"""Push every particle through the law. Two distributions, never mixed (method §6).

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


def components(law: Law, at: StressMap) -> Float[Array, "states components"]:
    """ŷ = B ∇Ψ̂ of one law."""
    return at.stress(law.slopes(at.inputs))


@jax.jit
def _push(law: Law, particles: Array, at: StressMap) -> tuple[Array, Array]:
    def one(theta: Float[Array, "parameters"]) -> tuple[Array, Array]:
        slope = slopes(law.graph, law.reference, theta, at.inputs)
        energy = jax.vmap(lambda x: normalised_energy(law.graph, law.reference, theta, x))(
            at.inputs
        )
        return at.stress(slope), energy

    return jax.lax.map(one, particles, batch_size=64)


def push_forward(
    law: Law, particles: Float[Array, "particles parameters"], at: StressMap
) -> tuple[Float[np.ndarray, "particles states components"], Float[np.ndarray, "particles states"]]:
    """Observed components and energy of every particle at every state."""
    values, energy = _push(law, jnp.asarray(particles), at)
    return np.asarray(values), np.asarray(energy)


def predictive(
    key: Array,
    pushed: Float[np.ndarray, "particles states components"],
    relative: Float[Array, "..."],
    absolute: Float[Array, "..."],
    discrepancy: float,
    factor: Float[np.ndarray, "particles"],
) -> Float[np.ndarray, "particles states components"]:
    """One observation per particle, state and component, with the noise of the likelihood: its floor included.

    `factor` is what every particle multiplies the noise with: one, unless it was sampled.
    """
    spread = jnp.sqrt(absolute**2 + discrepancy**2)
    own = jnp.asarray(factor)[:, None, None]
    return np.asarray(noise.draw(key, jnp.asarray(pushed), own * relative, own * spread))
