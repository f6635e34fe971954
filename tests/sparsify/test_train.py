"""Training along a path of penalties: what it must do, whatever the penalty."""

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.cache import Cache
from steinmetz.data import noise
from steinmetz.data.quadratic import compress, misfit
from steinmetz.potentials import icnn
from steinmetz.potentials.base import slopes
from steinmetz.sparsify import l0, l1, train

SMALL = {"steps": 400, "stride": 100, "penalties": 3}


def setting(physics, observations, widths=(8, 8)):
    network = icnn.build(icnn.Config(widths=widths), physics.inputs, physics.conditions)
    return network, compress(observations, noise.deviation(observations, observations.values, 0.02))


def run(
    physics,
    observations,
    module=l0,
    trials=3,
    seed=0,
    widths=(8, 8),
    report=lambda *_, **__: None,
    store=None,
    **kw,
):
    network, quadratic = setting(physics, observations, widths)
    settings = module.Config(**{**SMALL, **kw})
    return network, train.train(
        jax.random.key(seed), network, module.build(settings), physics.reference, [quadratic], [observations.cells],
        [train.Trial(restart) for restart in range(trials)], settings, report, store,
    )  # fmt: skip


@pytest.mark.parametrize("module", [l0, l1])
def test_weights_go_away_as_the_penalty_grows_and_signs_hold(physics, observations, module):
    marks = []
    network, trained = run(
        physics, observations, module, penalty=(5.0, 300.0), rate=0.05,
        report=lambda stage, done, total, **facts: marks.append((done, total)),
    )  # fmt: skip
    assert trained.theta.shape == (3, 3, network.size)
    assert trained.finite.all()
    assert (trained.nonzero[-1] < trained.nonzero[0]).all()
    assert (trained.theta[..., np.array(network.nonnegative)] >= 0).all()
    assert marks[-1][0] == marks[-1][1]
    assert list(trained.steps[-1:]) == [400 + 2 * 100]


def test_misfit_is_that_of_the_returned_weights(physics, observations):
    network, trained = run(physics, observations, precision="float64")
    _, quadratic = setting(physics, observations)
    slope = slopes(network, physics.reference, jnp.asarray(trained.theta[1, 2]), quadratic.inputs)
    assert trained.misfit[1, 2] == pytest.approx(
        float(misfit(quadratic, slope)) / observations.cells, rel=1e-9
    )


def test_several_gate_draws_average_the_noise_of_a_step(physics, observations):
    """The loss of a step has the same mean, and with sixteen draws a sixteenth of the variance."""
    network, quadratic = setting(physics, observations, (4, 4))
    stacked = jax.tree.map(lambda a: a[None], quadratic)
    found = {}
    for draws in (1, 16):
        shared = train._Shared(
            l0.build(l0.Config(draws=draws)), physics.reference, stacked, jnp.array([480.0])
        )
        job = train._Job(network, shared, l0.Config(), narrowing=False)
        block = train._begin(jax.random.key(0), job, [train.Trial(0)])
        own = jax.tree.map(lambda a: a[0], block)
        one = jax.jit(
            lambda step, own=own, shared=shared: train._fit(network, shared, own.raw, own, step)
        )
        found[draws] = np.array([float(one(jnp.asarray(step))) for step in range(300)])
    spread = np.sqrt(found[1].var() / 300 + found[16].var() / 300)
    assert abs(found[1].mean() - found[16].mean()) < 5 * spread
    assert 8 < found[1].var() / found[16].var() < 32


def test_same_key_same_network_however_the_grid_is_cut(physics, observations):
    """Five networks make two blocks; the first block is the same when it is trained alone."""
    first, second = (run(physics, observations, trials=5, widths=(4, 4))[1] for _ in range(2))
    np.testing.assert_array_equal(first.theta, second.theta)
    alone = run(physics, observations, trials=4, widths=(4, 4))[1]
    np.testing.assert_array_equal(first.theta[:, :4], alone.theta)


def test_narrowing_changes_the_cost_and_not_what_is_returned(physics, observations, monkeypatch):
    """Cut-out units are dead: the narrow network's weights, put back, are a network that fits as well."""
    monkeypatch.setattr(train, "_WORTH_NARROWING", 0)
    seen = []
    original = train.narrow
    monkeypatch.setattr(
        train,
        "narrow",
        lambda network, *rest: seen.append(network.widths) or original(network, *rest),
    )
    network, trained = run(
        physics,
        observations,
        trials=2,
        widths=(16, 16),
        steps=1500,
        penalty=(30.0, 300.0),
        rate=0.08,
    )
    assert seen[0] == (16, 16)
    assert min(seen) < (16, 16)
    _, quadratic = setting(physics, observations, (16, 16))
    for trial in range(2):
        slope = slopes(
            network, physics.reference, jnp.asarray(trained.theta[-1, trial]), quadratic.inputs
        )
        assert trained.misfit[-1, trial] == pytest.approx(
            float(misfit(quadratic, slope)) / observations.cells, rel=1e-3
        )


def test_interrupt_keeps_finished_blocks_and_the_rest_is_done_later(
    physics, observations, tmp_path
):
    """The report raises what Ctrl-C raises, once a block is on disk."""
    whole = run(physics, observations, trials=12, widths=(4, 4))[1]
    store = Cache(tmp_path / "kept", "this")
    calls = []

    def interrupt(stage, done, total, **facts):
        calls.append(done)
        if list((tmp_path / "kept").glob("*-block*.npz")):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(physics, observations, trials=12, widths=(4, 4), report=interrupt, store=store)
    kept = {path.name for path in (tmp_path / "kept").glob("*-block*.npz")}
    assert kept
    (tmp_path / "kept" / sorted(kept)[0]).write_bytes(
        b"PK damaged"
    )  # one of them must be trained again
    again = Cache(tmp_path / "kept", "this")
    assert again.found
    _, resumed = run(physics, observations, trials=12, widths=(4, 4), store=again)
    np.testing.assert_array_equal(resumed.theta, whole.theta)
    assert threading.active_count() < 20


def test_hopeless_networks_stop_early(physics, observations):
    """When every weight is gone, larger penalties are not tried."""
    _, trained = run(
        physics, observations, trials=2, widths=(4, 4), penalty=(1e5, 1e6), rate=0.08, warm_up=0.0
    )
    assert (trained.nonzero == 0).all()
    np.testing.assert_array_equal(
        trained.misfit, np.broadcast_to(trained.misfit[0], trained.misfit.shape)
    )
    assert trained.steps[-1] == 600
