"""Scores: R², Wasserstein-1 and coverage (method §6, §8)."""

import numpy as np
from jaxtyping import Bool, Float

LEVELS = ("50", "90", "95")


def r2(
    prediction: Float[np.ndarray, "states components"],
    truth: Float[np.ndarray, "states components"],
    observed: Bool[np.ndarray, "states components"] | None = None,
) -> float | None:
    """1 − Σ(ŷ − y)²/Σ(y − ȳ_component)², pooled over components; None where the truth does not vary."""
    seen = np.ones(truth.shape, bool) if observed is None else observed
    residual = float(np.sum(np.where(seen, prediction - truth, 0.0) ** 2))
    total = float(np.sum(np.where(seen, truth - _means(truth, seen), 0.0) ** 2))
    return 1 - residual / total if total > 0 else None


def r2_per_component(
    prediction: Float[np.ndarray, "states components"],
    truth: Float[np.ndarray, "states components"],
    names: tuple[str, ...],
    observed: Bool[np.ndarray, "states components"] | None = None,
) -> dict[str, float]:
    """R² of each component; those without variance are left out."""
    seen = np.ones(truth.shape, bool) if observed is None else observed
    found = {}
    for index, name in enumerate(names):
        column = slice(index, index + 1)
        score = r2(prediction[:, column], truth[:, column], seen[:, column])
        if score is not None:
            found[name] = score
    return found


def _means(truth: np.ndarray, seen: np.ndarray) -> np.ndarray:
    return np.sum(np.where(seen, truth, 0.0), axis=0) / np.maximum(np.sum(seen, axis=0), 1)


def wasserstein(
    a: Float[np.ndarray, "first *shape"], b: Float[np.ndarray, "second *shape"]
) -> Float[np.ndarray, "*shape"]:
    """W1 = ∫ |CDF_a − CDF_b| of two samples along their first axis, of any two sizes.

    Both samples are sorted together; the difference of the two step functions is constant between neighbours.
    """
    both = np.concatenate([a, b])
    order = np.argsort(both, axis=0, kind="stable")
    ordered = np.take_along_axis(both, order, axis=0)
    step = np.where(order < len(a), 1 / len(a), -1 / len(b))
    difference = np.cumsum(step, axis=0)[:-1]
    return np.asarray(np.sum(np.abs(difference) * np.diff(ordered, axis=0), axis=0))


def bands(samples: Float[np.ndarray, "samples *shape"]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Lower and upper border of the central bands."""
    borders = {}
    for level in LEVELS:
        tail = (1 - int(level) / 100) / 2
        low, high = np.quantile(samples, [tail, 1 - tail], axis=0)
        borders[level] = (low, high)
    return borders


def coverage(
    samples: Float[np.ndarray, "samples states components"],
    values: Float[np.ndarray, "states components"],
    observed: Bool[np.ndarray, "states components"],
) -> dict[str, float | None]:
    """Share of the observed values inside the central 50, 90 and 95 % bands of the samples."""
    if not observed.any():
        return dict.fromkeys(LEVELS)
    borders = bands(samples)
    return {
        level: float(np.mean(((values >= low) & (values <= high))[observed])) for level, (low, high) in borders.items()
    }
