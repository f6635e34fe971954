"""Residuals as a small quadratic form per datum.

Stress enters only through g = ∇Ψ̂(x), so Σ_c (B_c g − y_c)²/sd_c² = ‖R g − q‖² + r₀² with a
triangular R of the size of x. It is computed once; every optimiser and sampler then works with as
many residuals as inputs, not components.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from steinmetz.records import Observations, spaced

# Data that are compressed at once: more need memory, and are not faster.
_AT_ONCE = 20_000


class Quadratic(NamedTuple):
    """‖factor g − target‖² + constant is the sum of squared standardised residuals of one datum."""

    inputs: Float[Array, "data inputs"]
    factor: Float[Array, "data rows inputs"]
    target: Float[Array, "data rows"]
    constant: Float[Array, ""]

    def spread(self, most: int) -> "Quadratic":
        """As many data at most, evenly spaced; the constant stays that of all."""
        count = len(self.inputs)
        if count <= most:
            return self
        index = spaced(count, most)
        return Quadratic(self.inputs[index], self.factor[index], self.target[index], self.constant)


def compress(observations: Observations, deviation: Float[Array, "data components"]) -> Quadratic:
    """QR of the weighted operator beside the weighted data; masked cells have weight zero."""
    fields = observations.operator, observations.values, observations.observed, deviation
    count = len(observations.inputs)
    parts = [
        _triangles(*(field[first : first + _AT_ONCE] for field in fields))
        for first in range(0, max(count, 1), _AT_ONCE)
    ]
    if len(parts) == 1:
        return Quadratic(observations.inputs, *parts[0])
    factors, targets, constants = zip(*parts, strict=True)
    whole = jnp.concatenate(factors), jnp.concatenate(targets), jnp.sum(jnp.stack(constants))
    return Quadratic(observations.inputs, *whole)


@jax.jit
def _triangles(
    operator: Array, values: Array, observed: Array, deviation: Array
) -> tuple[Array, Array, Array]:
    weight = jnp.where(observed, 1 / deviation, 0.0)
    size = operator.shape[2]
    beside = jnp.concatenate([operator, values[..., None]], axis=-1) * weight[..., None]
    rows = max(0, size + 1 - beside.shape[1])
    triangle = jnp.linalg.qr(jnp.pad(beside, ((0, 0), (0, rows), (0, 0))), mode="r")
    constant = jnp.sum(triangle[:, size, size] ** 2)
    return triangle[:, :size, :size], triangle[:, :size, size], constant


def residuals(
    quadratic: Quadratic, slopes: Float[Array, "data inputs"]
) -> Float[Array, "data rows"]:
    """R g − q for every datum."""
    return jnp.einsum("nri,ni->nr", quadratic.factor, slopes) - quadratic.target


def misfit(quadratic: Quadratic, slopes: Float[Array, "data inputs"]) -> Float[Array, ""]:
    """χ²: the sum of squared standardised residuals over all observed cells."""
    return jnp.sum(residuals(quadratic, slopes) ** 2) + quadratic.constant
