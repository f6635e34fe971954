"""Norms of the weights: the price."""

from types import ModuleType

import jax.numpy as jnp
import pytest

from cases import convex_network
from steinmetz.sparsify import l1, l2, lp

THETA = jnp.array([0.5, -2.0, 0.004, 0.0])


@pytest.mark.parametrize(("module", "expected"), [(l1, 2.504), (l2, 4.250016)])
def test_price_is_the_sum_of_powers(module: ModuleType, expected: float) -> None:
    assert float(module.build(module.Config()).price(THETA)) == pytest.approx(expected, rel=1e-12)


def test_price_below_one_is_nearly_the_power() -> None:
    expected = float(jnp.sum(jnp.abs(THETA) ** 0.5))
    assert float(lp.build(lp.Config(p=0.5)).price(THETA)) == pytest.approx(expected, abs=0.02)


def test_weights_below_the_clamp_are_zero_at_test_time() -> None:
    settled = l1.build(l1.Config(clamp=0.01)).settled(convex_network((1,)), THETA)
    assert settled.tolist() == [0.5, -2.0, 0.0, 0.0]
