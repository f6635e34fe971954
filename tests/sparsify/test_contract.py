"""What every penalty keeps: found by the registry, tested the moment its file exists."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cases import REFERENCE, convex_network, defaults, weighted
from steinmetz import registry
from steinmetz.records import Observations
from steinmetz.sparsify.base import Penalty, PenaltyFile, penalty_file
from steinmetz.sparsify.train import Grid, Trial, train

NAMES = registry.names("sparsify")
NETWORK = convex_network((4, 4))
SIGNS = np.array(NETWORK.nonnegative)


@pytest.fixture(params=NAMES)
def method(request: pytest.FixtureRequest) -> PenaltyFile:
    return penalty_file(request.param)


def started(penalty: Penalty[Any], closed: bool = False) -> Any:
    """Raw variables at the start, and weights of either sign that they start from."""
    weights = NETWORK.initial(jax.random.key(0))
    mask = jnp.full(NETWORK.size, closed)
    return penalty.project(NETWORK, penalty.start(weights, mask, jax.random.key(1)))


@pytest.mark.parametrize("name", NAMES)
def test_file_defines_what_a_penalty_is(name: str) -> None:
    module = registry.load("sparsify", name)
    assert isinstance(module, PenaltyFile)
    assert module.Config().method == name
    assert module.TITLE
    assert 0 < module.RANGE[0] < module.Config().penalty[0]
    assert module.RANGE[1] > module.Config().penalty[1]
    for preset in module.PRESETS.values():
        settings = module.Config(**preset)
        assert {key: getattr(settings, key) for key in preset} == dict(preset)


def test_signs_are_kept_and_zeros_are_exact(method: PenaltyFile) -> None:
    """θ of a step and θ at test time; what is not zero is alive; what starts closed is nothing."""
    penalty = method.build(defaults(method.Config))
    raw = started(penalty)
    drawn = penalty.draw(NETWORK, raw, jnp.uint32(3), jnp.asarray(7))
    settled = np.asarray(penalty.settled(NETWORK, raw))
    assert (np.asarray(drawn)[SIGNS] >= 0).all()
    assert (settled[SIGNS] >= 0).all()
    assert (settled[~SIGNS] < 0).any()
    assert np.asarray(penalty.alive(raw))[settled != 0].all()
    assert not np.asarray(penalty.settled(NETWORK, started(penalty, closed=True))).any()


def test_price_is_least_where_all_is_closed_and_has_a_slope(method: PenaltyFile) -> None:
    penalty = method.build(defaults(method.Config))
    price, nothing = penalty.price(started(penalty)), penalty.price(started(penalty, closed=True))
    assert 0 <= float(nothing) < 0.1 * float(price)
    slope = jax.grad(penalty.price)(started(penalty, closed=True))
    assert all(np.isfinite(part).all() for part in jax.tree.leaves(slope))


def test_price_of_a_gaussian_prior_is_its_logarithm(method: PenaltyFile) -> None:
    """n/2 of λ (log n/n) Σ θ² is ½ Σ (θ/τ)²; other prices are not quadratic."""
    settings, n, penalty = defaults(method.Config), 480, 2.5
    theta = jnp.array([0.5, -2.0, 0.3])
    if not settings.gaussian_prior:
        raw = started(method.build(settings))
        twice = method.build(settings).price(jax.tree.map(lambda a: 2 * a, raw))
        assert float(twice) != pytest.approx(4 * float(method.build(settings).price(raw)), rel=1e-3)
        return
    loss = penalty * np.log(n) / n * float(method.build(settings).price(theta))
    deviation = settings.prior_deviation(penalty, n)
    assert n / 2 * loss == pytest.approx(0.5 * float(jnp.sum((theta / deviation) ** 2)), rel=1e-12)


def test_weights_go_away_as_the_penalty_grows_and_signs_hold(
    method: PenaltyFile, observations: Observations
) -> None:
    first, last = defaults(method.Config).penalty[0], method.RANGE[1]
    small = {"steps": 300, "stride": 200, "penalties": 2, "penalty": (first, last), "rate": 0.02}
    settings, marks = defaults(method.Config, **small), []
    grid = Grid(NETWORK, REFERENCE, [weighted(observations)], [480], [Trial(0), Trial(1)], settings)
    trained = train(jax.random.key(0), grid, lambda stage, *counts, **_: marks.append(counts))
    assert trained.theta.shape == (2, 2, NETWORK.size)
    assert trained.finite.all()
    assert (trained.nonzero[-1] < trained.nonzero[0]).all()
    assert (trained.theta[..., SIGNS] >= 0).all()
    assert marks[-1][0] == marks[-1][1]
    assert trained.steps[-1] == 500
