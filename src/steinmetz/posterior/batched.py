"""Log posterior and slope of many particles at once, as products of matrices over all data.

The same numbers as `value_and_grad` of `Posterior.log_density` particle by particle, several times
as fast.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from steinmetz.data.quadratic import Quadratic
from steinmetz.posterior.density import Posterior
from steinmetz.potentials.batched import Stack, gradients
from steinmetz.shapes import Particles, PerParticle

# Numbers in an array of particles × units × data; above, particles are taken in blocks that stay
# near the processor.
_BLOCK = 100_000
# Numbers that a processor handles at once.
_REGISTER = 8

# Values of the log posterior and its slopes.
Pair = tuple[PerParticle, Particles]
# (particles, data, share): the sum over data is taken `share` times.
ValuesAndSlopes = Callable[[Particles, Quadratic, float], Pair]


def values_and_slopes_of(posterior: Posterior) -> ValuesAndSlopes | None:
    """log π and its slope for many particles; None where the potential has no layers of units."""
    stack = posterior.potential.stack()
    if stack is None:
        return None
    units = max(1, sum(layer.rows for layer in stack.layers[:-1]))

    def values_and_slopes(particles: Particles, data: Quadratic, share: float) -> Pair:
        block = max(1, _BLOCK // (units * (len(data.inputs) + 1)))

        def together(some: Particles) -> Pair:
            return _values_and_slopes(posterior, stack, some, data, share)

        if len(particles) <= block:
            return together(particles)
        return _in_blocks(together, particles, block)

    return values_and_slopes


def _in_blocks(function: Callable[[Particles], Pair], particles: Particles, block: int) -> Pair:
    """The function of all particles, worked through in equal blocks.

    The last particle fills up the last block.
    """
    count = len(particles)
    blocks = -(-count // block)
    size = -(-count // blocks)
    index = np.minimum(np.arange(blocks * size), count - 1)
    value, slope = jax.lax.map(function, particles[index].reshape(blocks, size, -1))
    return value.ravel()[:count], slope.reshape(blocks * size, -1)[:count]


def _values_and_slopes(
    posterior: Posterior, stack: Stack, particles: Particles, data: Quadratic, share: float
) -> Pair:
    """log π as in `Posterior.log_density`, with the slope of every term written out."""
    bijector, likelihood = posterior.bijector, posterior.likelihood
    u = particles[:, : posterior.potential.size]
    theta = bijector.forward(u)
    log_factor = particles[:, -1] if likelihood.unknown_noise else jnp.zeros(len(u), u.dtype)
    squares, slope = _misfit(posterior, stack, theta, data)
    misfit = share * squares + likelihood.quadratic.constant
    weight = jnp.exp(-2 * log_factor) / posterior.temperature
    cells = likelihood.cells / posterior.temperature
    scaled = theta / posterior.prior
    value = -0.5 * misfit * weight - cells * log_factor
    value = value - 0.5 * jnp.sum(scaled**2, axis=1) - 0.5 * log_factor**2
    value = value + jax.vmap(bijector.log_jacobian)(u)
    in_theta = -share * weight[:, None] * slope - scaled / posterior.prior
    in_u = in_theta * bijector.rate(u) + bijector.log_jacobian_slope(u)
    if likelihood.unknown_noise:
        in_u = jnp.append(in_u, (misfit * weight - cells - log_factor)[:, None], axis=1)
    return value, in_u


def _misfit(
    posterior: Posterior, stack: Stack, theta: Particles, data: Quadratic
) -> tuple[Array, Array]:
    """Σ ‖R g − q‖² with g = ∇Ψ − n d, n = v·∇Ψ(x₀), and half its slope in θ."""
    reference = posterior.reference
    point = np.asarray(reference.point)
    # the reference fills up whole registers: a loop's rest is done one number at a time
    spare = -(len(data.inputs) + 1) % _REGISTER
    x = jnp.concatenate([data.inputs, np.tile(point, (1 + spare, 1))]).T
    slopes, pull = gradients(stack, theta, x)
    known = len(data.inputs)
    g = slopes[:, :, :known] - reference.removed(slopes[:, :, known])[:, :, None]
    factor = data.factor.transpose(1, 2, 0)  # rows × inputs × data
    inputs = range(len(point))
    residual = sum((factor[:, i] * g[:, i, None] for i in inputs), start=-data.target.T)
    zero = jnp.zeros((), theta.dtype)
    a = sum((factor[row] * residual[:, row, None] for row in inputs), start=zero)
    at_reference = reference.returned(jnp.sum(a, axis=2))
    rest = jnp.zeros((*at_reference.shape, spare), theta.dtype)
    along = jnp.concatenate([a, at_reference[:, :, None], rest], axis=2)
    return jnp.sum(residual**2, axis=(1, 2)), pull(along)
