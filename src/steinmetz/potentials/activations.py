"""Activations a unit may use: value, SymPy form, and what the certificate may conclude from them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
from jaxtyping import Array, Float


class Activation(NamedTuple):
    """`convex` and `increasing` (non-decreasing) hold on the whole real line; `mirrored` means a(z) − a(−z) = z."""

    value: Callable[[Float[Array, "..."]], Float[Array, "..."]]
    symbolic: Callable[[Any], Any]
    convex: bool
    increasing: bool
    mirrored: bool


def _softplus(z: Any) -> Any:
    import sympy

    return sympy.log(1 + sympy.exp(z))


ACTIVATIONS = {"softplus": Activation(jax.nn.softplus, _softplus, convex=True, increasing=True, mirrored=True)}
