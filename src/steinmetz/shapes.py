"""Array types that occur everywhere, by what they hold; tests check every shape at every call.

A name in quotes is the size of an axis and has one value within a call. What occurs in one place
only is written out there.
"""

from jaxtyping import Array, Bool, Float, Int

Scalar = Float[Array, ""]
"""One number."""

Count = Int[Array, ""]
"""One whole number, such as the number of a step."""

Theta = Float[Array, "parameters"]
"""Parameters θ of a potential."""

Inputs = Float[Array, "inputs"]
"""Arguments x of a potential at one state."""

Points = Float[Array, "data inputs"]
"""Arguments x, or slopes ∇Ψ, at many states."""

Cells = Float[Array, "data components"]
"""A number per datum and observed component."""

Vector = Float[Array, "dimension"]
"""One point of a density."""

Matrix = Float[Array, "dimension dimension"]
"""A metric, curvature or covariance of a density."""

Particles = Float[Array, "particles dimension"]
"""Many points of a density, or a slope at each."""

PerParticle = Float[Array, "particles"]
"""A number per particle."""

Alive = Bool[Array, "particles"]
"""Which particles are usable."""
