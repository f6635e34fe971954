"""Root-mean-square error of the law: of the clean truth where it is known, else of the data."""

import numpy as np

from steinmetz.scores.base import Judged


def score(judged: Judged) -> float | None:
    """√ mean (ŷ − y)² over the observed cells, in the unit of the stress."""
    known = judged.values if judged.clean is None else judged.clean
    return float(np.sqrt(np.mean((judged.law - known)[judged.observed] ** 2)))
