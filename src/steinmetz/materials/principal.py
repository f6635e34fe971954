"""Sums of powers over the principal stretches, as smooth functions of I1, I2 and J.

The squared stretches x_i are the roots of p(x) = x³ − I1 x² + I2 x − J². Their slopes are singular
where two coincide, but those of Σ x_i^s are not: they are divided differences f[x1, x2, x3] of
powers, and those of divided differences are contour integrals,

    f[x1, x2, x3] = 1/(2πi) ∮ f/p dz,      ∂f[x1, x2, x3]/∂I1 = 1/(2πi) ∮ f z²/p² dz,

and so on, with −z for I2 and one for J². Exponents may be traced by JAX; derivatives of any order
exist everywhere. Everything works on numbers and, entry by entry, on arrays.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

# A number or an array, of numpy or JAX; numpy or jax.numpy.
Value = Any
Numerics = Any
Roots = tuple[Value, Value, Value]

# Ratio of squared stretches from which rounding of the small ones matters.
_APART = 1.5
# Relative gap below which a divided difference is taken from its series.
_NEAR = 2e-3
# A squared stretch is never smaller.
_SMALLEST = 1e-12
# Points on the upper half of the contour; its height and its way beyond the roots, in log z.
_POINTS, _HEIGHT, _BEYOND = 48, 2.6, 2.0


def roots(numerics: Numerics, I1: Value, I2: Value, J: Value) -> Roots:
    """The squared stretches, the largest first.

    Viète's cosines give them to rounding of the largest. Where they lie apart, the most isolated
    one is made exact by Newton steps, and the other two solve the quadratic that remains: else a
    small root beside a large one, or a double one, would have lost half of its digits.
    """
    spread = numerics.maximum((I1**2 - 3 * I2) / 9, 0.0)
    skew = (2 * I1**3 - 9 * I1 * I2 + 27 * J**2) / 54
    length = numerics.where(spread > 0, spread, 1.0) ** 1.5
    angle = numerics.arccos(numerics.clip(skew / length, -1, 1)) / 3
    half = 2 * numerics.sqrt(spread)
    rough = [
        numerics.maximum(I1 / 3 + half * numerics.cos(angle + turn), _SMALLEST)
        for turn in (0.0, 4 * np.pi / 3, 2 * np.pi / 3)
    ]
    fine, apart = _polished(numerics, (I1, I2, J), rough), rough[0] > _APART * rough[2]
    first, second, third = (
        numerics.where(apart, exact, near) for exact, near in zip(fine, rough, strict=True)
    )
    return first, second, third


def _polished(numerics: Numerics, inputs: tuple[Value, Value, Value], rough: list[Value]) -> Roots:
    """The isolated root by Newton's method, the other two from their sum and product."""
    I1, I2, J = inputs
    first = rough[0] * rough[2] > rough[1] ** 2  # the gap above the middle one is the larger
    root = numerics.where(first, rough[0], rough[2])
    for _ in range(3):
        value = ((root - I1) * root + I2) * root - J**2
        slope = (3 * root - 2 * I1) * root + I2
        root = numerics.maximum(root - value / numerics.where(slope == 0, 1.0, slope), _SMALLEST)
    product = J**2 / root
    half = 0.5 * numerics.where(first, (I2 - product) / root, I1 - root)
    upper = half + numerics.sqrt(numerics.maximum(half**2 - product, 0.0))
    upper = numerics.maximum(upper, _SMALLEST)
    lower = product / upper
    if_first, if_last = (root, upper, lower), (upper, lower, root)
    a, b, c = (numerics.where(first, p, q) for p, q in zip(if_first, if_last, strict=True))
    return a, b, c


def power_sum(numerics: Numerics, power: Value, x: tuple[Value, Value, Value]) -> Value:
    """Σ x_i^power over the squared stretches; `x` are I1, I2 and J.

    Numerics that are neither of numpy nor of JAX may bring a sum of their own.
    """
    if numerics is jnp:
        return _power_sum(power, *x)
    if hasattr(numerics, "power_sum"):
        return numerics.power_sum(power, x)
    return sum(root**power for root in roots(numerics, *x))


def power_slopes(
    numerics: Numerics, power: Value, x: tuple[Value, Value, Value]
) -> tuple[Value, Value, Value]:
    """The slopes of Σ x_i^power in I1, I2 and J."""
    if numerics is jnp:
        every = [_traced_difference(power + shift, *x) for shift in (1, 0, -1)]
    elif hasattr(numerics, "power_slopes"):
        first, second, third = numerics.power_slopes(power, x)
        return first, second, third
    else:
        found = roots(numerics, *x)
        every = [_difference(numerics, power + shift, found) for shift in (1, 0, -1)]
    return power * every[0], -power * every[1], 2 * power * x[2] * every[2]


