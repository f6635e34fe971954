"""What every sampler must do, run for each file of the folder as soon as it exists.

Settings are small numbers for whatever of these a method has; nothing here names a method.
"""

import math
from collections.abc import Mapping
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from cases import defaults
from steinmetz import registry
from steinmetz.cache import Cache
from steinmetz.infer import driver, sampling
from steinmetz.infer.base import Capabilities, Settings, Target, as_target, build, settings_of
from steinmetz.infer.driver import Run
from steinmetz.infer.modes import Modes
from steinmetz.laplace import Laplace

from .targets import linear_model

SMALL = {
    "particles": 12, "chains": 2, "warm_up": 30, "steps": 60, "thin": 5, "leapfrogs": 3,
    "doublings": 5, "basis": 20, "penalty": 0.0, "content": 1.0,
}  # fmt: skip
LONGER = {**SMALL, "particles": 60, "chains": 4, "warm_up": 200, "steps": 600, "thin": 10}
DIMENSION = 3


def settings(name: str, numbers: Mapping[str, float] = SMALL) -> Settings:
    """Of the method that runs: for a choice, of the one it takes."""
    kind = settings_of(name)
    known = {key: value for key, value in numbers.items() if key in kind.model_fields}
    return kind(**known).chosen(DIMENSION).settings


# A choice runs as the method it takes, so it has nothing of its own to run.
RUN = [name for name in registry.names("infer") if settings(name).method == name]


@pytest.fixture(params=RUN)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("name", registry.names("infer"))
def test_settings_declare_what_applies(name: str) -> None:
    kind = settings_of(name)
    assert isinstance(kind.capabilities, Capabilities)
    assert defaults(kind).method == name
    assert all(field.description for key, field in kind.model_fields.items() if key != "method")
    assert settings(name).method in RUN
    for preset in getattr(registry.load("infer", name), "PRESETS", {}).values():
        kind(**preset)
    if not kind.capabilities.whitens:
        with pytest.raises(ValueError, match="coordinates of the density itself"):
            defaults(kind, whiten=True)


def test_a_correlated_gaussian_has_its_mean_and_facts(name: str) -> None:
    """Started two deviations off: every mean within five standard errors.

    Particles share their noise, so the error of snapshots is that of eight stretches of time.
    """
    target, mean, covariance = linear_model(DIMENSION, 6)
    deviation, root = np.sqrt(np.diag(covariance)), np.linalg.cholesky(covariance)
    start = Laplace(jnp.asarray(mean + 2 * deviation), jnp.asarray(root))
    chosen = settings(name, LONGER).chosen(DIMENSION)
    samples = sampling.sample(jax.random.key(0), target, Modes.single(start), chosen)
    can, facts = chosen.settings.capabilities, samples.run.facts
    allowed = 5 * deviation / chosen.settings.width**0.5
    if can.snapshots:
        stretches = samples.draws.reshape(-1, *samples.run.usable.shape[1:]).mean(axis=1)
        stretches = np.stack([part.mean(axis=0) for part in np.array_split(stretches, 8)])
        allowed = 5 * stretches.std(axis=0, ddof=1) / 8**0.5
        assert (allowed < deviation).all()
    assert (np.abs(samples.draws.mean(axis=0) - mean) < allowed).all()
    assert not can.divergences or "divergent" in facts
    assert can.acceptance is None or {"accepted", "tried"} <= set(facts)
    assert all(values.shape == (chosen.settings.width,) for values in facts.values())
    assert {check.name for check in samples.checks} >= {"finite particles", "Stein discrepancy"}


class Kill(KeyboardInterrupt):
    pass


