"""Sampling in round coordinates, or in the target's own; every method: see test_contract.py."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from steinmetz.errors import RunFailure
from steinmetz.infer import sampling, svgd
from steinmetz.infer.base import as_target
from steinmetz.infer.modes import Modes
from steinmetz.infer.sampling import Samples
from steinmetz.laplace import Laplace, LogDensity

from .targets import COVARIANCE, MEAN, gaussian, poisoned

LAPLACE = Laplace(jnp.asarray(MEAN), jnp.asarray(np.linalg.cholesky(COVARIANCE)))
MODES = Modes.single(LAPLACE)


def sampled(log_density: LogDensity = gaussian, **settings: object) -> Samples:
    choice = svgd.Config(particles=30, steps=40, **settings).chosen(2)
    return sampling.sample(jax.random.key(3), as_target(log_density), MODES, choice)


@pytest.mark.parametrize("whiten", [True, False])
def test_draws_are_in_the_targets_coordinates(whiten: bool) -> None:
    samples = sampled(whiten=whiten)
    assert samples.shape == (1, 30)
    assert (samples.method, samples.reason) == ("svgd", "asked for by name")
    np.testing.assert_allclose(
        samples.draws, LAPLACE.forward_all(jnp.asarray(samples.white[0])), atol=1e-12
    )
    seen = samples.white[0] if whiten else samples.draws
    np.testing.assert_array_equal(samples.run.particles, seen)


def test_the_start_is_the_approximation_itself() -> None:
    white, own = sampled(whiten=True).run.start, sampled(whiten=False).run.start
    np.testing.assert_allclose(LAPLACE.forward_all(jnp.asarray(white)), own, atol=1e-12)


def test_a_summary_in_two_lines() -> None:
    first, second = repr(sampled()).splitlines()
    assert first == "Samples: 30 draws × 2 parameters by svgd"
    assert second.startswith("  R-hat unknown, discrepancy ")
    assert second.endswith("; pass: all 4 checks")
    assert repr(sampled(rate=0.001)).endswith("; FAIL: at rest")


def test_lost_particles_are_a_failure_with_advice() -> None:
    with pytest.raises(RunFailure, match=r"particles met .*; try a smaller infer\.rate"):
        sampled(lambda x: poisoned(x + 8 - MEAN[0]))
