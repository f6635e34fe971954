"""The value of a rank, found by counting."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.infer import median


@pytest.mark.parametrize("rank", [1, 2, 17, 199, 200])
def test_any_rank_of_pairs_is_found(rank: int) -> None:
    values = jnp.repeat(jax.random.uniform(jax.random.key(rank), (20, 5)), 2, axis=1)
    found = float(median.ranked(values, jnp.asarray(float(rank)), jnp.asarray(2.0)))
    assert found == pytest.approx(np.sort(np.asarray(values).ravel())[rank - 1], rel=1e-6)
