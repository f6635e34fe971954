"""Scores: R², Wasserstein-1, coverage and CRPS, with bootstrap intervals (method §6, §8)."""

import numpy as np
from jaxtyping import Bool, Float

from steinmetz.pieces import cellwise, quantiles

Bands = dict[str, tuple[np.ndarray, np.ndarray]]
"""Lower and upper border of the central bands, by their level in per cent."""

LEVELS = ("50", "90", "95")
# Draws of an ensemble whose W1 is compared with that of others.
MEMBERS = 50
# Groups of so many draws over which it is averaged, at most.
_GROUPS = 8


def r2(
    prediction: Float[np.ndarray, "states components"],
    truth: Float[np.ndarray, "states components"],
    observed: Bool[np.ndarray, "states components"] | None = None,
) -> float | None:
    """1 − Σ(ŷ − y)²/Σ(y − ȳ_component)², pooled over components.

    None where the truth does not vary.
    """
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
    scores = {}
    for index, name in enumerate(names):
        column = slice(index, index + 1)
        score = r2(prediction[:, column], truth[:, column], seen[:, column])
        if score is not None:
            scores[name] = score
    return scores


def _means(truth: np.ndarray, seen: np.ndarray) -> np.ndarray:
    total = np.sum(np.where(seen, truth, 0.0), axis=0)
    return np.asarray(total / np.maximum(np.sum(seen, axis=0), 1))


