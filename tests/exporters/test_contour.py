"""Integrals over powers of stretches, against residues in many digits, near and far from rest."""

import itertools

import mpmath
import numpy as np
import pytest

from compilers import module
from export_cases import LAWS

# Stretches over two decades, some nearly or quite equal.
STRETCHES = (
    (1.0, 1.0, 1.0),
    (1.0, 1.0 + 1e-9, 1.0 - 1e-7),
    (1.3, 1.3, 0.6),
    (2.0, 1.0, 0.4),
    (10.0, 10.0, 0.1),
    (10.0, 0.1, 0.1),
    (10.0, 1.0, 0.1),
    (0.1, 0.1, 0.1),
    (10.0, 10.0, 10.0),
)
# Powers of squared stretches: λ, λ^1.7, λ³ and λ^7.3, and those that slopes of them need.
POWERS = (0.5, 0.85, 1.5, 3.65)


def exact(order: int, power: float, x: tuple[float, ...]) -> float:
    """Q_k by the residues at roots that are moved apart by 10^-20 of themselves, in 300 digits."""
    with mpmath.workdps(300):
        roots = [mpmath.mpf(v) * (1 + n * mpmath.mpf(10) ** -20) for n, v in enumerate(x)]
        s = mpmath.mpf(power)
        if order == 0:
            return float(sum(root**s for root in roots))
        return float(sum(_residue(order, s, roots, n) for n in range(3)))


def _residue(order: int, s: mpmath.mpf, roots: list[mpmath.mpf], place: int) -> mpmath.mpf:
    """Of z^s ((z − a)(z − b)(z − c))^−k at one root, written out for k = 1 and 2."""
    a, b, c = roots[place], *(roots[:place] + roots[place + 1 :])
    if order == 1:
        return a**s / ((a - b) * (a - c))
    whole = a**s / ((a - b) * (a - c)) ** 2
    return whole * (s / a - 2 / (a - b) - 2 / (a - c))


@pytest.mark.parametrize("stretches", STRETCHES)
def test_integrals(stretches: tuple[float, ...]) -> None:
    """Sums, and what their first and second slopes need."""
    integral = module("python", LAWS["Ogden"]())._integral
    x = tuple(stretch**2 for stretch in stretches)
    A, B = sum(x), x[0] * x[1] + x[1] * x[2] + x[0] * x[2]
    J = float(np.prod(stretches))
    for power, order in itertools.product(POWERS, (0, 1, 2)):
        for shift in ((0,), (1, 0, -1), (3, 2, 1, 0, -1))[order]:
            wanted = exact(order, power + shift, x)
            found = float(integral(order, power + shift, A, B, J))
            assert found == pytest.approx(wanted, rel=1e-11), (order, power)
