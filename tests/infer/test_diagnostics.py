"""Diagnostics against their definitions, and on samples that are good or bad on purpose."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.infer import diagnostics, kernels
from steinmetz.infer.base import as_target

from .targets import standard


def naive(x, score):
    """1/S² Σ u(x_i, x_j), every derivative by automatic differentiation."""

    def k(a, b):
        return (1 + jnp.sum((a - b) ** 2)) ** -0.5

    def u(a, s, b, t):
        trace = jnp.trace(jax.jacfwd(jax.grad(k, argnums=1), argnums=0)(a, b))
        return s @ t * k(a, b) + s @ jax.grad(k, 1)(a, b) + t @ jax.grad(k, 0)(a, b) + trace

    total = sum(
        u(a, s, b, t) for a, s in zip(x, score, strict=True) for b, t in zip(x, score, strict=True)
    )
    return jnp.sqrt(total) / len(x)


def test_discrepancy_is_its_definition(monkeypatch):
    x = jax.random.normal(jax.random.key(0), (7, 3)) + 5
    score = jax.random.normal(jax.random.key(1), (7, 3))
    expected = float(naive(x, score))
    assert float(diagnostics.discrepancy(x, score)) == pytest.approx(expected, rel=1e-10)
    monkeypatch.setattr(kernels, "_BLOCK", 14)
    assert float(diagnostics.discrepancy(x, score)) == pytest.approx(expected, rel=1e-10)


def test_discrepancy_falls_with_exact_draws_and_sees_wrong_ones():
    def ksd(x):
        return float(diagnostics.discrepancy(x, -x))

    exact = [
        ksd(jax.random.normal(jax.random.key(seed), (count, 2)))
        for seed, count in ((0, 50), (1, 800))
    ]
    assert exact[1] < 0.5 * exact[0]
    x = jax.random.normal(jax.random.key(2), (800, 2))
    assert ksd(0.6 * x) > 2 * exact[1]
    assert ksd(x + 0.5) > 2 * exact[1]


def test_health_of_good_and_bad_draws():
    target = as_target(standard)
    good = np.random.default_rng(0).normal(size=(50, 20, 3))
    healthy = diagnostics.examine(jax.random.key(0), target, good)
    assert healthy.r_hat < 1.01
    assert healthy.bulk > 600
    assert healthy.tail > 400
    assert healthy.discrepancy < 1.5 * healthy.expected
    np.testing.assert_allclose(healthy.variance, 1, atol=0.2)
    stuck = good * 0.3 + np.arange(20)[None, :, None] * 0.3
    ill = diagnostics.examine(jax.random.key(0), target, stuck)
    assert ill.r_hat > 1.5
    assert ill.bulk < 100
    assert ill.discrepancy > 2 * ill.expected


def test_too_few_snapshots_say_nothing_of_chains():
    health = diagnostics.examine(
        jax.random.key(0), as_target(standard), np.random.default_rng(0).normal(size=(1, 30, 2))
    )
    assert health.r_hat is health.bulk is health.tail is None
