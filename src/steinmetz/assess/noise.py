"""The noise that was estimated with a law, in numbers and in words."""

import numpy as np
from jaxtyping import Float
from pydantic import Field

from steinmetz.data.estimate import Estimate
from steinmetz.records import Document

# The interval that is given, and the part of its upper end below which the lower says nothing.
_ENDS, _NOTHING = (0.05, 0.5, 0.95), 0.2


class Interval(Document):
    """A size with its 90 % interval."""

    median: float
    low: float = Field(description="below it lie 5 % of the posterior")
    high: float = Field(description="above it lie 5 % of the posterior")

    @property
    def words(self) -> str:
        """Such as '0.102 (0.094 – 0.111)', or 'at most 0.003' where it may be nothing."""
        if self.low < _NOTHING * self.high:
            return f"at most {self.high:.2g}"
        return f"{self.median:.3g} ({self.low:.3g} – {self.high:.3g})"


class Found(Document):
    """What was estimated of the noise; null where it was stated."""

    relative: Interval | None = Field(description="share of the stress")
    absolute: Interval | None = Field(description="in the unit of the stress")
    discrepancy: Interval | None = Field(
        description="what the law misses, as a share of the root-mean-square stress"
    )

    @property
    def sentence(self) -> str:
        """All parts with their intervals."""
        parts = {
            " of the stress": self.relative,
            " in the unit of the stress": self.absolute,
            " of the root-mean-square stress missed by the law": self.discrepancy,
        }
        return ", ".join(f"{part.words}{unit}" for unit, part in parts.items() if part is not None)


def found(estimate: Estimate) -> Found | None:
    """The noise of a carved law; None where all of it was stated."""
    if estimate.relative is None and estimate.absolute is None:
        return None
    return Found(
        relative=_interval(estimate.relative),
        absolute=_interval(estimate.absolute),
        discrepancy=_interval(estimate.floor),
    )


def _interval(draws: Float[np.ndarray, "draws"] | None) -> Interval | None:
    if draws is None:
        return None
    low, median, high = (float(value) for value in np.quantile(draws, _ENDS))
    return Interval(median=median, low=low, high=high)
