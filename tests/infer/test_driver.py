"""The one driver: resuming to the bit, stopping, counting, and never averaging in what is not a number."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz import registry
from steinmetz.cache import Cache
from steinmetz.infer import driver, svgd
from steinmetz.infer.base import as_target
from steinmetz.infer.driver import Checkpoints

from .targets import gaussian, linear_model, sample

SHORT = {
    "svgd": {"particles": 12, "steps": 60},
    "l1flow": {"particles": 12, "steps": 60, "penalty": 0.1},
    "psvgd": {"particles": 12, "steps": 60, "basis": 20},
    "ssvgd": {"particles": 12, "warm_up": 30, "steps": 30, "thin": 5},
    "ssvn": {"particles": 12, "warm_up": 30, "steps": 30, "thin": 5},
    "auto": {"particles": 12, "warm_up": 30, "steps": 30, "thin": 5},
    "hmc": {"chains": 2, "warm_up": 20, "steps": 60, "thin": 5, "leapfrogs": 3},
    "nuts": {"chains": 2, "warm_up": 20, "steps": 60, "thin": 5},
}


def test_every_method_is_tested():
    assert set(SHORT) == set(registry.names("infer"))


@pytest.fixture(
    params=sorted(set(SHORT) - {"auto"})
)  # auto runs as the method it takes: see test_noisy.py
def method(request):
    return request.param, registry.load("infer", request.param), SHORT[request.param]


class Kill(KeyboardInterrupt):
    pass


def interrupted_at(step):
    def report(stage, done, total, **facts):
        if done >= step:
            raise Kill

    return report


def test_interrupted_and_resumed_is_uninterrupted_to_the_bit(method, tmp_path):
    name, module, settings = method
    target, _, _ = linear_model(3, 2)
    config = module.Config(**settings)
    start = target.centre + jax.random.normal(jax.random.key(7), (config.width, 3))

    def run(kept=None, report=lambda *a, **k: None):
        return driver.run(
            jax.random.key(0), module.build(target, config), start, config.schedule, report, kept
        )

    whole = run()
    for stop in (1, 17, 45):
        with pytest.raises(Kill):
            run(Checkpoints(Cache(tmp_path, name)), interrupted_at(stop))
    again = run(Checkpoints(Cache(tmp_path, name)))
    np.testing.assert_array_equal(again.draws, whole.draws)
    np.testing.assert_array_equal(again.direction, whole.direction)
    assert again.reason == whole.reason
    assert {key: value.tolist() for key, value in again.facts.items()} == {
        key: value.tolist() for key, value in whole.facts.items()
    }


def test_a_killed_run_goes_on_from_its_last_checkpoint(tmp_path, monkeypatch):
    """Nothing can be written at the moment of a kill; what was written before is enough."""
    whole = sample(svgd, gaussian, 2, particles=6, steps=80)
    monkeypatch.setattr(driver, "_CHECKPOINT", 0.0)

    def killed(stage, done, total, **facts):
        if done >= 30:
            raise SystemExit

    config, start = svgd.Config(particles=6, steps=80), jax.random.normal(jax.random.key(7), (6, 2))
    with pytest.raises(SystemExit):
        driver.run(
            jax.random.key(0),
            svgd.build(as_target(gaussian), config),
            start,
            config.schedule,
            killed,
            Checkpoints(Cache(tmp_path, "x")),
        )
    assert 0 < int(Cache(tmp_path, "x").get("infer")["number"]) < 30
    again = sample(svgd, gaussian, 2, particles=6, steps=80, cache=Cache(tmp_path, "x"))
    np.testing.assert_array_equal(again.draws, whole.draws)


def test_a_checkpoint_of_another_shape_or_a_damaged_one_is_left_alone(tmp_path):
    store = Cache(tmp_path, "x")
    with pytest.raises(Kill):
        driver.run(
            jax.random.key(0), svgd.build(as_target(gaussian), svgd.Config()), jnp.ones((4, 2)), svgd.Config(steps=50).schedule,
            interrupted_at(10), Checkpoints(store),
        )  # fmt: skip
    assert store.get("infer") is not None
    other = sample(svgd, gaussian, 2, particles=5, steps=50, cache=store)
    np.testing.assert_array_equal(
        other.draws, sample(svgd, gaussian, 2, particles=5, steps=50).draws
    )
    (piece,) = tmp_path.glob("*-infer.npz")
    content = bytearray(piece.read_bytes())
    content[len(content) // 2] ^= 1
    piece.write_bytes(bytes(content))
    assert store.get("infer") is None


def test_log_density_is_traced_at_most_twice(method):
    name, module, settings = method
    target, _, _ = linear_model(3, 2)
    traces = []

    def counted(x):
        traces.append(1)
        return target.log_density(x)

    if name == "psvgd":
        counted = target._replace(
            log_density=None, values_and_slopes=as_target(counted).values_and_slopes
        )
    sample(module, counted, 3, **settings)
    assert 1 <= len(traces) <= 2


def test_stops_early_and_says_so():
    found = sample(svgd, gaussian, 2, particles=20, steps=4000, tolerance=0.01)
    assert found.marks[-1] < 4000
    assert "below the tolerance" in found.reason


@pytest.mark.parametrize(("lost", "failed"), [(2, False), (3, True), (20, True)])
def test_more_than_a_tenth_lost_is_a_failure_with_their_numbers(lost, failed):
    start = jax.random.normal(jax.random.key(1), (20, 2)).at[:lost].set(jnp.nan)
    found = sample(svgd, gaussian, 2, position=start, particles=20, steps=40)
    assert found.failed == failed
    assert found.frozen == list(range(lost))
    if failed:
        assert (
            f"{lost} of 20 particles met a density or slope that was not finite (0, 1, 2"
            in found.reason
        )
        assert found.marks[-1] < 40


@pytest.mark.parametrize("name", ["svgd", "ssvgd", "ssvn"])
def test_a_thousand_injections_are_all_frozen_counted_and_without_effect(name):
    """Not-a-numbers in start, density or slope of random particles: they stay, are counted, and nobody feels them.

    Everything beyond 50 is poisoned ground: a density that is not a number to the right, a slope that is not one to
    the left, and starts that are not finite.
    """
    module = registry.load("infer", name)
    count, rounds = 8, {"svgd": 400, "ssvgd": 300, "ssvn": 300}[name]
    settings = {key: value for key, value in SHORT[name].items() if key != "particles"}
    sampler = module.build(as_target(_treacherous), module.Config(particles=count, **settings))

    @jax.jit
    def few_steps(start):
        state = sampler.init(jax.random.key(0), start)
        for number in range(3):
            state, info = sampler.step(jax.random.key(number), state)
        return state.particles, state.alive, info.frozen

    random = np.random.default_rng(0)
    for _ in range(rounds):
        start = random.normal(size=(count, 2))
        victims = random.choice(count, random.integers(1, count), replace=False)
        start[victims, random.integers(0, 2, len(victims))] = random.choice(
            [np.nan, np.inf, -np.inf, 60.0, -60.0], len(victims)
        )
        bad = ~np.isfinite(start).all(axis=1) | (np.abs(start) > 50).any(axis=1)
        particles, alive, frozen = few_steps(start)
        np.testing.assert_array_equal(np.asarray(alive), ~bad)
        assert int(frozen) == bad.sum() > 0
        assert np.isfinite(np.asarray(particles)).all()
        kept = np.isfinite(start).all(axis=1) & bad
        np.testing.assert_array_equal(np.asarray(particles)[kept], start[kept])
        assert np.abs(np.asarray(particles)[~bad]).max() < 20  # nobody was pulled towards a victim


def _treacherous(x):
    value = -0.5 * jnp.sum(x**2)
    return value + jnp.where(jnp.any(x > 50), jnp.nan, 0.0) + _without_slope(x)


@jax.custom_jvp
def _without_slope(x):
    """Zero, with a slope that is not a number where x < −50."""
    return 0.0 * jnp.sum(x)


@_without_slope.defjvp
def _its_slope(primals, tangents):
    (x,), (change,) = primals, tangents
    return _without_slope(x), jnp.sum(jnp.where(x < -50, jnp.nan, 0.0) * change)
