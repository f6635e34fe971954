"""Activations a unit may use: value, slope, SymPy form, and what pruning and the certificate may conclude from them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

# 2 artanh(t)/t as a polynomial in t², best for t ≤ 1/3 (Chebyshev; error 10⁻¹⁸).
_ARTANH = (
    2.0, 0.6666666666666615, 0.4000000000018575, 0.28571428545454114, 0.22222224080747674, 0.18181740832504806,
    0.1538661404230401, 0.13300374032674625, 0.12110168728069218, 0.0832450651186082, 0.17044163562781398,
)  # fmt: skip

Pair = tuple[Float[Array, "..."], Float[Array, "..."]]


class Activation(NamedTuple):
    """`both` gives a(z) and its slope at once; `many` does so for large arrays (None: the same).

    `convex` and `increasing` (non-decreasing) hold on the whole real line.

    `mirrored` means a(z) − a(−z) = z. `degree` d means a(kz) = kᵈ a(z): such a unit has no scale of its own. Without
    one it is None.
    """

    both: Callable[[Float[Array, "..."]], Pair]
    symbolic: Callable[[Any], Any]
    convex: bool
    increasing: bool
    mirrored: bool
    degree: int | None
    many: Callable[[Float[Array, "..."]], Pair] | None = None

    def value(self, z: Float[Array, "..."]) -> Float[Array, "..."]:
        return self.both(z)[0]


def _softplus_by(
    logarithm: Callable[[Float[Array, "..."]], Float[Array, "..."]],
) -> Callable[..., Pair]:
    """log(1 + eᶻ) and its slope 1/(1 + e⁻ᶻ) from one exponential, with log(1 + s) by `logarithm`."""

    @jax.custom_jvp
    def softplus(z: Float[Array, "..."]) -> Pair:
        small = jnp.exp(-jnp.abs(z))
        return jnp.maximum(z, 0) + logarithm(small), jnp.where(z >= 0, 1, small) / (1 + small)

    @softplus.defjvp
    def _(primals: tuple, tangents: tuple) -> tuple[Pair, Pair]:
        value, slope = softplus(*primals)
        return (value, slope), (slope * tangents[0], slope * (1 - slope) * tangents[0])

    return softplus


def _log_one_plus(small: Float[Array, "..."]) -> Float[Array, "..."]:
    """log(1 + s) = 2 artanh t with t = s/(2 + s), for 0 ≤ s ≤ 1: to the last digit, and several times as fast as log1p.

    A polynomial is sums and products, which a processor does for many numbers at a time; a library's logarithm is not.
    It takes longer to compile.
    """
    t = small / (2 + small)
    square = t * t
    series = jnp.full_like(t, _ARTANH[-1])
    for coefficient in _ARTANH[-2::-1]:
        series = series * square + coefficient
    return t * series


def _log_form(z: Any) -> Any:
    import sympy

    return sympy.log(1 + sympy.exp(z))


ACTIVATIONS = {
    "softplus": Activation(
        _softplus_by(jnp.log1p),
        _log_form,
        convex=True,
        increasing=True,
        mirrored=True,
        degree=None,
        many=_softplus_by(_log_one_plus),
    ),
    "square": Activation(
        lambda z: (z * z, 2 * z),
        lambda z: z**2,
        convex=True,
        increasing=False,
        mirrored=False,
        degree=2,
    ),
    "identity": Activation(
        lambda z: (z, jnp.ones_like(z)),
        lambda z: z,
        convex=True,
        increasing=True,
        mirrored=False,
        degree=1,
    ),
}
