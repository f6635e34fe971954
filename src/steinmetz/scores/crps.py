"""Continuous ranked probability score of the predictive draws, mean over the observed cells.

Method §6.

E|X − y| − ½ E|X − X'|: how far the predictive distribution is from the datum, sharpness rewarded.
"""

import numpy as np

from steinmetz.assess.measures import crps
from steinmetz.scores.base import Judged


def score(judged: Judged) -> float | None:
    """The mean over all cells that count."""
    return float(np.mean(crps(judged.predictive, judged.values)[judged.observed]))