def wasserstein(
    a: Float[np.ndarray, "first *shape"],
    b: Float[np.ndarray, "second *shape"],
    a_weights: Float[np.ndarray, "first"] | None = None,
    b_weights: Float[np.ndarray, "second"] | None = None,
) -> Float[np.ndarray, "*shape"]:
    """W1 = ∫ |CDF_a − CDF_b| of two samples along their first axis, of any two sizes.

    Weighted if asked.

    Both samples are sorted together; the difference of the two step functions is constant between
    neighbours.
    """
    if a_weights is None and b_weights is None and _commensurable(len(a), len(b)):
        return cellwise(lambda first, second: _between(_sorted(first), _sorted(second)), a, b)
    step = np.concatenate([_shares(len(a), a_weights), -_shares(len(b), b_weights)])

    def some(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        ordered, order = _together(first, second)
        return _area(ordered, step[order])

    return cellwise(some, a, b)


def _commensurable(first: int, second: int) -> bool:
    """Whether one number is a multiple of the other."""
    return max(first, second) % min(first, second) == 0


def _sorted(sample: Float[np.ndarray, "sample *shape"]) -> Float[np.ndarray, "*shape sample"]:
    """In order, along the last axis, where numbers that are compared stand together."""
    return np.sort(np.ascontiguousarray(np.moveaxis(sample, 0, -1)), axis=-1)


def _between(
    a: Float[np.ndarray, "*shape first"], b: Float[np.ndarray, "*shape second"]
) -> np.ndarray:
    """W1 = ∫ |quantile_a − quantile_b| of sorted samples, one size a multiple of the other."""
    few, many = (a, b) if a.shape[-1] < b.shape[-1] else (b, a)
    steps = many.reshape(*few.shape, -1)
    return np.asarray(np.mean(np.abs(steps - few[..., None]), axis=(-2, -1)))


def wasserstein_resampled(
    random: np.random.Generator,
    a: Float[np.ndarray, "first *shape"],
    b: Float[np.ndarray, "second *shape"],
    draws: int,
    groups: int | None = None,
) -> Float[np.ndarray, "draws *shape"]:
    """W1 of bootstrap samples of both, sorted once.

    A resampled member counts as often as it was drawn.

    `groups`: draws of `a` belong to so many particles, the last axis of (snapshots, particles);
    whole particles are drawn, because the snapshots of one are not independent.
    """
    ordered, order = _together(a, b)
    distances = []
    for _ in range(draws):
        count = len(a) if groups is None else groups
        drawn = np.tile(
            random.multinomial(count, np.full(count, 1 / count)), len(a) // count
        ) / len(a)
        other = random.multinomial(len(b), np.full(len(b), 1 / len(b))) / len(b)
        distances.append(_area(ordered, np.concatenate([drawn, -other])[order]))
    return np.stack(distances)


def _together(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    both = np.concatenate([a, b])
    order = np.argsort(both, axis=0, kind="stable")
    return np.take_along_axis(both, order, axis=0), order


def _shares(count: int, weights: np.ndarray | None) -> np.ndarray:
    return (
        np.full(count, 1 / count)
        if weights is None
        else np.asarray(weights, float) / np.sum(weights)
    )


def _area(ordered: np.ndarray, step: np.ndarray) -> np.ndarray:
    difference = np.cumsum(step, axis=0)[:-1]
    return np.asarray(np.sum(np.abs(difference) * np.diff(ordered, axis=0), axis=0))


def wasserstein_alike(
    a: Float[np.ndarray, "first *shape"], b: Float[np.ndarray, "second *shape"]
) -> Float[np.ndarray, "*shape"]:
    """W1 to a distribution as ensembles of 50 draws of `a` see it, however large `a` is.

    The W1 of samples is biased upwards, the more the smaller they are: where both distributions are
    the same, 50 draws are 0.18 deviations away from 500, and 2000 draws 0.07. So that ensembles of
    different sizes can be compared, a larger one is judged in up to eight groups of 50, neighbours
    in the order of the draws (particles of one snapshot), and the mean over them is given. The
    distance to one value has no such bias, and is that of all draws.
    """
    groups = len(a) // MEMBERS
    if groups < 2 or len(b) == 1:
        return wasserstein(a, b)
    taken = np.unique(np.linspace(0, groups - 1, _GROUPS).astype(int)) * MEMBERS
    groups_of_a = [a[start : start + MEMBERS] for start in taken]
    if not _commensurable(MEMBERS, len(b)):
        return np.asarray(np.mean([wasserstein(group, b) for group in groups_of_a], axis=0))
    ordered = _sorted(b)
    return np.asarray(np.mean([_between(_sorted(group), ordered) for group in groups_of_a], axis=0))


def crps(
    samples: Float[np.ndarray, "samples *shape"], values: Float[np.ndarray, "*shape"]
) -> np.ndarray:
    """Continuous ranked probability score E|X − y| − ½ E|X − X'|.

    W1 of a sample to one value, sharpness rewarded. The second mean is over pairs of different
    draws (Ferro 2014), so that the expected score does not depend on how many draws there are.
    """
    count = len(samples)
    weights = (2 * np.arange(1, count + 1) - count - 1) / (count * max(count - 1, 1))

    def some(drawn: np.ndarray, at: np.ndarray) -> np.ndarray:
        ordered = np.sort(drawn, axis=0)
        away = np.mean(np.abs(ordered - at), axis=0)
        return np.asarray(away - np.tensordot(weights, ordered, 1))

    return cellwise(some, samples, values[None])


def interval(
    random: np.random.Generator,
    values: Float[np.ndarray, "units *shape"],
    draws: int = 1000,
    level: float = 0.95,
    block: int = 1,
) -> tuple[Float[np.ndarray, "*shape"], Float[np.ndarray, "*shape"]]:
    """Percentile bootstrap interval of the mean over the first axis.

    Entries are independent; with `block`, they are neighbours on a path, and runs of so many are
    drawn as wholes (circular blocks), because an error of the law is shared by neighbours.
    """
    size = len(values)
    runs = -(-size // block)
    starts = random.integers(0, size, (draws, runs)) if block > 1 else None
    if starts is None:
        count = random.multinomial(size, np.full(size, 1 / size), size=draws) / size
    else:
        places = (starts[:, :, None] + np.arange(block)).reshape(draws, -1)[:, :size] % size
        count = np.stack([np.bincount(row, minlength=size) for row in places]) / size
    means = np.tensordot(count, values, 1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return np.asarray(low), np.asarray(high)


def run_length(values: Float[np.ndarray, "points"]) -> int:
    """How many neighbours on a path belong together: twice their correlation time.

    At least the cube root of the number of points, and at most a quarter of them.
    """
    size, time = len(values), correlation_time(values)
    return int(np.clip(np.ceil(max(2 * time, size ** (1 / 3))), 1, max(size // 4, 1)))


def correlation_time(values: Float[np.ndarray, "points"]) -> float:
    """1 + 2 Σ ρ_k over the first lags with a positive correlation ρ_k; 1 of numbers all alike."""
    size, centred = len(values), values - np.mean(values)
    if np.max(np.abs(centred)) <= 1e-12 * np.max(np.abs(values)):
        return 1.0
    covariance = np.fft.irfft(np.abs(np.fft.rfft(centred, 2 * size)) ** 2)[:size]
    share = covariance / covariance[0]
    end = int(np.argmax(share <= 0)) if np.any(share <= 0) else size
    return 1 + 2 * float(np.sum(share[1:end]))


def bands(samples: Float[np.ndarray, "samples *shape"]) -> Bands:
    """Lower and upper border of the central bands."""
    tails = [(1 - int(level) / 100) / 2 for level in LEVELS]
    ends = quantiles(samples, [end for tail in tails for end in (tail, 1 - tail)])
    return {level: (ends[2 * i], ends[2 * i + 1]) for i, level in enumerate(LEVELS)}


def coverage(
    samples: Float[np.ndarray, "samples states components"],
    values: Float[np.ndarray, "states components"],
    observed: Bool[np.ndarray, "states components"],
) -> dict[str, float | None]:
    """Share of the observed values inside the central 50, 90 and 95 % bands of the samples."""
    return shares(inside(samples, values, observed), observed)


def inside(
    samples: Float[np.ndarray, "samples states components"],
    values: Float[np.ndarray, "states components"],
    observed: Bool[np.ndarray, "states components"],
) -> dict[str, Bool[np.ndarray, "states components"]]:
    """Which observed values lie inside the central bands of the samples, by level."""
    found = {}
    for level, (low, high) in bands(samples[:, observed]).items():
        found[level] = np.zeros(observed.shape, bool)
        found[level][observed] = (values[observed] >= low) & (values[observed] <= high)
    return found


def shares(
    found: dict[str, Bool[np.ndarray, "states components"]],
    observed: Bool[np.ndarray, "states components"],
) -> dict[str, float | None]:
    """Shares of some of the observed values that lie inside, by level."""
    if not observed.any():
        return dict.fromkeys(LEVELS)
    return {level: float(np.mean(within[observed])) for level, within in found.items()}
