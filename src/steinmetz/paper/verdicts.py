"""Rules by which numbers of several seeds decide a claim: it holds, does not, or is undecided.

Two methods are compared seed by seed, because they share data and noise of a seed: what decides is
the 95 % interval (Student's t) of the mean of their differences. Scores that are positive are
compared by their logarithms, so that a difference is a factor. A bound is asked of every seed.
"""

from typing import Literal, NamedTuple

import numpy as np
from scipy.special import stdtrit

# Fewer seeds than this decide nothing.
FEWEST = 3
# Level of all intervals.
LEVEL = 0.95

Decision = Literal["holds", "does not hold", "undecided"]
RULE = (
    f"Arms are compared seed by seed: the {100 * LEVEL:g} % interval (Student's t) of the mean "
    "difference, of logarithms where all values are positive, must lie on the side that the paper "
    "says (holds) or on the other (does not hold); an interval that has both is undecided. A bound "
    "holds if every seed keeps it, does not hold if no seed of an arm does or the interval of its "
    f"mean lies beyond, and is undecided else. Fewer than {FEWEST} seeds decide nothing, and nor "
    "does an arm that has not converged. Bounds come from the words of the paper and are fixed "
    "before the run."
)


class Interval(NamedTuple):
    """Mean over seeds and its interval; not a number at the ends where there is one seed."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: np.ndarray) -> "Interval":
        """Student's t; no width where all values are the same."""
        mean, count = float(np.mean(values)), len(values)
        if count < 2:
            return cls(mean, np.nan, np.nan)
        half = float(stdtrit(count - 1, (1 + LEVEL) / 2) * np.std(values, ddof=1) / count**0.5)
        return cls(mean, mean - half, mean + half)


class Comparison(NamedTuple):
    """Differences a − b by seed; of logarithms, if `ratio`: their exponential is a factor."""

    differences: np.ndarray
    ratio: bool

    @classmethod
    def of(cls, a: np.ndarray, b: np.ndarray, ratio: bool = True) -> "Comparison":
        """By ratio only where it is wanted and all values are positive."""
        ratio = ratio and bool(np.all(a > 0) and np.all(b > 0))
        return cls(np.log(a) - np.log(b) if ratio else a - b, ratio)

    @property
    def interval(self) -> Interval:
        """Of the mean difference: of its exponential where it is of logarithms."""
        plain = Interval.of(self.differences)
        return Interval(*np.exp(plain).tolist()) if self.ratio else plain

    def words(self) -> str:
        """The mean difference with its interval, as a factor or as it is."""
        mean, low, high = self.interval
        kind = "ratio" if self.ratio else "difference"
        return f"{kind} {mean:.3g} ({low:.3g} to {high:.3g})"


def decided(values: np.ndarray) -> bool:
    """Whether these are numbers of enough seeds to decide anything."""
    return len(values) >= FEWEST and bool(np.all(np.isfinite(values)))


def below(compared: Comparison) -> Decision:
    """Whether a is smaller than b: its whole interval lies below zero."""
    if not decided(compared.differences):
        return "undecided"
    _, low, high = Interval.of(compared.differences)
    return "holds" if high < 0 else "does not hold" if low >= 0 else "undecided"


def alike(compared: Comparison, margin: float) -> Decision:
    """Whether a and b differ by at most a margin: a factor, or a difference where it is plain."""
    if not decided(compared.differences):
        return "undecided"
    _, low, high = Interval.of(compared.differences)
    most = float(np.log(margin)) if compared.ratio else margin
    inside, outside = -most <= low and high <= most, low > most or high < -most
    return "holds" if inside else "does not hold" if outside else "undecided"


def bounded(values: np.ndarray, bound: float, least: bool) -> Decision:
    """Whether every value reaches the bound (`least`), or none exceeds it."""
    if not decided(values):
        return "undecided"
    _, low, high = Interval.of(values)
    kept = values >= bound if least else values <= bound
    beyond = high < bound if least else low > bound
    if np.all(kept):
        return "holds"
    return "does not hold" if beyond or not np.any(kept) else "undecided"


def together(decisions: list[Decision]) -> Decision:
    """Of a claim with several parts: all must hold, and one that does not is enough."""
    if "does not hold" in decisions:
        return "does not hold"
    return "holds" if set(decisions) == {"holds"} else "undecided"
