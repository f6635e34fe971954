"""How likely each datum is under each draw, for densities of data that are left out (method §6)."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.potentials.base import slopes
from steinmetz.potentials.law import Law
from steinmetz.records import Observations

# Draws that are judged at once, as in a push-forward.
_BATCH = 64


def log_likelihood(
    law: Law,
    draws: Float[np.ndarray, "draws parameters"],
    factor: Float[np.ndarray, "draws"],
    observations: Observations,
    deviation: Float[Array, "data components"],
) -> Float[np.ndarray, "draws data"]:
    """log N(y; ŷ, s² sd²) summed over the observed components of a datum, for every draw.

    `factor` is s, what every draw multiplies the deviation with.
    """
    pairs = jnp.asarray(draws), jnp.asarray(factor)
    return np.asarray(_each(law, pairs, observations[1:-1], deviation))


@jax.jit
def _each(
    law: Law, pairs: tuple[Array, Array], fields: tuple[Array, ...], deviation: Array
) -> Array:
    inputs, operator, values, observed, *_ = fields

    def one(pair: tuple[Array, Array]) -> Array:
        theta, factor = pair
        slope = slopes(law.graph, law.reference, theta, inputs)
        spread = jnp.where(observed, factor * deviation, 1.0)
        r = (jnp.einsum("nci,ni->nc", operator, slope) - values) / spread
        cell = -0.5 * (r**2 + jnp.log(2 * jnp.pi)) - jnp.log(spread)
        return jnp.sum(jnp.where(observed, cell, 0.0), axis=1)

    found: Array = jax.lax.map(one, pairs, batch_size=_BATCH)
    return found
