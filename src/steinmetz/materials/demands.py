"""What a material is examined for beside convexity: moduli, energy, limits, ellipticity.

A material says where to look, in states of its own; the certificate looks there and knows nothing
of mechanics. All fields are optional: what is not declared is not demanded.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float


class Modulus(NamedTuple):
    """A stiffness at the reference that must be positive.

    It is the second derivative of Ψ̂ along a line of states through the undeformed one, over
    `divisor`.
    """

    symbol: str
    name: str
    direction: tuple[float, ...]
    divisor: float


class Region(NamedTuple):
    """States at which something is checked, and in words which they are."""

    words: str
    states: Float[np.ndarray, "states columns"]


class Increments(NamedTuple):
    """Where the Legendre–Hadamard condition is checked: the second derivative of Ψ̂ along m ⊗ N.

    Per state and direction N the changes of state that a basis of all allowed m makes: for every m
    of its span the second derivative must not be negative.
    """

    words: str
    states: Float[np.ndarray, "states columns"]
    bases: Float[np.ndarray, "states directions vectors columns"]


class Signs(NamedTuple):
    """Slopes of an affine bound from below that force a limit: these positive, those not negative.

    Names are those of inputs; a slope that is not named must be zero or positive.
    """

    positive: tuple[str, ...]
    either: tuple[str, ...] = ()


class Limit(NamedTuple):
    """An end of the domain: Ψ̂ must grow without bound there, or at least not fall without bound.

    `paths` lead there in equal steps of the logarithm of a stretch, `decade` of them to a factor of
    ten; `labels` name them. A proof of growth is either that Ψ is infinite at `end`, the inputs in
    the limit, which bounds it from below where it is non-decreasing in the inputs that conditions
    name; or that it is convex and has a tangent with one of these `signs` of slopes.
    """

    name: str
    grows: bool
    demanded: bool
    labels: tuple[str, ...]
    paths: Float[np.ndarray, "paths steps columns"]
    decade: int
    end: tuple[float, ...] | None = None
    signs: tuple[Signs, ...] = ()


class Demands(NamedTuple):
    """What is examined; `far` are states at which Ψ̂ ≥ 0 is checked."""

    moduli: tuple[Modulus, ...] = ()
    far: Region | None = None
    limits: tuple[Limit, ...] = ()
    increments: Increments | None = None
