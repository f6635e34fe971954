"""Activations a unit may use: value, slope, SymPy form, and what pruning and the certificate may conclude from them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

# Powers of t² in the series of the logarithm.
_POWERS = 17

Pair = tuple[Float[Array, "..."], Float[Array, "..."]]


class Activation(NamedTuple):
    """`both` gives a(z) and a'(z) at once. `convex` and `increasing` (non-decreasing) hold on the whole real line.

    `mirrored` means a(z) − a(−z) = z. `degree` d means a(kz) = kᵈ a(z): such a unit has no scale of its own. Without
    one it is None.
    """

    both: Callable[[Float[Array, "..."]], Pair]
    symbolic: Callable[[Any], Any]
    convex: bool
    increasing: bool
    mirrored: bool
    degree: int | None

    def value(self, z: Float[Array, "..."]) -> Float[Array, "..."]:
        return self.both(z)[0]


@jax.custom_jvp
def _softplus(z: Float[Array, "..."]) -> Pair:
    """log(1 + eᶻ) and its slope 1/(1 + e⁻ᶻ) from one exponential."""
    small = jnp.exp(-jnp.abs(z))
    inverse = 1 / (1 + small)
    return jnp.maximum(z, 0) + _log_one_plus(small), jnp.where(z >= 0, inverse, small * inverse)


def _log_one_plus(small: Float[Array, "..."]) -> Float[Array, "..."]:
    """log(1 + s) = 2 artanh(s/(2 + s)) for 0 ≤ s ≤ 1, by its series: to the last digits, and 4 times as fast as log1p.

    The argument t is at most 1/3, so 17 powers of t² leave 10⁻¹⁸. Sums and products are done many at a time on every
    processor, which the logarithm is not.
    """
    t = small / (2 + small)
    square = t * t
    series = jnp.full_like(t, 1 / (2 * _POWERS + 1))
    for power in range(_POWERS - 1, -1, -1):
        series = series * square + 1 / (2 * power + 1)
    return 2 * t * series


@_softplus.defjvp
def _softplus_jvp(primals: tuple, tangents: tuple) -> tuple[Pair, Pair]:
    value, slope = _softplus(*primals)
    return (value, slope), (slope * tangents[0], slope * (1 - slope) * tangents[0])


def _log_form(z: Any) -> Any:
    import sympy

    return sympy.log(1 + sympy.exp(z))


ACTIVATIONS = {
    "softplus": Activation(_softplus, _log_form, convex=True, increasing=True, mirrored=True, degree=None),
    "square": Activation(
        lambda z: (z * z, 2 * z), lambda z: z**2, convex=True, increasing=False, mirrored=False, degree=2
    ),
    "identity": Activation(
        lambda z: (z, jnp.ones_like(z)), lambda z: z, convex=True, increasing=True, mirrored=False, degree=1
    ),
}
