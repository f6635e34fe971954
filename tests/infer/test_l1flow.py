"""The Stein flow with an L1 prior."""

import jax
import jax.numpy as jnp
import numpy as np
import pydantic
import pytest
from jaxtyping import Array

import steinmetz
from steinmetz.infer import l1flow

MEAN, PRECISION = jnp.array([1.0, 2.0, 3.0]), jnp.array([[2.0, 1, 0], [1, 2, 0], [0, 0, 0.025]])


def likelihood(x: Array) -> Array:
    return -0.5 * (x - MEAN) @ PRECISION @ (x - MEAN)


def exact(penalty: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of the first two coordinates under the L1 prior, by quadrature."""
    line = np.linspace(-5, 8, 801)
    x = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1)
    away = x - np.asarray(MEAN[:2])
    log_density = -0.5 * np.einsum("...i,ij,...j", away, np.asarray(PRECISION)[:2, :2], away)
    weight = np.exp(log_density - penalty * np.abs(x).sum(axis=-1))
    weight /= weight.sum()
    mean = np.einsum("ij,ijk->k", weight, x)
    return mean, np.sqrt(np.einsum("ij,ijk->k", weight, (x - mean) ** 2))


def test_one_particle_finds_the_lasso() -> None:
    """Alone there is no repulsion: the flow ends where the slope balances λ, or at zero."""
    found = steinmetz.sample(
        likelihood, jnp.ones(3), "l1flow", particles=1, penalty=0.3, steps=5000, rate=0.1
    )
    expected = np.append(MEAN[:2] - np.linalg.solve(PRECISION[:2, :2], np.full(2, 0.3)), 0.0)
    np.testing.assert_allclose(found.draws[0], expected, atol=1e-3)
    assert found.draws[0, 2] == 0


@pytest.mark.parametrize("seed", range(3))
def test_the_undetermined_coordinate_is_driven_to_zero_and_the_others_spread(seed: int) -> None:
    found = steinmetz.sample(likelihood, jnp.zeros(3), "l1flow", seed, penalty=0.12, thin=500)
    first, last = found.run.draws
    assert found.run.draws.shape == (2, 100, 3)
    assert np.mean(first[:, 2] == 0) > 0.5
    assert np.mean(last[:, 2] == 0) > 0.95
    mean, deviation = exact(0.12)
    np.testing.assert_allclose(last.mean(axis=0)[:2], mean, atol=0.02)
    np.testing.assert_allclose(last.std(axis=0)[:2], deviation, rtol=0.08)


def test_without_a_penalty_it_is_svgd() -> None:
    """The prior gone, the ensemble of a Gaussian has its mean."""
    found = steinmetz.sample(likelihood, MEAN, "l1flow", penalty=0.0, steps=3000)
    np.testing.assert_allclose(found.draws.mean(axis=0), MEAN, atol=0.1)
    assert not (found.draws == 0).any()


def test_signs_are_kept() -> None:
    found = steinmetz.sample(
        likelihood, -jnp.ones(3), "l1flow", penalty=0.05, steps=300, thin=10, nonnegative=(0, 1, 2)
    )
    assert (found.run.draws >= 0).all()


def test_coordinates_are_the_densitys_own() -> None:
    """Zero is zero wherever the flow starts."""
    found = steinmetz.sample(likelihood, jnp.full(3, 5.0), "l1flow", penalty=0.5, steps=3000)
    assert np.mean(found.draws[:, 2] == 0) > 0.95
    with pytest.raises(pydantic.ValidationError, match="coordinates of the density itself"):
        l1flow.Config(whiten=True)


def test_a_real_law_is_carved_and_sampled_at_once() -> None:
    """The whole network of the Gent data: most weights are exactly zero, and the laws predict."""
    weights = steinmetz.network_likelihood(
        steinmetz.study("hyperelasticity", {"potential.name": "icnn", "potential.widths": [6, 6]})
    )
    found = steinmetz.sample(
        weights.target, weights.start, "l1flow", particles=10, penalty=10.0, rate=0.1, steps=4000,
        nonnegative=weights.nonnegative,
    )  # fmt: skip
    assert np.mean(found.draws == 0) > 0.7
    signs = np.asarray(weights.network.nonnegative)
    assert (found.draws[:, signs] >= 0).all()
    laws = [weights.law(draw) for draw in found.draws[:3]]
    assert max(law.graph.size for law in laws) <= 20
    train = weights.problem.train
    for law in laws:
        predicted = np.einsum("nci,ni->nc", train.operator, law.slopes(train.inputs))
        residual = np.sum((predicted - train.values) ** 2)
        assert 1 - residual / np.sum((train.values - train.values.mean(axis=0)) ** 2) > 0.95
    assert jax.config.read("jax_enable_x64")
