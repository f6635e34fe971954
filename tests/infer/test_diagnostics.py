"""Diagnostics against their definitions, and on samples that are good or bad on purpose."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from cases import present
from steinmetz.infer import diagnostics, placement
from steinmetz.infer.base import as_target

from .targets import standard


def naive(x: Array, slope: Array) -> Array:
    """1/S² Σ u(x_i, x_j), every derivative by automatic differentiation."""

    def k(a: Array, b: Array) -> Array:
        return (1 + jnp.sum((a - b) ** 2)) ** -0.5

    def u(a: Array, s: Array, b: Array, t: Array) -> Array:
        trace = jnp.trace(jax.jacfwd(jax.grad(k, argnums=1), argnums=0)(a, b))
        found: Array = s @ t * k(a, b) + s @ jax.grad(k, 1)(a, b) + t @ jax.grad(k, 0)(a, b) + trace
        return found

    total = sum(
        u(a, s, b, t) for a, s in zip(x, slope, strict=True) for b, t in zip(x, slope, strict=True)
    )
    return jnp.sqrt(total) / len(x)


def test_discrepancy_is_its_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    x = jax.random.normal(jax.random.key(0), (7, 3)) + 5
    slope = jax.random.normal(jax.random.key(1), (7, 3))
    expected = float(naive(x, slope))
    assert float(diagnostics.discrepancy(x, slope)) == pytest.approx(expected, rel=1e-10)
    monkeypatch.setattr(placement, "ENTRIES", 14)
    assert float(diagnostics.discrepancy(x, slope)) == pytest.approx(expected, rel=1e-10)


def test_discrepancy_falls_with_exact_draws_and_sees_wrong_ones() -> None:
    def ksd(x: Array) -> float:
        return float(diagnostics.discrepancy(x, -x))

    exact = [
        ksd(jax.random.normal(jax.random.key(seed), (count, 2)))
        for seed, count in ((0, 50), (1, 800))
    ]
    assert exact[1] < 0.5 * exact[0]
    x = jax.random.normal(jax.random.key(2), (800, 2))
    assert ksd(0.6 * x) > 2 * exact[1]
    assert ksd(x + 0.5) > 2 * exact[1]


def test_good_and_bad_draws() -> None:
    target = as_target(standard)
    good = np.random.default_rng(0).normal(size=(50, 20, 3))
    good_ones = diagnostics.examine(jax.random.key(0), target, good)
    assert present(good_ones.r_hat) < 1.01
    assert present(good_ones.bulk) > 600
    assert present(good_ones.tail) > 400
    assert present(good_ones.discrepancy) < 1.5 * present(good_ones.expected)
    np.testing.assert_allclose([present(end) for end in good_ones.variance], 1, atol=0.2)
    stuck = good * 0.3 + np.arange(20)[None, :, None] * 0.3
    bad_ones = diagnostics.examine(jax.random.key(0), target, stuck)
    assert present(bad_ones.r_hat) > 1.5
    assert present(bad_ones.bulk) < 100
    assert present(bad_ones.discrepancy) > 2 * present(bad_ones.expected)


def test_too_few_snapshots_say_nothing_of_chains() -> None:
    measured = diagnostics.examine(
        jax.random.key(0), as_target(standard), np.random.default_rng(0).normal(size=(1, 30, 2))
    )
    assert measured.r_hat is measured.bulk is measured.tail is None
