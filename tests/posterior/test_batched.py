"""Values and slopes of many particles at once, against differentiation particle by particle."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from cases import REFERENCE, graph, potential, present, random_data, weighted
from steinmetz.posterior import batched, density
from steinmetz.posterior.bijector import Bijector
from steinmetz.potentials.base import Potential
from steinmetz.potentials.graph import UNIT, Edge, Graph

# log density of every particle, and its slopes
Pair = tuple[Array, Array]

DATA = random_data((0.3, 0.3, 0.1))
DATA = DATA._replace(inputs=DATA.inputs + jnp.array(REFERENCE.point))


def two_kinds() -> Graph:
    """Softplus and square units, shared parameters and an edge of weight one."""
    first = (Edge(3, 0, 0), Edge(3, 2, 1), Edge(4, 1, UNIT), Edge(4, 2, 2), Edge(5, 3, 3))
    second = (Edge(5, 4, 1), Edge(5, 0, 4), Edge(6, 1, 5), Edge(6, 5, 6), Edge(6, 4, 0))
    signs = (True, False, False, True, False, False, True)
    return graph(first + second, ("softplus", "square", "softplus"), signs)


POTENTIALS: dict[str, Callable[[], Potential]] = {
    "tied": lambda: potential("icnn", {"form": "tied", "widths": (5, 4)}),
    "mixed": lambda: potential("mixed", {"activations": ("square", "softplus", "identity")}),
    "graph": two_kinds,
    "linear": lambda: graph((Edge(3, 0, 0), Edge(3, 1, 1)), (), (True, False)),
}


def posterior_of(
    name: str, temperature: float = 1.0, unknown_noise: bool = False
) -> density.Posterior:
    form = POTENTIALS[name]()
    scale = jnp.linspace(0.5, 2.0, form.size)
    bijector = Bijector(jnp.asarray(form.nonnegative), scale)
    likelihood = density.Likelihood(weighted(DATA), DATA.cells, unknown_noise)
    prior = jnp.linspace(3.0, 7.0, form.size)
    return density.Posterior(form, REFERENCE, likelihood, bijector, prior, temperature)


def particles_of(posterior: density.Posterior, count: int) -> Array:
    return 0.3 * jax.random.normal(jax.random.key(0), (count, posterior.dimension))


def agree(computed: Pair, expected: Pair) -> None:
    np.testing.assert_allclose(computed[0], expected[0], rtol=1e-10)
    size = np.abs(np.asarray(expected[1])).max(axis=1, keepdims=True)
    np.testing.assert_allclose(computed[1] / size, expected[1] / size, atol=1e-10)


@pytest.mark.parametrize("name", POTENTIALS)
@pytest.mark.parametrize(("temperature", "unknown_noise"), [(1.0, False), (72.0, True)])
def test_values_and_slopes_are_those_of_automatic_differentiation(
    name: str, temperature: float, unknown_noise: bool
) -> None:
    posterior = posterior_of(name, temperature, unknown_noise)
    particles, data = particles_of(posterior, 6), posterior.likelihood.quadratic
    expected = jax.jit(jax.vmap(jax.value_and_grad(lambda u: posterior.log_density(u))))(particles)
    together = present(batched.values_and_slopes_of(posterior))
    agree(jax.jit(lambda some: together(some, data, 1.0))(particles), expected)


def test_a_batch_of_data_is_the_same_estimate() -> None:
    posterior = posterior_of("mixed")
    particles, index = particles_of(posterior, 5), jnp.array([0, 3, 4, 7, 8, 10, 11])
    expected = jax.vmap(jax.value_and_grad(lambda u: posterior.estimate(u, index)))
    together, share = present(batched.values_and_slopes_of(posterior)), 12 / 7
    some = jax.jit(lambda u: together(u, posterior.some(index), share))
    agree(some(particles), jax.jit(expected)(particles))


def test_blocks_of_particles_do_not_change_a_digit_that_matters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    posterior = posterior_of("tied")
    particles, data = particles_of(posterior, 11), posterior.likelihood.quadratic
    together = present(batched.values_and_slopes_of(posterior))
    whole = jax.jit(lambda u: together(u, data, 1.0))(particles)
    monkeypatch.setattr(batched, "_BLOCK", 4 * 9 * 13)
    agree(jax.jit(lambda u: together(u, data, 1.0))(particles), whole)


def test_a_particle_that_is_not_finite_stays_alone() -> None:
    posterior = posterior_of("graph")
    particles, data = particles_of(posterior, 4), posterior.likelihood.quadratic
    many = present(batched.values_and_slopes_of(posterior))
    together = jax.jit(lambda u: many(u, data, 1.0))
    value, slope = together(particles.at[2, 0].set(jnp.nan))
    expected, kept = together(particles), np.array([0, 1, 3])
    assert not np.isfinite(value[2])
    agree((value[kept], slope[kept]), (expected[0][kept], expected[1][kept]))


def test_a_potential_without_layers_says_so() -> None:
    class Quadratic(Potential):
        inputs: tuple[str, ...] = ("I1", "I2", "J")
        nonnegative: tuple[bool, ...] = (False, False, False)

        def energy(self, theta: Array, x: Array) -> Array:
            return jnp.sum(theta * x**2)

    likelihood = density.Likelihood(weighted(DATA), DATA.cells)
    bijector = Bijector(jnp.zeros(3, bool), jnp.ones(3))
    plain = density.Posterior(Quadratic(), REFERENCE, likelihood, bijector, jnp.ones(3), 1.0)
    assert batched.values_and_slopes_of(plain) is None
