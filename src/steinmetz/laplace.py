"""Laplace's approximation of a log density: its mode and the covariance there (method §5).

It stands below the posterior and the samplers, because both need it: the posterior to say where a
law lies and how sharply the data hold it, the samplers to see every target as if it were round.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from steinmetz.shapes import Count, Matrix, Particles, Scalar, Vector

# A log density, up to a constant.
LogDensity = Callable[[Vector], Scalar]
# Standardised residuals: −½ of the sum of their squares is a term of a log density.
Rows = Callable[[Vector], Float[Array, "rows"]]

# Least eigenvalue, as a share of the largest: a flat direction must not make a step infinite.
_SMALLEST = 1e-3
# Slope at which a search ends, in posterior deviations: far below what a sampler can notice.
_AT_REST = 1e-4
# Slope above which a point is no mode, in posterior deviations.
MODE_SLOPE = 0.05
# Trial widths of a direction are powers of two, from 10⁻¹² to 10¹².
_WIDTHS = 40
# Fall of the log density at one posterior deviation from the mode of a Gaussian.
_FALL = 0.5


class Laplace(eqx.Module):
    """The Gaussian N(centre, root rootᵀ) that touches a log density at its mode.

    In coordinates v with u = centre + root v (whitening) it is the standard normal. `slope` is the
    largest slope of the log density at the centre in these coordinates, zero at a mode; None where
    the centre was given and not looked for.
    """

    centre: Vector
    root: Matrix
    slope: Scalar | None = None

    def forward(self, v: Vector) -> Vector:
        """u of one point v."""
        return self.centre + self.root @ v

    def forward_all(self, v: Particles) -> Particles:
        """u of many points v, as one product of matrices."""
        return self.centre + v @ self.root.T

    def inverse(
        self, u: Float[Array, "*particles dimension"]
    ) -> Float[Array, "*particles dimension"]:
        """v of one point u, or of many: for draws of a sampler that saw u itself."""
        return jnp.transpose(jnp.linalg.solve(self.root, (u - self.centre).T))

    def log_volume(self) -> Scalar:
        """log |det root|, by which a mode's height becomes its share of the probability."""
        return jnp.linalg.slogdet(self.root)[1]


class Search(NamedTuple):
    """How a mode is looked for: Newton steps, trial lengths 1, ½, ¼ … of each, and its clipping.

    `steps` is the most there may be; a search ends before where the slope is at rest. `longest` is
    the most that a coordinate may change in one step; None sets no limit.
    """

    steps: int
    lengths: int
    longest: float | None = None


def gauss_newton(*rows: Rows) -> Callable[[Vector], Matrix]:
    """u → JᵀJ, J the Jacobian of all rows at u: a curvature that is never negative."""

    def curvature(u: Vector) -> Matrix:
        jacobian = jax.jacfwd(lambda v: jnp.concatenate([row(v) for row in rows]))(u)
        return jnp.matmul(jacobian.T, jacobian)

    return curvature


def positive(hessian: Matrix, smallest: float = _SMALLEST) -> Matrix:
    """|λ|, and at least `smallest` of the largest; the identity where it is not finite."""
    values, vectors = _spectrum(hessian)
    size = jnp.abs(values)
    tiny = float(np.finfo(hessian.dtype).tiny) ** 0.5
    size = jnp.maximum(size, jnp.maximum(smallest * jnp.max(size), tiny))
    return jnp.matmul(vectors * size, vectors.T)


def _spectrum(hessian: Matrix) -> tuple[Vector, Matrix]:
    """Eigenvalues and eigenvectors; those of the identity where a number is not finite."""
    finite = jnp.all(jnp.isfinite(hessian))
    unit = jnp.eye(len(hessian), dtype=hessian.dtype)
    values, vectors = jnp.linalg.eigh(jnp.where(finite, hessian, unit))
    return values, vectors


def probed(log_density: LogDensity, centre: Vector, hessian: Matrix) -> Matrix:
    """A root of the covariance at a mode, for densities of which only values are known to be right.

    An eigenvalue of the Hessian gives the width of its direction if the density falls by about ½ at
    that distance. Where it falls sooner or later (an edge, a quartic, a flat direction) or the
    eigenvalue is not positive, the width is the distance at which it does, to a factor of √2.
    """
    values, vectors = _spectrum(hessian)
    ladder = 2.0 ** jnp.arange(-_WIDTHS, _WIDTHS + 1.0)
    top = log_density(centre)

    def fall(width: Scalar, direction: Vector) -> Scalar:
        """The smaller fall of both sides: a mode on an edge has one side only."""
        sides = jnp.stack([log_density(centre + s * width * direction) for s in (1.0, -1.0)])
        return jnp.min(jnp.where(jnp.isfinite(sides), top - sides, jnp.inf))

    def width(direction: Vector) -> Scalar:
        falls = jax.lax.map(lambda w: fall(w, direction), ladder)
        inside = jnp.cumprod(falls <= _FALL)
        return ladder[jnp.maximum(jnp.sum(inside) - 1, 0)]

    measured = jnp.sqrt(2.0) * jax.vmap(width, in_axes=1)(vectors)
    bent = jax.lax.rsqrt(jnp.where(values > 0, values, jnp.inf))
    trusted = (bent < 2 * measured) & (bent > measured / 2)
    return vectors * jnp.where(trusted, bent, measured)


def at_mode(
    log_density: LogDensity, curvature: Callable[[Vector], Matrix], start: Vector, search: Search
) -> Laplace:
    """The approximation at the mode that damped Newton steps reach from `start`.

    A step is C⁻¹ ∇log p, C the curvature, which must be positive definite. Of its trial lengths the
    one with the highest finite density is taken, if that is higher than here; where none is, the
    search ends. With C = L Lᵀ at the end, the root is L⁻ᵀ. Where the steps do not suffice, the
    centre is the highest point reached, and its slope tells.
    """

    def white(u: Vector) -> tuple[Matrix, Vector]:
        """The root at u, and the slope in its coordinates."""
        lower = jnp.linalg.cholesky(curvature(u))
        slope = jax.scipy.linalg.solve_triangular(lower, jax.grad(log_density)(u), lower=True)
        return lower, slope

    def step(state: _Climb) -> _Climb:
        lower, slope = white(state.place)
        move = jax.scipy.linalg.solve_triangular(lower, slope, trans=1, lower=True)
        if search.longest is not None:
            move = jnp.clip(move, -search.longest, search.longest)
        lengths = 0.5 ** jnp.arange(search.lengths)
        values = jax.vmap(lambda length: log_density(state.place + length * move))(lengths)
        best = jnp.argmax(jnp.where(jnp.isfinite(values), values, -jnp.inf))
        better = values[best] > state.value
        return _Climb(
            jnp.where(better, state.place + lengths[best] * move, state.place),
            jnp.where(better, values[best], state.value),
            state.number + 1,
            better & (jnp.max(jnp.abs(slope)) > _AT_REST),
        )

    def goes_on(state: _Climb) -> Bool[Array, ""]:
        return state.climbing & (state.number < search.steps)

    first = _Climb(start, log_density(start), jnp.zeros((), int), jnp.ones((), bool))
    centre = jax.lax.while_loop(goes_on, step, first).place
    lower, slope = white(centre)
    inverse = jax.scipy.linalg.solve_triangular(lower, jnp.eye(len(centre)), lower=True)
    return Laplace(centre, inverse.T, jnp.max(jnp.abs(slope)))


class _Climb(NamedTuple):
    """Where a search stands, how high that is, and whether it still climbs."""

    place: Vector
    value: Scalar
    number: Count
    climbing: Bool[Array, ""]
