"""Weights of particles on the way from one density to another: how far to go, and who goes on."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from steinmetz.shapes import Count, PerParticle, Scalar

# The smallest change of β is exp of this, found by so many halvings.
_LEAST, _HALVINGS = -80.0, 60
# Log likelihood of a draw of the prior at which it is not a number: it is replaced first.
NOTHING = -1e290

# Which particles go on.
Chosen = Int[Array, "particles"]


def drawn(key: Array, log_weight: PerParticle) -> tuple[Chosen, Scalar]:
    """Numbers of as many particles, drawn by their weights at even distances; log mean weight."""
    top = jnp.maximum(jnp.max(log_weight), NOTHING)
    weight, count = jnp.exp(log_weight - top), len(log_weight)
    total = jnp.maximum(jnp.sum(weight), 1e-300)
    place = (jax.random.uniform(key) + jnp.arange(count)) / count
    numbers = jnp.searchsorted(jnp.cumsum(weight) / total, place, side="right")
    return jnp.minimum(numbers, count - 1), top + jnp.log(total / count)


def change(gain: PerParticle, left: Scalar, effective: Scalar) -> Scalar:
    """The largest change of β, up to all that is left, with so many effective particles.

    Of weights w these are (Σ w)²/Σ w²; the change is found by halving its logarithm.
    """
    above = gain - jnp.max(gain)

    def enough(step: Scalar) -> Array:
        weight = jnp.exp(step * above)
        return jnp.sum(weight) ** 2 >= effective * jnp.sum(weight**2)

    def half(_: Count, ends: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        low, high = ends
        middle = (low + high) / 2
        good = enough(jnp.exp(middle))
        return jnp.where(good, middle, low), jnp.where(good, high, middle)

    top = jnp.log(jnp.maximum(left, np.exp(_LEAST)))
    low, _ = jax.lax.fori_loop(0, _HALVINGS, half, (jnp.full_like(top, _LEAST), top))
    whole = enough(left) | (left <= 0)
    largest: Scalar = jnp.where(whole, jnp.maximum(left, 0.0), jnp.exp(low))
    return largest
