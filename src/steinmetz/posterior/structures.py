"""A posterior over laws: which terms, and which coefficients (method §5).

Given its terms, a law is linear in its coefficients and nearly so in its free constants, so that
posterior and evidence are Gaussian closed forms. No law need be exactly true: then one of several
that are almost as good takes all the weight by chance. So the posterior is averaged over bootstraps
of the data, whole tensors at a time (Huggins and Miller 2023): a structure has the weight with
which it is found again when the data are drawn anew. Where a law is true, its band is √2 times as
wide as it had to be. The closed forms of the leading laws are checked by draws of their posteriors
as they are (`exact`); where a law has free constants, such draws are taken.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import log_ndtr

from steinmetz.posterior.exact import Checked, Exact, Gaussian, Known, Prior
from steinmetz.potentials.law import Law
from steinmetz.sparsify.written import Problem, Structure, Written

# Data sets that are drawn from the data.
BAGS = 50
# Added to the diagonal of a precision, relatively: terms may be nearly the same.
_RIDGE = 1e-11
# Laws of most weight whose closed forms are checked.
LEADING = 5
# Times that draws with a negative coefficient are drawn again before they are put to zero.
_TRIES = 50

Matrices = Float[np.ndarray, "bags parameters parameters"]
Rows = Float[np.ndarray, "bags parameters"]
Draws = Float[np.ndarray, "draws parameters"]


class Part(NamedTuple):
    """A law of the mixture: its weight, and draws of its parameters, as many as it is due.

    `checked` is its evidence by all data, of the laws of most weight.
    """

    law: Law
    weight: float
    theta: Draws
    checked: Checked | None = None


class Gaussians(NamedTuple):
    """The posterior of coefficients and free constants of one law, for every bag.

    `mean` and `root` (of the covariance) are those of the unconstrained Gaussian, `evidence` its
    logarithm, with the share of it that has no negative coefficient.
    """

    mean: Rows
    root: Matrices
    evidence: Float[np.ndarray, "bags"]


def mixture(
    random: np.random.Generator,
    laws: list[Structure],
    problem: Problem,
    draws: int,
    bags: int = BAGS,
) -> tuple[Part, ...]:
    """The laws that are drawn, those of most weight first, with `draws` draws in all.

    Without bags, the data are taken once, as they are: the posterior by evidence and price alone.
    """
    data = len(problem.x)
    counts = np.ones((1, data))
    if bags:
        counts = random.multinomial(data, np.full(data, 1 / data), size=bags).astype(float)
    written = [law.written for law in laws]
    every = [gaussians(problem, law, counts) for law in written]
    price = np.array([law.price for law in laws])
    weights = shares(np.stack([each.evidence for each in every]) - price[:, None] / 2)
    many = len(counts)
    due = np.full(many, draws // many) + (np.arange(many) < draws % many)
    taken = np.stack(
        [random.multinomial(n, share) for n, share in zip(due, weights.T, strict=True)], axis=1
    )
    parts, apart = list[Part](), random.spawn(1)[0]
    for rank, number in enumerate(np.argsort(-weights.mean(axis=1))):
        owners = np.repeat(np.arange(many), taken[number])
        if owners.size:
            law, posterior = _exact(problem, laws[number]), every[number]
            known = _known(apart, law) if rank < LEADING else None
            if law.linear or known is None or not known.checked.good:
                found = _rows(random, law.prior.least, posterior, owners)
            else:
                found = law.resampled(apart, known, posterior.mean[owners], counts[owners])
            weight, theta = float(weights[number].mean()), law.written.parameters(found)
            checked = None if known is None else known.checked
            parts.append(Part(laws[number].law, weight, theta, checked))
    return tuple(parts)


def _exact(problem: Problem, law: Structure) -> Exact:
    """A law with its posterior as it is."""
    written = law.written
    return Exact(problem, law, written, Prior.of(problem, written, problem.changes(written)))


def _known(random: np.random.Generator, law: Exact) -> Known:
    """The posterior by all data as it is, beside its closed form."""
    whole = gaussians(law.problem, law.written, np.ones((1, len(law.problem.x))))
    start = Gaussian(whole.mean[0], whole.root[0])
    return law.check(random, start, float(whole.evidence[0]))


def shares(logarithms: Float[np.ndarray, "laws bags"]) -> Float[np.ndarray, "laws bags"]:
    """Shares of every bag that add up to one."""
    weights = np.exp(logarithms - logarithms.max(axis=0))
    return np.asarray(weights / weights.sum(axis=0))


def gaussians(problem: Problem, law: Written, counts: Float[np.ndarray, "bags data"]) -> Gaussians:
    """Linearised at the law."""
    at, changes = law.vector, problem.changes(law)
    known, believed = len(law.atoms), Prior.of(problem, law, changes)
    left = problem.target - changes[:, :known] @ at[:known]
    prior = believed.deviation**-2.0
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
    inside = log_ndtr((mean - believed.least) / spread).sum(axis=1) - believed.cut
    return Gaussians(mean, root, -misfit / 2 + volume + inside)


def drawn(
    random: np.random.Generator, law: Written, posterior: Gaussians, bags: Int[np.ndarray, "draws"]
) -> Draws:
    """Parameters of a law by its closed form, a draw for every bag that is asked for."""
    least = np.concatenate([np.zeros(len(law.atoms)), law.least])
    return law.parameters(_rows(random, least, posterior, bags))


def _rows(
    random: np.random.Generator,
    least: Float[np.ndarray, "parameters"],
    posterior: Gaussians,
    bags: Int[np.ndarray, "draws"],
) -> Draws:
    """Coefficients and constants of every draw; those outside their bounds are drawn again."""
    found, wrong = np.empty((len(bags), len(least))), np.arange(len(bags))
    for _ in range(_TRIES):
        some = bags[wrong]
        noise = random.standard_normal((len(some), len(least)))
        found[wrong] = posterior.mean[some] + np.einsum("nij,nj->ni", posterior.root[some], noise)
        wrong = wrong[np.any(found[wrong] <= least, axis=1)]
        if not wrong.size:
            break
    return np.asarray(np.maximum(found, least))
