"""Activations a unit may use, each with what later stages may conclude from it.

An activation brings its value and slope, its SymPy form for the printed law, and the facts that
pruning and the certificate rely on: convexity, growth, mirror symmetry, degree, and what becomes of
it at the ends of its domain.
"""

from collections.abc import Callable
from math import inf, nan
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

if TYPE_CHECKING:
    import sympy

# 2 artanh(t)/t as a polynomial in t², best for t ≤ 1/3 (Chebyshev; error 10⁻¹⁸).
_ARTANH = (
    2.0, 0.6666666666666615, 0.4000000000018575, 0.28571428545454114, 0.22222224080747674,
    0.18181740832504806, 0.1538661404230401, 0.13300374032674625, 0.12110168728069218,
    0.0832450651186082, 0.17044163562781398,
)  # fmt: skip

Values = Float[Array, "..."]
Pair = tuple[Values, Values]


class Activation(NamedTuple):
    """One function a(z) of the weighted sum z of a unit.

    `both` gives a(z) and a'(z) at once; `many` does so for large arrays (None: the same function).
    `symbolic` is a(z) as a SymPy expression. `convex` and `increasing` (non-decreasing) hold on the
    whole `domain`, all real numbers unless given. `mirrored` means a(z) − a(−z) = z. `degree` d
    means a(kz) = kᵈ a(z): such a unit has no scale of its own; it is None for a unit that has one.
    `ends` are the limits of a(z) at the lower and the upper end of the domain, from which the
    certificate concludes whether an energy grows without bound; unknown ones are not a number.
    """

    both: Callable[[Values], Pair]
    symbolic: "Callable[[sympy.Expr], sympy.Expr]"
    convex: bool
    increasing: bool
    mirrored: bool
    degree: int | None
    many: Callable[[Values], Pair] | None = None
    ends: tuple[float, float] = (nan, nan)
    domain: tuple[float, float] = (-inf, inf)

    def value(self, z: Values) -> Values:
        """a(z)."""
        return self.both(z)[0]

    @property
    def everywhere(self) -> bool:
        """Whether every real number may be put in."""
        return self.domain == (-inf, inf)

    def limit(self, z: Float[np.ndarray, "laws"]) -> Float[np.ndarray, "laws"]:
        """a(z) where z may be an end of the domain or infinite; outside it is not a number."""
        (low, high), (first, last) = self.domain, self.ends
        inside = (low < z) & (z < high)
        value = np.asarray(self.value(jnp.asarray(np.where(inside, z, 1.0))))
        return np.select([inside, z == low, z == high], [value, first, last], nan)


def _softplus_by(logarithm: Callable[[Values], Values]) -> Callable[..., Pair]:
    """log(1 + eᶻ) and its slope 1/(1 + e⁻ᶻ) from one exponential, with log(1 + s) by `logarithm`.

    s = e^(−|z|) ≤ 1, so nothing overflows. The derivative of the pair is written out: automatic
    differentiation through |z| would give a curvature of zero at z = 0, where it is 1/4.
    """

    @jax.custom_jvp
    def softplus(z: Values) -> Pair:
        small = jnp.exp(-jnp.abs(z))
        return jnp.maximum(z, 0) + logarithm(small), jnp.where(z >= 0, 1, small) / (1 + small)

    @softplus.defjvp
    def _(primals: tuple[Values], tangents: tuple[Values]) -> tuple[Pair, Pair]:
        value, slope = softplus(*primals)
        return (value, slope), (slope * tangents[0], slope * (1 - slope) * tangents[0])

    return softplus


def _log_one_plus(small: Values) -> Values:
    """log(1 + s) = 2 artanh t with t = s/(2 + s), for 0 ≤ s ≤ 1, to the last digit.

    Several times as fast as log1p: a polynomial is sums and products, which a processor does for
    many numbers at a time; a library's logarithm is not. It takes longer to compile.
    """
    t = small / (2 + small)
    square = t * t
    series = jnp.full_like(t, _ARTANH[-1])
    for coefficient in _ARTANH[-2::-1]:
        series = series * square + coefficient
    return t * series


def _log_form(z: "sympy.Expr") -> "sympy.Expr":
    """Softplus as people write it."""
    import sympy

    return sympy.log(1 + sympy.exp(z))


def _barrier_form(z: "sympy.Expr") -> "sympy.Expr":
    """The logarithm with its sign."""
    import sympy

    return -sympy.log(z)


_SOFTPLUS = Activation(
    both=_softplus_by(jnp.log1p),
    symbolic=_log_form,
    convex=True,
    increasing=True,
    mirrored=True,
    degree=None,
    many=_softplus_by(_log_one_plus),
    ends=(0.0, inf),
)
_SQUARE = Activation(
    lambda z: (z * z, 2 * z), lambda z: z**2, True, False, False, 2, ends=(inf, inf)
)
_IDENTITY = Activation(
    lambda z: (z, jnp.ones_like(z)), lambda z: z, True, True, False, 1, ends=(-inf, inf)
)
# −log z of a positive z, such as J: infinite where the volume vanishes.
_BARRIER = Activation(
    both=lambda z: (-jnp.log(z), -1 / z),
    symbolic=_barrier_form,
    convex=True,
    increasing=False,
    mirrored=False,
    degree=None,
    ends=(inf, -inf),
    domain=(0.0, inf),
)

# Every activation by its name; a new one is a new entry here.
ACTIVATIONS = {"softplus": _SOFTPLUS, "square": _SQUARE, "identity": _IDENTITY, "neglog": _BARRIER}
