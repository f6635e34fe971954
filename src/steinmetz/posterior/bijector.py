"""Sign constraints as a bijector.

θ = scale · r(u) where θ may not be negative, with the ramp r(u) = ∫ Φ = u Φ(u) + φ(u), and θ =
scale · u elsewhere: every u is admissible, so samplers need no constraints (method §5).

To the right r is u, to the left it falls as φ(u)/u² does. So half of a normal density whose
deviation is the scale is nearly a normal one in u, tails included: a weight that data leave alone,
or hold near zero, looks round to a sampler.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from steinmetz.shapes import Scalar, Theta

# Weights that are exactly zero start here, inside the domain, in units of their scale.
_SMALLEST = 1e-3
# Newton steps that invert the ramp: enough for any positive number of double precision.
_STEPS = 12
_ROOT = math.sqrt(2 * math.pi)
# Below this Φ is hardly a number any more, and φ/Φ there.
_DEEP, _STEEP = -37.0, 37.02698759

Numbers = Float[Array, "*shape"]


def share(u: Numbers) -> Numbers:
    """Φ(u), the normal distribution function: exact to rounding in the lower tail, too.

    One function for both tails: `ndtr` evaluates two and takes five times as long.
    """
    return 0.5 * jax.lax.erfc(-u / math.sqrt(2))


def density(u: Numbers) -> Numbers:
    """φ(u), the normal density."""
    return jnp.exp(-0.5 * u**2) / _ROOT


@jax.custom_jvp
def log_share(u: Numbers) -> Numbers:
    """log Φ(u); below −37 the parabola that touches it, whose curvature is 1 as there."""
    beyond = jnp.minimum(u - _DEEP, 0.0)
    return jnp.log(share(jnp.maximum(u, _DEEP))) + (_STEEP - 0.5 * beyond) * beyond


@jax.custom_jvp
def hazard(u: Numbers) -> Numbers:
    """φ(u)/Φ(u), the slope of log Φ: nearly −u far below zero."""
    inside = jnp.maximum(u, _DEEP)
    return density(inside) / share(inside) - jnp.minimum(u - _DEEP, 0.0)


@hazard.defjvp
def _hazard_and_change(at: tuple[Numbers], change: tuple[Numbers]) -> tuple[Numbers, Numbers]:
    rate = hazard(at[0])
    bent = jnp.where(at[0] > _DEEP, rate * (at[0] + rate), 1.0)
    return rate, -bent * change[0]


@log_share.defjvp
def _log_share_and_change(at: tuple[Numbers], change: tuple[Numbers]) -> tuple[Numbers, Numbers]:
    return log_share(at[0]), hazard(at[0]) * change[0]


@jax.custom_jvp
def ramp(u: Numbers) -> Numbers:
    """r(u) = u Φ(u) + φ(u): positive and convex, with slope Φ(u)."""
    return u * share(u) + density(u)


@ramp.defjvp
def _ramp_and_change(at: tuple[Numbers], change: tuple[Numbers]) -> tuple[Numbers, Numbers]:
    return ramp(at[0]), share(at[0]) * change[0]


def inverse_ramp(value: Numbers) -> Numbers:
    """u at r(u), by Newton's method for log r, which is concave."""
    far = -jnp.sqrt(jnp.maximum(-2 * jnp.log(_ROOT * jnp.minimum(value, 1.0)), 0.0))

    def closer(u: Numbers, _: None) -> tuple[Numbers, None]:
        reached = ramp(u)
        return u + jnp.log(value / reached) * reached / share(u), None

    start: Numbers = jnp.where(value > 1, value, far)
    return jax.lax.scan(closer, start, None, length=_STEPS)[0]


class Bijector(eqx.Module):
    """Maps unconstrained u to admissible θ, one number at a time.

    `scale` is the deviation of the prior where the sign is fixed, and the natural unit elsewhere,
    so that u is a number near one or zero.
    """

    nonnegative: Bool[Array, "parameters"]
    scale: Theta

    def forward(self, u: Float[Array, "*some parameters"]) -> Float[Array, "*some parameters"]:
        """θ at u."""
        return self.scale * jnp.where(self.nonnegative, ramp(u), u)

    def inverse(self, theta: Theta, smallest: float = _SMALLEST) -> Theta:
        """u at θ; a θ that is zero where it must be positive is moved inside."""
        ratio = theta / self.scale
        positive = jnp.maximum(ratio, smallest)
        return jnp.where(self.nonnegative, inverse_ramp(positive), ratio)

    def rate(self, u: Float[Array, "*some parameters"]) -> Float[Array, "*some parameters"]:
        """dθ/du."""
        return self.scale * jnp.where(self.nonnegative, share(u), 1.0)

    def log_jacobian(self, u: Theta) -> Scalar:
        """log |dθ/du| without the constant part: Σ log Φ(u) over the constrained ones."""
        return jnp.sum(jnp.where(self.nonnegative, log_share(u), 0.0))

    def log_jacobian_slope(
        self, u: Float[Array, "*some parameters"]
    ) -> Float[Array, "*some parameters"]:
        """Slope of `log_jacobian`: φ(u)/Φ(u) for the constrained ones."""
        return jnp.where(self.nonnegative, hazard(u), 0.0)
