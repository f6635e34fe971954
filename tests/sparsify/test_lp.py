"""Norm penalties: price, clamping and signs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.potentials import icnn
from steinmetz.sparsify import l1, l2, lp

THETA = jnp.array([0.5, -2.0, 0.004, 0.0])


@pytest.mark.parametrize(("module", "expected"), [(l1, 2.504), (l2, 4.250016)])
def test_price_is_the_sum_of_powers(module, expected):
    assert float(module.build(module.Config()).price(THETA)) == pytest.approx(expected, rel=1e-12)


def test_price_below_one_is_nearly_the_power_and_has_a_slope_everywhere():
    penalty = lp.build(lp.Config(p=0.5))
    assert float(penalty.price(THETA)) == pytest.approx(
        float(jnp.sum(jnp.abs(THETA) ** 0.5)), abs=0.02
    )
    assert np.isfinite(jax.grad(penalty.price)(THETA)).all()


def test_small_weights_are_zero_at_test_time_and_signs_are_kept(physics):
    network = icnn.build(icnn.Config(widths=(4, 4)), physics.inputs, physics.conditions)
    penalty = l1.build(l1.Config(clamp=0.01))
    raw = penalty.project(network, network.initial(jax.random.key(0)))
    assert (np.asarray(raw)[np.array(network.nonnegative)] >= 0).all()
    assert (np.asarray(raw)[~np.array(network.nonnegative)] < 0).any()
    settled = np.asarray(penalty.settled(network, raw))
    assert not ((np.abs(settled) > 0) & (np.abs(settled) < 0.01)).any()


def test_methods_name_themselves():
    assert (l1.Config().method, l1.Config().p) == ("l1", 1)
    assert (l2.Config().method, l2.Config().p, l2.Config().rate) == ("l2", 2, 0.005)
