"""Langevin proposals in a metric that changes from place to place (method §5).

The metric is held while particles move in it, so a proposal and the way back have known densities
and a Metropolis test makes the moves exact.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from steinmetz.infer import kernels, placement
from steinmetz.shapes import Alive, Particles, PerParticle, Scalar

# Weight in the metric of places that are far away: with none near, it is the average of all.
_FAR = 1e-3

# A curvature per particle, or a factor of one.
Matrices = Float[Array, "particles dimension dimension"]


class Metric(NamedTuple):
    """Curvatures at surveyed places, and the width h of the kernel that averages them."""

    places: Particles
    curvature: Matrices
    bandwidth: Scalar

    def factors(self, x: Particles, alive: Alive) -> Matrices:
        """L with A⁻¹ = L Lᵀ = Σ_p w_p C_p / Σ_p w_p at every x, over the places of the living.

        The weights are w = k² of the distance to a place, and a little for all of them.
        """
        middle, size = jnp.mean(self.places, axis=0), x.shape[1]

        def some(x: Particles) -> Matrices:
            squared = kernels.squared_distances(x - middle, self.places - middle)
            weight = (kernels.gram("rbf", squared, self.bandwidth).value ** 2 + _FAR) * alive
            total = weight @ self.curvature.reshape(-1, size * size)
            shared = total / jnp.sum(weight, axis=1, keepdims=True)
            lower: Matrices = jnp.linalg.cholesky(shared.reshape(-1, size, size))
            return lower

        return placement.rows(some, x, len(self.places))


class Proposal(NamedTuple):
    """N(mean, 2τ A) for every particle; A⁻¹ = L Lᵀ, τ the step."""

    mean: Particles
    lower: Matrices
    step: Scalar

    @classmethod
    def around(cls, x: Particles, slope: Particles, lower: Matrices, step: Scalar) -> "Proposal":
        """With mean x + τ A ∇log p."""
        return cls(x + step * solved(lower, slope), lower, step)

    def draw(self, noise: Particles) -> Particles:
        """mean + √(2τ) L⁻ᵀ ξ."""
        return self.mean + jnp.sqrt(2 * self.step) * spread(self.lower, noise)

    def log_density(self, y: Particles) -> PerParticle:
        """log N(y), up to a constant that is the same for all."""
        white = jnp.einsum("sji,sj->si", self.lower, y - self.mean)
        volume = jnp.sum(jnp.log(jnp.diagonal(self.lower, axis1=1, axis2=2)), axis=1)
        return volume - jnp.sum(white**2, axis=1) / (4 * self.step)


def solved(lower: Matrices, rows: Particles) -> Particles:
    """(L Lᵀ)⁻¹ of every row by its factor."""
    return jax.vmap(lambda low, row: jax.scipy.linalg.cho_solve((low, True), row))(lower, rows)


def spread(lower: Matrices, rows: Particles) -> Particles:
    """L⁻ᵀ of every row: normal numbers get the covariance (L Lᵀ)⁻¹."""
    back = jax.scipy.linalg.solve_triangular
    return jax.vmap(lambda low, row: back(low, row, trans=1, lower=True))(lower, rows)
