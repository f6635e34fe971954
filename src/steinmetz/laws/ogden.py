"""Ogden's law in principal stretches, three terms, made compressible.

The stretches are functions of (I1, I2, J) with a singular slope where two of them coincide, but the
energy is smooth there. Its slopes are divided differences over the squared stretches x_i. Where
the stretches are near each other these are integrals over a triangle (Hermite and Genocchi):
Σ f(x_i)/Π_{j≠i}(x_i − x_j) = ∫ f''(Σ t_i x_i) dt.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

INPUTS = ("I1", "I2", "J")
# Ogden (1972) for Treloar's rubber, in MPa; κ is ours.
_TERMS = {"1": (0.63, 1.3), "2": (0.0012, 5.0), "3": (-0.01, -2.0)}
PARAMETERS = {
    **{f"mu{term}": mu for term, (mu, _) in _TERMS.items()},
    **{f"alpha{term}": alpha for term, (_, alpha) in _TERMS.items()},
    "kappa": 1.0,
}
# Ratio of squared stretches up to which the rule of 16 points is exact to rounding.
_APART = 1.5
# A squared stretch is never smaller.
_SMALLEST = 1e-12


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
    """Roots of x³ − I1 x² + I2 x − J², the largest first.

    Viète's cosines give them to rounding of the largest. Where they lie apart, the most isolated
    one is made exact by Newton steps, and the other two solve the quadratic that remains: else a
    small root beside a large one, or a double one, would have lost half of its digits.
    """
    I1, I2, J = inputs
    spread = jnp.maximum((I1**2 - 3 * I2) / 9, 0.0)
    skew = (2 * I1**3 - 9 * I1 * I2 + 27 * J**2) / 54
    length = jnp.where(spread > 0, spread, 1.0) ** 1.5
    angle = jnp.arccos(jnp.clip(skew / length, -1, 1)) / 3
    turns = angle + 2 * jnp.pi / 3 * jnp.array([0.0, 2.0, 1.0])
    rough = jnp.maximum(I1 / 3 + 2 * jnp.sqrt(spread) * jnp.cos(turns), _SMALLEST)
    return jnp.where(_apart(rough), _polished(inputs, rough), rough)


def _apart(x: Float[Array, "3"]) -> Bool[Array, ""]:
    """Whether the largest and the smallest of three falling numbers differ by a good part."""
    return x[0] > _APART * x[2]


def _polished(inputs: Float[Array, "3"], rough: Float[Array, "3"]) -> Float[Array, "3"]:
    """The isolated root by Newton's method, the other two from their sum and product."""
    I1, I2, J = inputs
    first = rough[0] * rough[2] > rough[1] ** 2  # the gap above the middle one is the larger
    root = jnp.where(first, rough[0], rough[2])
    for _ in range(3):
        value = ((root - I1) * root + I2) * root - J**2
        slope = (3 * root - 2 * I1) * root + I2
        root = jnp.maximum(root - value / jnp.where(slope == 0, 1.0, slope), _SMALLEST)
    product = J**2 / root
    half = 0.5 * jnp.where(first, (I2 - product) / root, I1 - root)
    upper = half + jnp.sqrt(jnp.maximum(half**2 - product, 0.0))
    lower = product / upper
    return jnp.where(first, jnp.stack([root, upper, lower]), jnp.stack([upper, lower, root]))


def _divided_difference(power: float, x: Float[Array, "3"]) -> Float[Array, ""]:
    """f[x1, x2, x3] of f(x) = x^power and falling x.

    Where they lie apart by its definition, (f[x1, x2] − f[x2, x3])/(x1 − x3); else as an integral,
    because the definition cancels.
    """
    far = _apart(x)
    gap = jnp.where(far, x[0] - x[2], 1.0)
    upper, lower = _secant(power, x[0], x[1]), _secant(power, x[1], x[2])
    return jnp.where(far, (upper - lower) / gap, _integral(power, x))


def _secant(power: float, a: Float[Array, ""], b: Float[Array, ""]) -> Float[Array, ""]:
    """(a^power − b^power)/(a − b) for a ≥ b, to rounding however near they are."""
    ratio = a / b - 1
    safe = jnp.where(ratio > 0, ratio, 1.0)
    slope = jnp.where(ratio > 0, jnp.expm1(power * jnp.log1p(safe)) / safe, power)
    return b ** (power - 1) * slope


def _integral(power: float, x: Float[Array, "3"]) -> Float[Array, ""]:
    """∫ f''(Σ t_i x_i) dt over the triangle of weights t, by Gauss's rule: for near x."""
    nodes, weights = np.polynomial.legendre.leggauss(16)
    u, w = (nodes + 1) / 2, weights / 2
    first, second = np.meshgrid(u, u, indexing="ij")
    area = np.outer(w * (1 - u), w)  # t1 = u, t2 = (1 − u) v
    points = first * x[0] + (1 - first) * second * x[1] + (1 - first) * (1 - second) * x[2]
    return jnp.sum(area * power * (power - 1) * points ** (power - 2))
