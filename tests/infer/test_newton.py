"""The collective step of Stein–Newton."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.errors import InputError
from steinmetz.infer import newton, ssvn
from steinmetz.infer.langevin import Metric

from .targets import sample, standard


def test_block_and_full_agree_for_one_particle() -> None:
    x = jnp.array([[1.0, -2.0]])
    at = Metric(x, jnp.eye(2)[None], jnp.ones(())), -x, jnp.ones(1, bool)
    steps = [newton.together(jax.random.key(1), *at, kind, 0.1) for kind in ("block", "full")]
    np.testing.assert_allclose(steps[0], steps[1], rtol=1e-9)
    assert np.abs(steps[0]).max() > 0.01


def test_full_coupling_of_too_many_is_refused() -> None:
    with pytest.raises(InputError, match="use 'block'"):
        sample(ssvn, standard, 50, particles=50, hessian="full")
