"""What a test would teach: how much narrower bands become, and which law holds (method §8).

Draws of the posterior over laws say what a test may show and what is to be known. The expected gain
about a stress field is that of the linear estimator of it from the test, which is exact where both
are Gaussian. Draws of laws that data do not tell apart differ by orders of magnitude, so stress is
measured by the inverse hyperbolic sine of itself over the noise: linear near zero, logarithmic far
away. The gain about the law is the expected fall of the entropy of the weights of laws, each law
Gaussian in what the test shows.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

# Draws below which laws are taken together, as one.
_FEWEST = 10
# Tests that are simulated.
_SIMULATED = 400
# Added to variances, relatively: draws may lie in a plane.
_RIDGE = 1e-9

Draws = Float[np.ndarray, "draws values"]
Wanted = Float[np.ndarray, "draws wanted"]
Tests = Float[np.ndarray, "tests values"]
Sizes = Float[np.ndarray, "values"]
Labels = Int[np.ndarray, "draws"]


class Gain(NamedTuple):
    """What a test is expected to teach.

    `field` is the mean fall of the logarithm of the deviation of the stresses that are to be known:
    bands become exp(−field) times as wide. `structure` is the expected fall of the entropy of the
    weights of laws, in nats, of `doubt` that there is.
    """

    field: float
    structure: float
    doubt: float


def bent(values: Draws, size: Sizes) -> Draws:
    """Stress on a scale that is linear up to `size` and logarithmic beyond."""
    return np.asarray(np.arcsinh(values / size))


def linear(wanted: Wanted, seen: Draws, deviation: Sizes) -> Float[np.ndarray, "wanted"]:
    """½ log of variance before over variance after the best linear estimate of every column."""
    target, shown = wanted - wanted.mean(axis=0), seen - seen.mean(axis=0)
    count = len(seen)
    before = np.mean(target**2, axis=0) + 1e-300
    spread = shown.T @ shown / count + np.diag(deviation**2)
    spread += _RIDGE * np.trace(spread) / len(spread) * np.eye(len(spread))
    together = shown.T @ target / count
    known = np.einsum("nm,nm->m", together, np.linalg.solve(spread, together))
    return np.asarray(-0.5 * np.log(np.maximum(1 - known / before, 1e-12)))


def structure(
    random: np.random.Generator, labels: Labels, seen: Draws, deviation: Sizes
) -> tuple[float, float]:
    """The expected fall of the entropy of the weights of laws, and that entropy."""
    names, counts = np.unique(labels, return_counts=True)
    kept = names[counts >= _FEWEST]
    groups = [labels == name for name in kept]
    rest = ~np.isin(labels, kept)
    groups += [rest] if rest.sum() >= _FEWEST else []
    if len(groups) < 2:
        return 0.0, 0.0
    weights = np.array([group.sum() for group in groups], float)
    weights /= weights.sum()
    inside = np.flatnonzero(np.any(groups, axis=0))
    drawn = random.choice(inside, _SIMULATED)
    tests = seen[drawn] + deviation * random.standard_normal((_SIMULATED, seen.shape[1]))
    likely = np.stack([_log_density(tests, seen[group], deviation) for group in groups], axis=1)
    posterior = likely + np.log(weights)
    posterior = np.exp(posterior - posterior.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    doubt = _entropy(weights)
    return max(0.0, float(doubt - np.mean(_entropy(posterior)))), float(doubt)


def _entropy(weights: Float[np.ndarray, "*tests laws"]) -> Float[np.ndarray, "*tests"]:
    return np.asarray(-np.sum(weights * np.log(np.maximum(weights, 1e-300)), axis=-1))


def _log_density(tests: Tests, seen: Draws, deviation: Sizes) -> Float[np.ndarray, "tests"]:
    """Of tests under the Gaussian of a law's draws, with noise on top."""
    away = seen - seen.mean(axis=0)
    spread = away.T @ away / len(away) + np.diag(deviation**2)
    root = np.linalg.cholesky(spread + _RIDGE * np.trace(spread) * np.eye(len(spread)))
    left = np.linalg.solve(root, (tests - seen.mean(axis=0)).T)
    return np.asarray(-0.5 * np.sum(left**2, axis=0) - np.log(np.diag(root)).sum())


def gain(
    random: np.random.Generator,
    labels: Labels,
    wanted: Wanted,
    seen: Draws,
    noise: tuple[float, float],
) -> Gain:
    """Of a test that shows `seen` under relative and absolute noise, about stresses `wanted`."""
    typical = np.median(np.abs(seen), axis=0)
    size = np.hypot(noise[0] * typical, noise[1]) + 1e-12 * (typical.max() + 1e-300)
    shown, deviation = bent(seen, size), size / np.hypot(np.median(seen, axis=0), size)
    target = bent(wanted, np.median(np.abs(wanted), axis=0) + 1e-300)
    found, doubt = structure(random, labels, shown, deviation)
    return Gain(float(np.mean(linear(target, shown, deviation))), found, doubt)