def _difference(numerics: Numerics, power: Value, x: Roots) -> Value:
    """f[x1, x2, x3] of f(x) = x^power and falling x.

    By its definition, (f[x1, x2] − f[x2, x3])/(x1 − x3); where that cancels, by its series around
    the mean m, Σ f⁽ᵏ⁺²⁾(m)/(k+2)! h_k, with h_k the complete symmetric polynomials of the x_i − m.
    """
    a, b, c = x
    far = a - c > _NEAR * a
    upper, lower = _secant(numerics, power, a, b), _secant(numerics, power, b, c)
    defined = (upper - lower) / numerics.where(far, a - c, 1.0)
    mean = (a + b + c) / 3
    u, v, w = a / mean - 1, b / mean - 1, c / mean - 1
    square, cube = u * v + v * w + w * u, u * v * w
    two = power * (power - 1) / 2
    four = two * (power - 2) * (power - 3) / 12
    five = four * (power - 4) / 5
    six = five * (power - 5) / 6
    series = mean ** (power - 2) * (two - four * square + five * cube + six * square**2)
    return numerics.where(far, defined, series)


def _secant(numerics: Numerics, power: Value, a: Value, b: Value) -> Value:
    """(a^power − b^power)/(a − b) for a ≥ b, to rounding however near they are."""
    ratio = a / b - 1
    safe = numerics.where(ratio > 0, ratio, 1.0)
    slope = numerics.where(
        ratio > 0, numerics.expm1(power * numerics.log1p(safe)) / safe, power + 0 * safe
    )
    return b ** (power - 1) * slope


@jax.custom_jvp
def _power_sum(power: Value, I1: Value, I2: Value, J: Value) -> Value:
    return sum(root**power for root in roots(jnp, I1, I2, J))


def _power_sum_changes(primals: tuple[Value, ...], changes: tuple[Value, ...]) -> Any:
    power, *x = primals
    found = roots(jnp, *x)
    change = 0.0 * found[0] * power
    if not _still(changes[0]):
        change = change + changes[0] * sum(root**power * jnp.log(root) for root in found)
    if not all(map(_still, changes[1:])):
        slopes = power_slopes(jnp, power, (x[0], x[1], x[2]))
        moved = [0.0 if _still(each) else each for each in changes[1:]]
        change = change + sum(s * each for s, each in zip(slopes, moved, strict=True))
    return _power_sum(*primals), change


_power_sum.defjvp(_power_sum_changes, symbolic_zeros=True)


@jax.custom_jvp
def _traced_difference(power: Value, I1: Value, I2: Value, J: Value) -> Value:
    return _difference(jnp, power, roots(jnp, I1, I2, J))


def _difference_changes(primals: tuple[Value, ...], changes: tuple[Value, ...]) -> Any:
    power, I1, I2, J = primals
    found = roots(jnp, I1, I2, J)
    change = 0.0 * found[0] * power
    if not _still(changes[0]):
        one = jnp.ones_like(power)
        along = jax.jvp(lambda p: _difference(jnp, p, found), (power,), (one,))[1]
        change = change + changes[0] * along
    weights = (1.0, -1.0, 2 * J)
    for shift, weight, each in zip((2, 1, 0), weights, changes[1:], strict=True):
        if not _still(each):
            change = change + each * weight * _integral(power + shift, (I1, I2, J), found)
    return _traced_difference(*primals), change


_traced_difference.defjvp(_difference_changes, symbolic_zeros=True)


def _still(change: Value) -> bool:
    """Whether JAX knows that nothing changes."""
    return isinstance(change, jax.custom_derivatives.SymbolicZero)


def _integral(power: Value, x: tuple[Value, Value, Value], found: Roots) -> Value:
    """1/(2πi) ∮ z^power/p(z)² dz around the roots, by the trapezoidal rule on an ellipse in log z.

    The lower half is the conjugate of the upper one, which is enough. Second derivatives are exact
    to 1e-11 for stretches from 0.1 to 10.
    """
    I1, I2, J = (jnp.asarray(each)[..., None] for each in x)
    high, low = (jax.lax.stop_gradient(jnp.log(each))[..., None] for each in (found[0], found[2]))
    turn = (np.arange(_POINTS) + 0.5) * np.pi / _POINTS
    across = (high - low) / 2 + _BEYOND
    log = (high + low) / 2 + across * np.cos(turn) + 1j * _HEIGHT * np.sin(turn)
    step = 1j * across * np.sin(turn) + _HEIGHT * np.cos(turn)  # d(log z)/(i dturn)
    z = jnp.exp(log)
    cubic = ((z - I1) * z + I2) * z - J**2
    terms = jnp.exp((jnp.asarray(power)[..., None] + 1) * log) / cubic**2 * step
    return jnp.mean(terms.real, axis=-1)
