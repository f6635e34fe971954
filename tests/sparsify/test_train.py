"""Training along a path of penalties: what it must do, whatever the penalty."""

import threading
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import pytest

from cases import REFERENCE, Numbers, convex_network, weighted
from steinmetz.cache import Cache
from steinmetz.data.quadratic import misfit
from steinmetz.potentials.base import Narrowed, Network, slopes
from steinmetz.potentials.layered import Layered
from steinmetz.records import Observations
from steinmetz.sparsify import l0, train

SMALL = {"steps": 400, "stride": 100, "penalties": 3}


def grid_of(
    observations: Observations,
    trials: int = 3,
    widths: tuple[int, ...] = (4, 4),
    **settings: object,
) -> train.Grid:
    data, every = [weighted(observations)], [train.Trial(restart) for restart in range(trials)]
    config = l0.Config(**{**SMALL, **settings})
    return train.Grid(convex_network(widths), REFERENCE, data, [observations.cells], every, config)


def run(observations: Observations, **settings: Any) -> train.Trained:
    return train.train(jax.random.key(0), grid_of(observations, **settings))


def loss_of(network: Network, theta: Numbers, observations: Observations) -> float:
    """χ²/n of one network."""
    data = weighted(observations)
    slope = slopes(network, REFERENCE, jnp.asarray(theta), data.inputs)
    return float(misfit(data, slope)) / observations.cells


def test_misfit_is_that_of_the_returned_weights(observations: Observations) -> None:
    trained = run(observations, precision="float64")
    loss = loss_of(convex_network((4, 4)), trained.theta[1, 2], observations)
    assert trained.misfit[1, 2] == pytest.approx(loss, rel=1e-9)


@pytest.mark.parametrize(("steps", "stride"), [(1, 1), (5, 1), (9, 2), (400, 100)])
def test_any_number_of_steps_can_be_trained(
    observations: Observations, steps: int, stride: int
) -> None:
    """Between two looks there is at least one step; every penalty of the path is reached."""
    trained = run(observations, trials=1, steps=steps, stride=stride, penalties=3)
    assert trained.steps[-1] == steps + 2 * stride
    assert (np.diff(trained.steps) > 0).all()
    assert trained.steps[0] > 0
    assert trained.finite.all()
    assert trained.active.shape == (len(trained.steps), 1)


def test_same_key_same_network_however_the_grid_is_cut(observations: Observations) -> None:
    """Five networks make two blocks; the first block is the same when it is trained alone."""
    first, second = (run(observations, trials=5) for _ in range(2))
    np.testing.assert_array_equal(first.theta, second.theta)
    np.testing.assert_array_equal(first.theta[:, :4], run(observations, trials=4).theta)


def test_narrowing_changes_the_cost_and_not_what_is_returned(
    observations: Observations, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut-out units are dead: the narrow network's weights, put back, fit as well."""
    monkeypatch.setattr(train, "_WORTH_NARROWING", 0)
    seen, original = [], Layered.narrowed

    def narrowed(network: Layered, alive: npt.NDArray[np.bool_]) -> Narrowed | None:
        seen.append(network.widths)
        return original(network, alive)

    monkeypatch.setattr(Layered, "narrowed", narrowed)
    settings = {"steps": 1500, "penalty": (30.0, 300.0), "rate": 0.08}
    trained = run(observations, trials=2, widths=(16, 16), **settings)
    assert seen[0] == (16, 16)
    assert min(seen) < (16, 16)
    for trial in range(2):
        loss = loss_of(convex_network((16, 16)), trained.theta[-1, trial], observations)
        assert trained.misfit[-1, trial] == pytest.approx(loss, rel=1e-3)


def test_interrupt_keeps_finished_blocks_and_the_rest_is_done_later(
    observations: Observations, tmp_path: Path
) -> None:
    """The report raises what Ctrl-C raises, once a block is on disk."""
    key, grid, folder = jax.random.key(0), grid_of(observations, trials=12), tmp_path / "kept"
    whole = train.train(key, grid)

    def interrupt(stage: str, done: int, total: int, **facts: object) -> None:
        if list(folder.glob("*-block*.npz")):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train.train(key, grid, interrupt, Cache(folder, "this"))
    kept = sorted(path.name for path in folder.glob("*-block*.npz"))
    assert kept
    (folder / kept[0]).write_bytes(b"PK damaged")  # one of them must be trained again
    again = Cache(folder, "this")
    assert again.found
    np.testing.assert_array_equal(train.train(key, grid, cache=again).theta, whole.theta)
    assert threading.active_count() < 20


def test_hopeless_networks_stop_early(observations: Observations) -> None:
    """When every weight is gone, larger penalties are not tried."""
    trained = run(observations, trials=2, penalty=(1e5, 1e6), rate=0.08, warm_up=0.0)
    assert (trained.nonzero == 0).all()
    first = np.broadcast_to(trained.misfit[0], trained.misfit.shape)
    np.testing.assert_array_equal(trained.misfit, first)
    assert trained.steps[-1] == 600
