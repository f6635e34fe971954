"""A posterior over laws: which terms, and which coefficients (method §5).

Given its terms, a law is linear in its coefficients and nearly so in its free constants, so that
posterior and evidence are Gaussian closed forms. No law need be exactly true: then one of several
that are almost as good takes all the weight by chance. So the posterior is averaged over bootstraps
of the data, whole tensors at a time (Huggins and Miller 2023): a structure has the weight with
which it is found again when the data are drawn anew. Where a law is true, its band is √2 times as
wide as it had to be.
"""

from typing import NamedTuple

import numpy as np
from jax.scipy.special import log_ndtr
from jaxtyping import Float

from steinmetz.potentials.law import Law
from steinmetz.sparsify.written import Problem, Structure, Written

# Data sets that are drawn from the data.
BAGS = 50
# Added to the diagonal of a precision, relatively: terms may be nearly the same.
_RIDGE = 1e-11
# Times that draws with a negative coefficient are drawn again before they are put to zero.
_TRIES = 50

Matrices = Float[np.ndarray, "bags parameters parameters"]
Rows = Float[np.ndarray, "bags parameters"]
Draws = Float[np.ndarray, "draws parameters"]


class Part(NamedTuple):
    """A law of the mixture: its weight, and draws of its parameters, as many as it is due."""

    law: Law
    weight: float
    theta: Draws


class Gaussian(NamedTuple):
    """The posterior of coefficients and free constants of one law, for every bag.

    `mean` and `root` (of the covariance) are those of the unconstrained Gaussian, `evidence` its
    logarithm, with the share of it that has no negative coefficient.
    """

    mean: Rows
    root: Matrices
    evidence: Float[np.ndarray, "bags"]


def mixture(
    random: np.random.Generator, laws: list[Structure], problem: Problem, draws: int
) -> tuple[Part, ...]:
    """The laws that are drawn, those of most weight first, with `draws` draws in all."""
    data = len(problem.x)
    counts = random.multinomial(data, np.full(data, 1 / data), size=BAGS).astype(float)
    written = [law.written for law in laws]
    every = [gaussian(problem, law, counts) for law in written]
    price = np.array([law.price for law in laws])
    weights = shares(np.stack([each.evidence for each in every]) - price[:, None] / 2)
    due = np.full(BAGS, draws // BAGS) + (np.arange(BAGS) < draws % BAGS)
    taken = np.stack(
        [random.multinomial(n, share) for n, share in zip(due, weights.T, strict=True)], axis=1
    )
    parts = []
    for number in np.argsort(-weights.mean(axis=1)):
        bags = np.repeat(np.arange(BAGS), taken[number])
        if bags.size:
            theta = drawn(random, written[number], every[number], bags)
            weight = float(weights[number].mean())
            parts.append(Part(laws[number].law, weight, theta))
    return tuple(parts)


def shares(logarithms: Float[np.ndarray, "laws bags"]) -> Float[np.ndarray, "laws bags"]:
    """Shares of every bag that add up to one."""
    weights = np.exp(logarithms - logarithms.max(axis=0))
    return np.asarray(weights / weights.sum(axis=0))


def gaussian(problem: Problem, law: Written, counts: Float[np.ndarray, "bags data"]) -> Gaussian:
    """Linearised at the law; the prior of a coefficient is what alone would explain the data.

    That of a free constant is as wide as its value; both are half-normal.
    """
    at, changes = law.vector, problem.changes(law)
    known = len(law.atoms)
    left = problem.target - changes[:, :known] @ at[:known]
    size = np.linalg.norm(problem.target) / np.linalg.norm(changes[:, :known], axis=0)
    prior = np.concatenate([size, at[known:]]) ** -2.0
    rows = changes.reshape(len(problem.x), -1, len(at))
    left = left.reshape(len(problem.x), -1)
    precision = np.einsum("bn,nri,nrj->bij", counts, rows, rows, optimize=True) + np.diag(prior)
    precision += np.diag(_RIDGE * np.einsum("bii->i", precision) / len(counts))
    pull = np.einsum("bn,nri,nr->bi", counts, rows, left, optimize=True)
    pull[:, :known] -= prior[:known] * at[:known]
    root = np.linalg.inv(np.linalg.cholesky(precision)).swapaxes(1, 2)
    move = np.einsum("bij,bkj,bk->bi", root, root, pull)
    misfit = counts @ np.sum(left**2, axis=1) + np.sum(prior[:known] * at[:known] ** 2)
    misfit -= np.sum(pull * move, axis=1)
    volume = np.log(np.abs(np.einsum("bii->bi", root))).sum(axis=1) + np.log(prior).sum() / 2
    mean, spread = at + move, np.sqrt(np.sum(root**2, axis=2))
    inside = np.asarray(log_ndtr(mean[:, :known] / spread[:, :known])).sum(axis=1)
    return Gaussian(mean, root, -misfit / 2 + volume + known * np.log(2) + inside)


def drawn(
    random: np.random.Generator, law: Written, posterior: Gaussian, bags: np.ndarray
) -> Draws:
    """Parameters of the law, a draw for every bag that is asked for.

    Those outside their bounds are drawn again.
    """
    least = np.concatenate([np.zeros(len(law.atoms)), law.least])
    found, wrong = np.empty((len(bags), len(least))), np.arange(len(bags))
    for _ in range(_TRIES):
        some = bags[wrong]
        noise = random.standard_normal((len(some), len(least)))
        found[wrong] = posterior.mean[some] + np.einsum("nij,nj->ni", posterior.root[some], noise)
        wrong = wrong[np.any(found[wrong] <= least, axis=1)]
        if not wrong.size:
            break
    return law.parameters(np.maximum(found, least))
