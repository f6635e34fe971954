"""What a score sees and how all of them are taken."""

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float

from steinmetz import registry


class Judged(NamedTuple):
    """A prediction beside what it is judged by: the validation path, else held-out rows.

    `pushed` are the draws of the law alone, `predictive` those with noise, `values` noisy data,
    `clean` the truth where it is known, `observed` the cells that count.
    """

    law: Float[np.ndarray, "states components"]
    pushed: Float[np.ndarray, "draws states components"]
    predictive: Float[np.ndarray, "draws states components"]
    values: Float[np.ndarray, "states components"]
    clean: Float[np.ndarray, "states components"] | None
    observed: Bool[np.ndarray, "states components"]


@runtime_checkable
class ScoreFile(Protocol):
    """What a file in `scores` defines."""

    def score(self, judged: Judged) -> float | None:
        """One number, in the unit of the stress unless its file says otherwise.

        None without data.
        """


def every(judged: Judged) -> dict[str, float | None]:
    """All scores by name."""
    if not judged.observed.any():
        return dict.fromkeys(registry.names("scores"))
    files = {name: registry.load_as("scores", name, ScoreFile) for name in registry.names("scores")}
    return {name: file.score(judged) for name, file in files.items()}
