"""How likely each datum is under each draw, for densities of data that are left out (method §6)."""

import numpy as np
from jaxtyping import Array, Float

from steinmetz.data import student
from steinmetz.potentials.law import Law
from steinmetz.predict.push_forward import push_forward
from steinmetz.records import Observations

# Numbers that are worked on at once: draws times cells.
_NUMBERS = 2**24


def log_likelihood(
    law: Law,
    draws: Float[np.ndarray, "draws parameters"],
    factor: Float[np.ndarray, "draws"],
    observations: Observations,
    deviation: Float[Array | np.ndarray, "data components"],
    tails: bool = False,
) -> Float[np.ndarray, "draws data"]:
    """log N(y; ŷ, s² sd²) summed over the observed components of a datum, for every draw.

    `factor` is s, what every draw multiplies the deviation with. With `tails`, errors are those of
    Student's t with the same scale.
    """
    at, values = observations.map, np.asarray(observations.values)
    observed, sd = np.asarray(observations.observed), np.asarray(deviation)
    most = max(1, _NUMBERS // values.size)
    found = []
    for first in range(0, len(draws), most):
        some = slice(first, first + most)
        spread = np.where(observed, factor[some, None, None] * sd, 1.0)
        r = (push_forward(law, draws[some], at)[0] - values) / spread
        cell = student.log_density(r) if tails else -0.5 * (r**2 + np.log(2 * np.pi))
        found.append(np.sum(np.where(observed, cell - np.log(spread), 0.0), axis=2))
    return np.concatenate(found)
