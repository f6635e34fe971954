"""Power sums over principal stretches against many digits, also where stretches coincide."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from jaxtyping import Array

from cases import Numbers
from steinmetz.materials import principal

STRETCHES = (
    (1.0, 1.0, 1.0),
    (1.3, 1.0, 1.0),
    (1.3, 1.3, 0.5),
    (7.6, 7.6**-0.5, 7.6**-0.5),
    (4.0, 4.0, 1 / 16),
    (1.0005, 0.9997, 1.0),
    (1.01, 1.005, 1.0),
    (10.0, 10.0001, 0.3),
    (10.0, 0.1, 0.1),
    (2.0, 1.0, 0.5),
)
# Exponents of squared stretches.
POWERS = (0.5, 0.65, 2.25, 4.0, -0.5, -2.25)


def expected(power: float, stretches: tuple[float, ...]) -> tuple[Numbers, Numbers, Numbers]:
    """I1, I2, J, slopes and second derivatives by residues, with 150 digits.

    Stretches that coincide are moved apart by 1e-15: residues are then those of simple poles.
    """
    with mpmath.workdps(150):
        s = mpmath.mpf(power)
        apart = [1 + k * mpmath.mpf(10) ** -15 for k in range(3)]
        x = [mpmath.mpf(a) ** 2 * b for a, b in zip(stretches, apart, strict=True)]
        J = mpmath.sqrt(x[0] * x[1] * x[2])

        def others(i: int) -> list[mpmath.mpf]:
            return [x[i] - x[j] for j in range(3) if j != i]

        def once(r: mpmath.mpf) -> mpmath.mpf:
            return sum(x[i] ** r / mpmath.fprod(others(i)) for i in range(3))

        def twice(r: mpmath.mpf) -> mpmath.mpf:
            total = mpmath.mpf(0)
            for i in range(3):
                gaps = others(i)
                pole = x[i] ** r / mpmath.fprod(gaps) ** 2
                total += pole * (r / x[i] - 2 / gaps[0] - 2 / gaps[1])
            return total

        inputs = [sum(x), x[0] * x[1] + x[1] * x[2] + x[0] * x[2], J]
        slopes = [s * once(s + 1), -s * once(s), 2 * s * J * once(s - 1)]
        E = [s * twice(s - 1 + r) for r in range(5)]
        bent = [
            [E[4], -E[3], 2 * J * E[2]],
            [-E[3], E[2], -2 * J * E[1]],
            [2 * J * E[2], -2 * J * E[1], 4 * J**2 * E[0] + slopes[2] / J],
        ]
        first, second = np.array(inputs, float), np.array(slopes, float)
        return first, second, np.array(bent, float).reshape(3, 3)


def power_sum(power: Array, x: Array) -> Array:
    found: Array = principal.power_sum(jnp, power, (x[0], x[1], x[2]))
    return found


def test_derivatives_are_those_of_many_digits() -> None:
    slope = jax.jit(jax.grad(power_sum, argnums=1))
    bend = jax.jit(jax.hessian(power_sum, argnums=1))
    for power in POWERS:
        for stretches in STRETCHES:
            x, slopes, bent = expected(power, stretches)
            by_numpy = principal.power_slopes(np, power, tuple(x))
            place = (power, stretches)
            np.testing.assert_allclose(by_numpy, slopes, rtol=1e-10, err_msg=str(place))
            np.testing.assert_allclose(slope(power, jnp.asarray(x)), slopes, rtol=1e-10)
            largest = np.abs(bent).max()
            np.testing.assert_allclose(bend(power, jnp.asarray(x)), bent, atol=1e-9 * largest)


def test_an_exponent_may_be_traced() -> None:
    """d/ds Σ x^s = Σ x^s log x, and its slope in I1 by differences."""
    x = jnp.array([3.6, 3.7, 1.05])
    roots = np.array(principal.roots(np, *np.asarray(x)))
    found = jax.grad(power_sum)(0.8, x)
    assert float(found) == pytest.approx(np.sum(roots**0.8 * np.log(roots)), rel=1e-12)
    mixed = jax.jacfwd(jax.grad(power_sum, argnums=1))(0.8, x)
    up, down = (jax.grad(power_sum, argnums=1)(0.8 + h, x) for h in (1e-6, -1e-6))
    np.testing.assert_allclose(mixed, (up - down) / 2e-6, rtol=1e-6)
