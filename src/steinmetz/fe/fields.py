"""Displacements and stresses of all draws at the nodes: mean, deviation, quantiles, limits."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from steinmetz.fe.body import Body
from steinmetz.fe.problem import Problem
from steinmetz.fe.space import smoothing
from steinmetz.fe.work import Found, Group

# Components of the Cauchy stress that are kept, as indices and as names.
_PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
STRESSES = ("s11", "s22", "s33", "s12", "s13", "s23", "von Mises")


class Statistics(NamedTuple):
    """Of a quantity over draws: mean, standard deviation, and quantiles of the central band."""

    mean: np.ndarray
    sd: np.ndarray
    lower: np.ndarray
    median: np.ndarray
    upper: np.ndarray

    @classmethod
    def of(cls, draws: np.ndarray, level: float) -> "Statistics":
        """Over the first axis."""
        ends = [(1 - level) / 2, 0.5, (1 + level) / 2]
        low, middle, high = np.quantile(draws, ends, axis=0)
        return cls(draws.mean(axis=0), draws.std(axis=0), low, middle, high)


class Fields(NamedTuple):
    """At every node: displacement, stress (`STRESSES`), probability that a limit is exceeded.

    `anywhere` is the probability that the von Mises stress exceeds the limit at some node.
    """

    displacement: Statistics
    stress: Statistics
    exceeded: Float[np.ndarray, "nodes"] | None
    anywhere: float | None
    most: Float[np.ndarray, "draws"]


def fields(
    problem: Problem, groups: Sequence[Group], found: Found, level: float, limit: float | None
) -> Fields:
    """Statistics over the draws that were solved."""
    solved = np.flatnonzero(found.solved)
    stress = stresses(problem, groups, found)
    shape = (len(solved), *problem.space.mesh.points.shape)
    mises = stress[:, :, -1]
    over = None if limit is None else mises > limit
    return Fields(
        Statistics.of(found.u[solved].reshape(shape), level),
        Statistics.of(stress, level),
        None if over is None else over.mean(axis=0),
        None if over is None else float(over.any(axis=1).mean()),
        mises.max(axis=1),
    )


def stresses(
    problem: Problem, groups: Sequence[Group], found: Found
) -> Float[np.ndarray, "draws nodes components"]:
    """Cauchy stress and von Mises stress at the nodes, of every draw that was solved."""
    smooth, parts = smoothing(problem.space.mesh), []
    for number, group in enumerate(groups):
        body = Body.of(problem.space, group.substance)
        own = found.owner == number
        pairs = zip(group.theta, found.u[own], found.solved[own], strict=True)
        for theta, u, good in pairs:
            if good:
                parts.append(smooth @ _components(body.stress(theta, u)))
    every = np.stack(parts)
    return np.concatenate([every, _mises(every)[..., None]], axis=2)


def _components(stress: Float[np.ndarray, "points 3 3"]) -> Float[np.ndarray, "points 6"]:
    return np.stack([stress[:, i, j] for i, j in _PLACES], axis=1)


def _mises(s: Float[np.ndarray, "draws nodes 6"]) -> Float[np.ndarray, "draws nodes"]:
    """√(3/2 s:s) of the deviator."""
    normal = (
        (s[..., 0] - s[..., 1]) ** 2 + (s[..., 1] - s[..., 2]) ** 2 + (s[..., 2] - s[..., 0]) ** 2
    )
    return np.asarray(np.sqrt(normal / 2 + 3 * np.sum(s[..., 3:] ** 2, axis=-1)))
