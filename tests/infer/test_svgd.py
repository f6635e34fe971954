"""SVGD on targets that are known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.infer import kernels, svgd
from steinmetz.infer.base import as_target

from .targets import COVARIANCE, MEAN, gaussian, poisoned, sample, skewed, standard


@pytest.mark.parametrize("optimiser", ["adam", "plain", "adagrad"])
def test_correlated_gaussian_mean_and_variance(optimiser: str) -> None:
    rate = {"adam": 0.1, "plain": 0.5, "adagrad": 0.3}[optimiser]
    found = sample(svgd, gaussian, 2, particles=300, steps=4000, optimiser=optimiser, rate=rate)
    np.testing.assert_allclose(found.particles.mean(axis=0), MEAN, atol=0.03)
    np.testing.assert_allclose(np.cov(found.particles.T), COVARIANCE, rtol=0.12)


@pytest.mark.parametrize(("kernel", "least"), [("rbf", 0.5), ("imq", 0.75), ("bilinear", 0.9)])
def test_variance_kept_by_each_kernel(kernel: str, least: float) -> None:
    """Five dimensions, 50 particles: every kernel loses variance, the bilinear one least."""
    found = sample(svgd, standard, 5, particles=50, steps=3000, kernel=kernel)
    variance = found.particles.var(axis=0).mean()
    assert least < variance < 1.02


def test_variance_grows_towards_the_truth_with_particles() -> None:
    ratios = []
    for particles in (5, 20, 100):
        found = sample(svgd, standard, 3, particles=particles, steps=3000)
        ratios.append(found.particles.var(axis=0).mean())
    assert ratios[0] < ratios[1] < ratios[2] < 1.05
    assert ratios[2] > 0.8


def test_skewed_target_has_the_right_mean() -> None:
    """A sign error in the repulsion or the slope shows here, not on a symmetric target."""
    from scipy.special import digamma, polygamma

    found = sample(svgd, skewed, 1, particles=300, steps=3000)
    assert found.particles.mean() == pytest.approx(digamma(3), abs=0.03)
    assert found.particles.var() == pytest.approx(polygamma(1, 3), rel=0.1)


def test_one_particle_climbs_to_the_mode() -> None:
    found = sample(svgd, gaussian, 2, particles=1, steps=3000, tolerance=1e-8)
    np.testing.assert_allclose(found.particles[0], MEAN, atol=1e-3)


def test_coincident_particles_stay_finite() -> None:
    found = sample(svgd, gaussian, 2, particles=8, steps=200, position=jnp.ones((8, 2)))
    assert np.isfinite(found.particles).all()
    assert found.alive.all()


def test_lost_particles_are_never_averaged_in() -> None:
    """The others move as if the lost ones had never been there."""
    start = jax.random.normal(jax.random.key(1), (40, 2)) * 0.3 + MEAN - 2
    bad = start.at[5].set(jnp.array([9.0, 9.0])).at[11].set(jnp.array([8.5, 0.0]))
    found = sample(svgd, poisoned, 2, steps=60, particles=40, position=bad)
    assert found.frozen == [5, 11]
    np.testing.assert_array_equal(found.particles[[5, 11]], np.asarray(bad)[[5, 11]])
    others = np.delete(np.asarray(start), [5, 11], axis=0)
    alone = sample(svgd, poisoned, 2, steps=60, particles=38, position=jnp.asarray(others))
    np.testing.assert_allclose(
        np.delete(found.particles, [5, 11], axis=0), alone.particles, atol=1e-9
    )


def test_order_of_particles_and_shift_of_target_do_not_matter() -> None:
    start = jax.random.normal(jax.random.key(3), (16, 2))
    order = np.random.default_rng(0).permutation(16)
    plain = sample(svgd, gaussian, 2, particles=16, steps=50, position=start).particles
    shuffled = sample(svgd, gaussian, 2, particles=16, steps=50, position=start[order]).particles
    np.testing.assert_allclose(shuffled, plain[order], atol=1e-9)
    moved = sample(
        svgd, lambda x: gaussian(x - 5), 2, particles=16, steps=50, position=start + 5
    ).particles
    np.testing.assert_allclose(moved, plain + 5, atol=1e-9)


def test_bandwidth_follows_particles_that_jump() -> None:
    """Nothing is carried over from the last step."""
    sampler = svgd.build(as_target(lambda x: -0.5 * x @ x), svgd.Config(particles=30, refresh=1))
    key, x = jax.random.key(0), jax.random.normal(jax.random.key(6), (30, 2))
    state = sampler.step(key, sampler.init(key, x))[0]
    for factor in (1e6, 1e-9):
        moved = state._replace(particles=factor * x)
        expected = kernels.bandwidth(moved.particles, moved.alive)
        assert float(sampler.step(key, moved)[0].bandwidth) == float(expected)


def test_steps_follow_the_falling_rate() -> None:
    """One particle on an even slope goes as far as the rates sum up to."""
    gone = []
    for decay in (1.0, 0.01):
        found = sample(
            svgd, lambda x: x[0], 1, particles=1, steps=100, optimiser="plain", rate=0.01,
            decay=decay,
        )  # fmt: skip
        gone.append(float((found.particles - found.start)[0, 0]))
    config = svgd.Config(steps=100, rate=0.01, decay=0.01)
    summed = sum(float(config._falling(jnp.asarray(number))) for number in range(100))
    np.testing.assert_allclose(gone, [1.0, summed], rtol=1e-5)
    assert 0.55 < summed < 0.65  # half of the steps, and a fifth of the other half


def test_the_rate_is_held_for_half_of_the_steps_and_then_falls_to_its_share() -> None:
    config = svgd.Config(steps=100, rate=0.2, decay=0.01)
    rates = [float(config._falling(jnp.asarray(number))) for number in (0, 50, 75, 100)]
    np.testing.assert_allclose(rates, [0.2, 0.2, 0.02, 0.002], rtol=1e-6)


def test_a_direction_is_told_in_posterior_deviations_whatever_the_coordinates() -> None:
    """∇_v = rootᵀ ∇_u: the same slope per deviation, also where coordinates are not round."""
    root = jnp.array([[2.0, 0.0], [1.0, 0.1]])
    target = as_target(standard)
    slope = jnp.array([[1.0, 3.0]])
    np.testing.assert_allclose(target.in_deviations(slope), slope)
    np.testing.assert_allclose(target._replace(root=root).in_deviations(slope), slope @ root)
