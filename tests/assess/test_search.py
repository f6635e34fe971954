"""The search for counter-examples to convexity."""

import jax.numpy as jnp
import numpy as np

from steinmetz.assess import search


def test_indefinite_agrees_with_eigenvalues() -> None:
    random = np.random.default_rng(0)
    for _ in range(200):
        half = random.normal(size=(3, 3))
        matrix = half @ half.T - random.uniform(0, 1) * np.eye(3)
        expected = np.linalg.eigvalsh(matrix).min() < -1e-12
        assert bool(search._indefinite(jnp.asarray(matrix), jnp.asarray(1e-12))) == expected
