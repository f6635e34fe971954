"""Draw from a log density of your own: no mechanics, any JAX function of a vector.

Run it with `python examples/sample_a_density.py`.
"""

from jax import Array

import steinmetz


def log_density(x: Array) -> Array:
    """x₀ ~ N(0, 1), x₁ | x₀ ~ N(x₀², 0.5²): mean (0, 1), standard deviations 1 and 1.5."""
    return -0.5 * x[0] ** 2 - 0.5 * ((x[1] - x[0] ** 2) / 0.5) ** 2


samples = steinmetz.sample(log_density, start=[3.0, -4.0])
mean = samples.draws.mean(axis=0)
deviation = samples.draws.std(axis=0)
print(samples)
print(f"{samples.method}: {samples.reason}")
print(f"mean {mean.round(2)} (exact: 0, 1), deviation {deviation.round(2)} (exact: 1, 1.5)")
