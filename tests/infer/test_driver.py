"""The one driver: checkpoints, stopping, losses. Resuming to the bit: see test_contract.py."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cases import present
from steinmetz.cache import Cache
from steinmetz.infer import driver, svgd
from steinmetz.infer.base import as_target
from steinmetz.infer.driver import Checkpoints
from steinmetz.infer.schedule import Schedule
from steinmetz.records import Report

from .targets import gaussian, sample


class Kill(KeyboardInterrupt):
    pass


def interrupted_at(step: int) -> Report:
    def report(stage: str, done: int, total: int, **facts: object) -> None:
        if done >= step:
            raise Kill

    return report


def test_a_killed_run_goes_on_from_its_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing can be written at the moment of a kill; what was written before is enough."""
    whole = sample(svgd, gaussian, 2, particles=6, steps=80)
    monkeypatch.setattr(driver, "_CHECKPOINT", 0.0)

    def killed(stage: str, done: int, total: int, **facts: object) -> None:
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
    assert 0 < int(present(Cache(tmp_path, "x").get("infer"))["number"]) < 30
    again = sample(svgd, gaussian, 2, particles=6, steps=80, cache=Cache(tmp_path, "x"))
    np.testing.assert_array_equal(again.draws, whole.draws)


def test_a_checkpoint_of_another_shape_or_a_damaged_one_is_left_alone(tmp_path: Path) -> None:
    store = Cache(tmp_path, "x")
    sampler = svgd.build(as_target(gaussian), svgd.Config())
    start, schedule, stop = jnp.ones((4, 2)), Schedule(50), interrupted_at(10)
    with pytest.raises(Kill):
        driver.run(jax.random.key(0), sampler, start, schedule, stop, Checkpoints(store))
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


def test_stops_early_and_says_so() -> None:
    found = sample(svgd, gaussian, 2, particles=20, steps=4000, tolerance=0.01)
    assert found.marks[-1] < 4000
    assert "below the tolerance" in found.reason


@pytest.mark.parametrize(("lost", "failed"), [(2, False), (3, True), (20, True)])
def test_more_than_a_tenth_lost_is_a_failure_with_their_numbers(lost: int, failed: bool) -> None:
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


def test_places_halfway_are_those_of_the_steps_until_then_also_after_an_interrupt(
    tmp_path: Path,
) -> None:
    """A run of half as many steps ends there; how a run was cut into chunks changes nothing."""
    half = sample(svgd, gaussian, 2, particles=6, steps=40, tolerance=0.0)
    whole = sample(svgd, gaussian, 2, particles=6, steps=80, tolerance=0.0)
    np.testing.assert_array_equal(present(whole.halfway), half.particles)
    config = svgd.Config(particles=6, steps=80, tolerance=0.0)
    start = jax.random.normal(jax.random.key(7), (6, 2))
    kept, sampler = Checkpoints(Cache(tmp_path, "x")), svgd.build(as_target(gaussian), config)
    with pytest.raises(Kill):
        driver.run(
            jax.random.key(0), sampler, start, config.schedule, interrupted_at(60), kept
        )  # fmt: skip
    again = driver.run(jax.random.key(0), sampler, start, config.schedule, checkpoints=kept)
    np.testing.assert_array_equal(present(again.halfway), half.particles)
    moving = driver.run(jax.random.key(0), sampler, start, Schedule(80, thin=10))
    assert moving.halfway is None  # its snapshots say more
