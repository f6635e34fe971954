"""Laplace's approximation of a log density: its mode and the covariance there (method §5).

It stands below the posterior and the samplers, because both need it: the posterior to say where a
law lies and how sharply the data hold it, the samplers to see every target as if it were round.
"""

from collections.abc import Callable
from functools import partial
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
# The curvature of −log p at a place, or a positive definite matrix that stands for it.
Curvature = Callable[[Vector], Matrix]

# Least eigenvalue, as a share of the largest: a flat direction must not make a step infinite.
_SMALLEST = 1e-3
# The same where the Hessian is exact: damping keeps steps short, so flat directions may stay flat.
_SMALLEST_EXACT = 1e-8
# Damping of the first step, and its change after a step that climbs and after one that does not.
_DAMPING = 1e-3
_EASED = 1 / 3
_TIGHTENED = 4.0
# Damping at which no step is short enough.
_MOST_DAMPED = 1e12
# Coordinates above which rows of likelihood and prior are differentiated each in its cheaper way.
_MANY = 100
# Slope above which a point is no mode, in posterior deviations.
MODE_SLOPE = 0.05
# Trial widths of a direction are powers of two, from 10⁻¹² to 10¹².
_WIDTHS = 40
# Fall of the log density at one posterior deviation from the mode of a Gaussian.
_FALL = 0.5
_solved = partial(jax.scipy.linalg.solve_triangular, lower=True)


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


class Search(NamedTuple):
    """How a mode is looked for: damped Newton steps, and their limit.

    `steps` is the most there may be; a search ends before where the slope, in posterior deviations,
    is below `rest`. `longest` is the most that a coordinate may change in one step, which is
    shortened as a whole so that it still climbs; None sets no limit.
    """

    steps: int
    longest: float | None = None
    rest: float = 1e-4


def gauss_newton(*rows: Rows) -> Curvature:
    """u → JᵀJ, J the Jacobian of all rows at u: a curvature that is never negative."""

    def curvature(u: Vector) -> Matrix:
        if len(u) > _MANY:
            return sum((_squared(row, u) for row in rows), start=jnp.zeros((len(u), len(u))))
        jacobian = jax.jacfwd(lambda v: jnp.concatenate([row(v) for row in rows]))(u)
        return jnp.matmul(jacobian.T, jacobian)

    return curvature


def _squared(rows: Rows, u: Vector) -> Matrix:
    """JᵀJ of some rows."""
    jacobian = slopes_of(rows, u)
    return jnp.matmul(jacobian.T, jacobian)


def slopes_of(rows: Rows, u: Vector) -> Float[Array, "rows dimension"]:
    """J at u, backwards where rows are fewer than coordinates."""
    few = jax.eval_shape(rows, u).shape[0] < len(u)
    jacobian: Float[Array, "rows dimension"] = (jax.jacrev if few else jax.jacfwd)(rows)(u)
    return jacobian


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
    log_density: LogDensity, curvature: Curvature, start: Vector, search: Search
) -> Laplace:
    """The approximation at the mode that damped Newton steps reach from `start`.

    Where the steps do not suffice, the centre is the highest point reached, and its slope tells.
    """
    return touching(log_density, curvature, climb(log_density, curvature, start, search))


def touching(log_density: LogDensity, curvature: Curvature, centre: Vector) -> Laplace:
    """The approximation at a place: with its curvature C = L Lᵀ, the root is L⁻ᵀ."""
    lower, slope = _white(log_density, curvature(centre), centre)
    return Laplace(centre, _solved(lower, jnp.eye(len(centre))).T, jnp.max(jnp.abs(slope)))


def exact(log_density: LogDensity) -> Curvature:
    """u → |−∇²log p|, the Hessian with the sizes of its eigenvalues (Dauphin et al. 2014).

    Near a mode steps with it converge quadratically; elsewhere they leave saddles instead of
    being drawn to them. It is what Gauss and Newton leave out that it has: where residuals are
    large and a potential is bent, JᵀJ is no curvature, and steps with it hardly advance.
    """

    def curvature(u: Vector) -> Matrix:
        return positive(-jax.hessian(log_density)(u), _SMALLEST_EXACT)

    return curvature


def _white(log_density: LogDensity, bent: Matrix, u: Vector) -> tuple[Matrix, Vector]:
    """The factor L of a curvature at u, and the slope in its coordinates."""
    lower = jnp.linalg.cholesky(bent)
    return lower, _solved(lower, jax.grad(log_density)(u))


def climb(log_density: LogDensity, curvature: Curvature, start: Vector, search: Search) -> Vector:
    """The highest place that damped Newton steps reach from `start`.

    A step is (C + μ diag C)⁻¹ ∇log p, C the curvature, which must be positive definite (Levenberg,
    Marquardt). It is taken if it climbs, and μ falls; else μ grows, and the search ends where no
    step is short enough.
    """

    def step(state: _Climb) -> _Climb:
        bent = curvature(state.place)
        damped = bent + jnp.diag(state.damping * jnp.diagonal(bent))
        lower, slope = _white(log_density, damped, state.place)
        move = _solved(lower, slope, trans=1)
        if search.longest is not None:
            move = move * jnp.minimum(1.0, search.longest / jnp.max(jnp.abs(move)))
        value = log_density(state.place + move)
        better = jnp.isfinite(value) & (value > state.value)
        return _Climb(
            jnp.where(better, state.place + move, state.place),
            jnp.where(better, value, state.value),
            state.damping * jnp.where(better, _EASED, _TIGHTENED),
            state.number + 1,
            jnp.max(jnp.abs(slope)) * jnp.sqrt(1 + state.damping),
        )

    def goes_on(state: _Climb) -> Bool[Array, ""]:
        steep = ~(state.slope <= search.rest)
        return steep & (state.number < search.steps) & (state.damping < _MOST_DAMPED)

    one = jnp.ones((), start.dtype)
    first = _Climb(start, log_density(start), _DAMPING * one, jnp.zeros((), int), jnp.inf * one)
    return jax.lax.while_loop(goes_on, step, first).place


class _Climb(NamedTuple):
    """Where a search stands, how high that is, its damping, and the slope before the last step."""

    place: Vector
    value: Scalar
    damping: Scalar
    number: Count
    slope: Scalar
