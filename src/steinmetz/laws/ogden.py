"""Ogden's law in principal stretches, three terms, made compressible.

The stretches are functions of (I1, I2, J) with a singular slope where two of them coincide, but the
energy is smooth there. Its slopes are divided differences over the squared stretches x_i, computed
as integrals over a triangle (Hermite and Genocchi): Σ f(x_i)/Π_{j≠i}(x_i − x_j) = ∫ f''(Σ t_i x_i)
dt.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

INPUTS = ("I1", "I2", "J")
# Ogden (1972) for Treloar's rubber, in MPa; κ is ours.
_TERMS = {"1": (0.63, 1.3), "2": (0.0012, 5.0), "3": (-0.01, -2.0)}
PARAMETERS = {
    **{f"mu{term}": mu for term, (mu, _) in _TERMS.items()},
    **{f"alpha{term}": alpha for term, (_, alpha) in _TERMS.items()},
    "kappa": 1.0,
}


def energy(inputs: Float[Array, "3"], parameters: dict[str, float]) -> Float[Array, ""]:
    """Ψ = Σ μ_p/α_p (λ1^α_p + λ2^α_p + λ3^α_p − 3) − Σ μ_p log J + κ/2 (J − 1)²."""
    J = inputs[2]
    total = 0.5 * parameters["kappa"] * (J - 1) ** 2
    for term in ("1", "2", "3"):
        mu, alpha = parameters[f"mu{term}"], parameters[f"alpha{term}"]
        total += mu / alpha * (power_sum(alpha / 2, inputs) - 3) - mu * jnp.log(J)
    return total


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def power_sum(power: float, inputs: Float[Array, "3"]) -> Float[Array, ""]:
    """Σ x_i^power over the squared stretches."""
    return jnp.sum(squared_stretches(inputs) ** power)


@power_sum.defjvp
def _power_sum_jvp(power: float, primals: tuple[Any], tangents: tuple[Any]) -> tuple[Array, Array]:
    """dx_i = (x_i² dI1 − x_i dI2 + dI3)/Π_{j≠i}(x_i − x_j).

    So each slope is a divided difference of a power.
    """
    (inputs,), (change,) = primals, tangents
    x = squared_stretches(inputs)
    slope = jnp.stack([
        power * _divided_difference(power + 1, x),
        -power * _divided_difference(power, x),
        power * _divided_difference(power - 1, x) * 2 * inputs[2],  # I3 = J²
    ])  # fmt: skip
    return power_sum(power, inputs), slope @ change


def squared_stretches(inputs: Float[Array, "3"]) -> Float[Array, "3"]:
    """Roots of x³ − I1 x² + I2 x − J²."""
    I1, I2, J = inputs
    spread = jnp.maximum((I1**2 - 3 * I2) / 9, 0.0)
    skew = (2 * I1**3 - 9 * I1 * I2 + 27 * J**2) / 54
    length = jnp.where(spread > 0, spread, 1.0) ** 1.5
    angle = jnp.arccos(jnp.clip(skew / length, -1, 1)) / 3
    turns = angle + 2 * jnp.pi / 3 * jnp.arange(3)
    return jnp.maximum(I1 / 3 + 2 * jnp.sqrt(spread) * jnp.cos(turns), 1e-12)


def _divided_difference(power: float, x: Float[Array, "3"]) -> Float[Array, ""]:
    """f[x1, x2, x3] of f(x) = x^power.

    The integral of f'' over the triangle of weights t, by Gauss's rule.
    """
    nodes, weights = np.polynomial.legendre.leggauss(16)
    u, w = (nodes + 1) / 2, weights / 2
    first, second = np.meshgrid(u, u, indexing="ij")
    area = np.outer(w * (1 - u), w)  # t1 = u, t2 = (1 − u) v
    points = first * x[0] + (1 - first) * second * x[1] + (1 - first) * (1 - second) * x[2]
    return jnp.sum(area * power * (power - 1) * points ** (power - 2))
