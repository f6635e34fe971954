"""How likely each datum is under each draw, for densities of data that are left out (method §6)."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import t
from jaxtyping import Array, Float

from steinmetz.data import student
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
    tails: bool = False,
) -> Float[np.ndarray, "draws data"]:
    """log N(y; ŷ, s² sd²) summed over the observed components of a datum, for every draw.

    `factor` is s, what every draw multiplies the deviation with. With `tails`, errors are those of
    Student's t with the same scale.
    """
    pairs = jnp.asarray(draws), jnp.asarray(factor)
    return np.asarray(_each(law, pairs, observations[1:-1], deviation, tails))


@partial(jax.jit, static_argnames="tails")
def _each(
    law: Law, pairs: tuple[Array, Array], fields: tuple[Array, ...], deviation: Array, tails: bool
) -> Array:
    inputs, operator, values, observed, *_ = fields

    def one(pair: tuple[Array, Array]) -> Array:
        theta, factor = pair
        slope = slopes(law.graph, law.reference, theta, inputs)
        spread = jnp.where(observed, factor * deviation, 1.0)
        r = (jnp.einsum("nci,ni->nc", operator, slope) - values) / spread
        if tails:
            cell = t.logpdf(r, student.DEGREES) - jnp.log(spread)
        else:
            cell = -0.5 * (r**2 + jnp.log(2 * jnp.pi)) - jnp.log(spread)
        return jnp.sum(jnp.where(observed, cell, 0.0), axis=1)

    found: Array = jax.lax.map(one, pairs, batch_size=_BATCH)
    return found
