"""Noise estimated with a law: against closed forms, and what is stated stays stated."""

import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.data.estimate import PER_CELL, Estimate, Grid, Noise, from_plain, to_plain
from steinmetz.data.linear import Linear
from steinmetz.data.noise import Level
from steinmetz.data.scoring import Score
from steinmetz.records import Observations

UNKNOWN = float("nan")


def rows(
    values: np.ndarray, relative: float | np.ndarray, absolute: float | np.ndarray
) -> Observations:
    """Data of one component, with noise that is not a number where it is to be estimated."""
    column = jnp.asarray(values)[:, None]
    return Observations(
        state=np.zeros((len(values), 1)),
        inputs=jnp.zeros((len(values), 1)),
        operator=jnp.ones((*column.shape, 1)),
        values=column,
        observed=jnp.ones(column.shape, bool),
        absolute=jnp.ones(column.shape) * absolute,
        relative=jnp.ones(column.shape) * relative,
        components=("P",),
    )


def straight(seed: int, relative: float, absolute: float, count: int = 300) -> Linear:
    """What a straight line through data of a straight line leaves, with noise of two parts."""
    random = np.random.default_rng(seed)
    x = random.uniform(0.05, 2, count)
    noise = relative * x * random.normal(size=count) + absolute * random.normal(size=count)
    return Linear(noise, x, np.stack([x, x**2], axis=1))


def sizes(grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    relative, constant = np.quantile(
        grid.drawn(np.random.default_rng(0), 2000), [0.05, 0.5, 0.95], axis=0
    ).T
    return relative, constant


def test_absolute_noise_has_the_posterior_of_restricted_likelihood() -> None:
    """Few data, many parameters: σ² is that of n − k degrees of freedom, not of n."""
    random = np.random.default_rng(1)
    count, size = 24, 6
    changes = random.normal(size=(count, size))
    noise = Noise.of(rows(np.ones(count), 0.0, UNKNOWN), None, False)
    error = 0.1 * random.normal(size=count)
    fit = changes @ np.linalg.lstsq(changes, error, rcond=None)[0]
    grid = noise.free.posterior(Linear(error - fit, np.ones(count), changes), 61)
    rest = float(np.sum((error - fit) ** 2))
    best = np.exp(grid.constant)
    density = -(count - size) * grid.constant - rest / (2 * best**2)
    density = density + np.log(best / (1 + (best / 0.1) ** 2))
    np.testing.assert_allclose(
        grid.weights[0] - grid.weights.max(), density - density.max(), atol=1e-6
    )


@pytest.mark.parametrize(("relative", "absolute"), [(0.1, 0.0), (0.2, 0.05), (0.05, 0.2)])
def test_both_parts_are_found(relative: float, absolute: float) -> None:
    noise = Noise.of(rows(np.ones(300), UNKNOWN, UNKNOWN), None, False)
    inside = []
    for seed in range(40):
        found = sizes(noise.free.posterior(straight(seed, relative, absolute), 41))
        inside.append([low <= true <= high for (low, _, high), true in zip(
            found, (relative, absolute or found[1][0]), strict=True
        )])  # fmt: skip
    assert 0.75 < np.mean(inside, axis=0)[0] <= 1  # 90 %, three standard errors of 40 data sets
    assert 0.75 < np.mean(inside, axis=0)[1] <= 1


def test_scoring_leads_to_the_likeliest_sizes_of_many_data() -> None:
    noise = Noise.of(rows(np.ones(20_000), UNKNOWN, UNKNOWN), None, False).free
    law, at = straight(0, 0.1, 0.05, 20_000), np.log([0.15, 0.03])
    halves = [
        (noise._replace(**{name: getattr(noise, name)[part] for name in PER_CELL}), part)
        for part in (slice(0, 10_000), slice(10_000, None))
    ]
    for _ in range(8):
        parts = (Score.of(own, Linear(*(each[part] for each in law)), at) for own, part in halves)
        at = at + Score.summed(parts).step
    assert np.exp(at) == pytest.approx(noise.posterior(law, 61).best, rel=5e-3)


def test_stated_parts_stay_as_they_are() -> None:
    absolute = np.where(np.arange(300) < 150, 0.3, UNKNOWN)[:, None]
    noise = Noise.of(rows(np.ones(300), 0.0, absolute), 0.02, False)
    random = np.random.default_rng(3)
    error = np.where(np.arange(300) < 150, 0.3, 0.05) * random.normal(size=300)
    grid = noise.posterior(Linear(error, np.ones(300), np.ones((300, 1))))
    assert len(grid.relative) == 1
    assert sizes(grid)[1][1] == pytest.approx(0.05, rel=0.2)


def test_a_discrepancy_is_estimated_where_no_absolute_noise_is() -> None:
    noise = Noise.of(rows(np.ones(300), UNKNOWN, 0.0), None, False)
    level = noise.level(0.1, 0.05)
    assert level == Level(0.05, 0.1)
    assert noise.level(0.1, 0.001).floor == pytest.approx(0.02)
    assert Noise.of(rows(np.ones(300), UNKNOWN, 0.0), 0.03, False).level(0.1, 0.0).floor == 0.03


def test_tails_keep_outliers_out_of_the_noise() -> None:
    law = straight(0, 0.1, 0.0)
    left = law.left.copy()
    left[:15] += 5.0
    noise = Noise.of(rows(np.ones(300), UNKNOWN, 0.0), None, True)
    plain = noise._replace(tails=False)
    bent = law._replace(left=left)
    assert sizes(noise.free.posterior(bent))[0][1] < 0.15
    normal = plain.free.posterior(bent).best
    assert max(normal) > 0.4


def test_plain_numbers_give_the_same_estimate() -> None:
    weights = jnp.asarray([[0.5, 1.0]])
    found = Estimate(Level(0.02, 0.1, 0.3), np.array([0.1, 0.2]), None, np.array([0.01]), weights)
    again = from_plain(to_plain(found))
    assert again.level == found.level
    assert again.absolute is None
    np.testing.assert_array_equal(again.relative, found.relative)
    np.testing.assert_array_equal(again.weights, weights)
    deviation = jnp.ones((1, 2))
    np.testing.assert_allclose(again.weighted(deviation), [[2**0.5, 1.0]])
