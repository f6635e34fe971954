"""Changes of β and draws by weights, against sums that are done by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.infer import weights


def test_a_change_of_beta_leaves_so_many_particles_effective() -> None:
    """Also where log likelihoods are as far apart as those of draws of a wide prior."""
    for scale in (1.0, 1e12):
        gain = scale * np.random.default_rng(0).normal(size=200)
        step = float(weights.change(jnp.asarray(gain), jnp.asarray(1e9), jnp.asarray(140.0)))
        weight = np.exp(step * (gain - gain.max()))
        assert weight.sum() ** 2 / (weight**2).sum() == pytest.approx(140, rel=1e-6)


def test_all_that_is_left_is_taken_where_it_does_no_harm() -> None:
    gain, some = jnp.asarray([1.0, 1.1, 0.9, 1.0]), jnp.asarray(2.0)
    assert float(weights.change(gain, jnp.asarray(0.25), some)) == 0.25
    assert float(weights.change(gain, jnp.asarray(0.0), some)) == 0.0


def test_particles_are_drawn_as_often_as_their_weight_says() -> None:
    """To less than one; who has no weight is gone, and alike weights change nobody."""
    weight = np.array([0.0, 4.5, 1.0, 2.5, 0.0])
    with np.errstate(divide="ignore"):
        logs = jnp.asarray(np.log(weight))
    for seed in range(20):
        numbers, mean = weights.drawn(jax.random.key(seed), logs)
        count = np.bincount(np.asarray(numbers), minlength=5)
        assert (np.abs(count - 5 * weight / weight.sum()) < 1).all()
        assert count[0] == count[4] == 0
        assert float(mean) == pytest.approx(np.log(weight.mean()))
    same, _ = weights.drawn(jax.random.key(0), jnp.zeros(7))
    np.testing.assert_array_equal(same, np.arange(7))