def test_interrupted_and_resumed_is_uninterrupted_to_the_bit(name: str, tmp_path: Path) -> None:
    """And a whole run traces the density at most twice."""
    target, mean, _ = linear_model(DIMENSION, 2)
    config, traces = settings(name), []

    def counted(x: Array) -> Array:
        traces.append(1)
        return target.log_density(x)

    plain = as_target(counted)
    seen = target._replace(log_density=plain.log_density, values_and_slopes=plain.values_and_slopes)
    start = jnp.asarray(mean) + jax.random.normal(jax.random.key(7), (config.width, DIMENSION))

    def run(stop: float | None = None) -> Run:
        def report(stage: str, done: int, total: int, **facts: object) -> None:
            if stop is not None and done >= stop:
                raise Kill

        kept = driver.Checkpoints(Cache(tmp_path, "x")) if stop is not None else None
        sampler = build(seen, config)
        return driver.run(jax.random.key(0), sampler, start, config.schedule, report, kept)

    whole = run()
    assert 1 <= len(traces) <= 2
    for stop in (1, 17, 45):
        with pytest.raises(Kill):
            run(stop)
    again = run(stop=np.inf)
    np.testing.assert_array_equal(again.draws, whole.draws)
    np.testing.assert_array_equal(again.direction, whole.direction)
    assert again.reason == whole.reason
    assert {key: value.tolist() for key, value in again.facts.items()} == {
        key: value.tolist() for key, value in whole.facts.items()
    }


def test_injections_are_all_frozen_counted_and_without_effect(name: str) -> None:
    """Not-a-numbers in start, density or slope of random particles: a thousand over all methods.

    Everything beyond 50 is poisoned ground: a density that is not a number to the right, a slope
    that is not one to the left, and starts that are not finite. Who meets it stays where it is, is
    counted, and nobody feels it.
    """
    count, size = 8, DIMENSION
    sampler = build(
        _treacherous(size), settings(name, {**SMALL, "particles": count, "chains": count})
    )

    @jax.jit
    def few_steps(start: Array) -> tuple[Array, ...]:
        first = sampler.init(jax.random.key(0), start)
        step = lambda state, key: sampler.step(key, state)  # noqa: E731
        last, info = jax.lax.scan(step, first, jax.random.split(jax.random.key(1), 3))
        return first.particles, last.particles, last.alive, info.frozen[-1]

    random = np.random.default_rng(0)
    for _ in range(1000 // len(RUN) + 1):
        start = random.normal(size=(count, size))
        victims = random.choice(count, random.integers(1, count), replace=False)
        start[victims, random.integers(0, size, len(victims))] = random.choice(
            [np.nan, np.inf, -np.inf, 60.0, -60.0], len(victims)
        )
        bad = ~np.isfinite(start).all(axis=1) | (np.abs(start) > 50).any(axis=1)
        first, last, alive, frozen = map(np.asarray, few_steps(start))
        np.testing.assert_array_equal(alive, ~bad)
        assert frozen == bad.sum() > 0
        assert np.isfinite(last).all()
        np.testing.assert_array_equal(last[bad], first[bad])
        assert np.abs(last[~bad]).max() < 20  # nobody was pulled towards a victim


def _treacherous(size: int) -> Target:
    """A standard normal, half of it from the prior, with poisoned ground."""

    def half(x: Array) -> Array:
        return x * math.sqrt(0.5)

    def log_density(x: Array) -> Array:
        value = -0.5 * jnp.sum(x**2)
        slope: Array = _without_slope(x)
        return value + jnp.where(jnp.any(x > 50), jnp.nan, 0.0) + slope

    plain = as_target(log_density)
    draw = lambda key: jax.random.normal(key, (size,)) * 2**0.5  # noqa: E731
    return Target(plain.log_density, plain.values_and_slopes, half, half, draw, jnp.zeros(size))


@jax.custom_jvp
def _without_slope(x: Array) -> Array:
    """Zero, with a slope that is not a number where x < −50."""
    return 0.0 * jnp.sum(x)


@_without_slope.defjvp
def _its_slope(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (x,), (change,) = primals, tangents
    return _without_slope(x), jnp.sum(jnp.where(x < -50, jnp.nan, 0.0) * change)
