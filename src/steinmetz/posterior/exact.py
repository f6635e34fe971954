"""The posterior of one law as it is: nonlinear in free constants, no coefficient negative.

The closed form of `structures` is linear in all parameters, and takes the share of it inside the
bounds as a product over coefficients. Here it proposes draws, inside the bounds one parameter after
another (Geweke, Hajivassiliou and Keane); their weights under the posterior as it is give its
evidence, and draws of it by resampling. Where a law has free constants, the posterior may be skew:
proposals are then moved to what was found, twice. Everything is numpy: nothing is compiled for a
structure.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import log_ndtr, logsumexp, ndtri_exp

from steinmetz.sparsify.written import Problem, Structure, Written

# Draws that measure an evidence, and those of every round before, from which proposals are moved.
_DRAWS, _BEFORE, _ROUNDS = 1000, 500, 2
# Share of the spread before that a moved proposal keeps at least, squared.
_KEPT = 0.1
# Proposals for every draw that is resampled.
_PROPOSED = 6
# Half of the proposals are so many times as wide: a law may have longer tails than its tangent.
_WIDER = 2.0
# Share of the draws that must count for a law to be resampled.
_ENOUGH = 0.1
# Numbers that are held at once, about.
_AT_ONCE = 4_000_000

Vectors = Float[np.ndarray, "draws parameters"]
Logarithms = Float[np.ndarray, "draws"]
Counts = Float[np.ndarray, "draws data"]


class Prior(NamedTuple):
    """Normal and cut off at the least values; `centre` and `deviation` are those without the cut.

    That of a coefficient is as wide as what alone would explain the data, that of a free constant
    as its fitted value, around which it lies (`Written.widths`).
    """

    centre: Float[np.ndarray, "parameters"]
    deviation: Float[np.ndarray, "parameters"]
    least: Float[np.ndarray, "parameters"]

    @classmethod
    def of(
        cls, problem: Problem, law: Written, changes: Float[np.ndarray, "rows parameters"]
    ) -> "Prior":
        """From what the coefficients of a law change."""
        known, fitted = len(law.atoms), law.vector[len(law.atoms) :]
        size = np.linalg.norm(problem.target) / np.linalg.norm(changes[:, :known], axis=0)
        none = np.zeros(known)
        return cls(
            np.concatenate([none, fitted]),
            np.concatenate([size, law.widths]),
            np.concatenate([none, law.least]),
        )

    @property
    def cut(self) -> float:
        """Logarithm of the share that lies inside the bounds."""
        return float(np.sum(log_ndtr((self.centre - self.least) / self.deviation)))

    def log_density(self, vectors: Vectors) -> Logarithms:
        """Of parameters inside the bounds."""
        away = (vectors - self.centre) / self.deviation
        alone = -(away**2) / 2 - np.log(self.deviation) - np.log(2 * np.pi) / 2
        return np.asarray(alone.sum(axis=1) - self.cut)


class Checked(NamedTuple):
    """Log evidence of a law: closed form, and by draws with its standard error.

    `effective` is the share of the draws that would do if they were of the posterior itself.
    """

    linear: float
    sampled: float
    error: float
    effective: float

    @property
    def difference(self) -> float:
        """By how much the closed form is too low."""
        return self.sampled - self.linear

    @property
    def good(self) -> bool:
        """Whether draws can be resampled."""
        return self.effective >= _ENOUGH


class Gaussian(NamedTuple):
    """Mean and root of the covariance, an upper triangle."""

    mean: Float[np.ndarray, "parameters"]
    root: Float[np.ndarray, "parameters parameters"]


class Known(NamedTuple):
    """What was found of a posterior: how far it lies from its closed form, and how wide it is."""

    checked: Checked
    shift: Float[np.ndarray, "parameters"]
    root: Float[np.ndarray, "parameters parameters"]


class Proposal(NamedTuple):
    """Gaussians that draws are proposed from, one for each."""

    mean: Vectors
    root: Float[np.ndarray, "draws parameters parameters"]

    @classmethod
    def repeated(cls, gaussian: Gaussian, count: int) -> "Proposal":
        """The same one many times."""
        mean, root = gaussian
        return cls(
            np.broadcast_to(mean, (count, *mean.shape)), np.broadcast_to(root, (count, *root.shape))
        )

    def drawn(
        self, random: np.random.Generator, least: Float[np.ndarray, "parameters"], wider: float
    ) -> tuple[Vectors, Logarithms]:
        """Draws inside the bounds, the last parameter first, with their log densities."""
        count, size = self.mean.shape
        scale = np.where(np.arange(count) % 2, wider, 1.0)
        away, found, bound = (np.zeros((count, size)) for _ in range(3))
        for place in reversed(range(size)):
            own = self.root[:, place, place]
            rest = np.sum(self.root[:, place, place + 1 :] * away[:, place + 1 :], axis=1)
            centre = self.mean[:, place] + rest
            bound[:, place] = (least[place] - centre) / own
            chance = np.log1p(-random.random(count)) + log_ndtr(-bound[:, place] / scale)
            away[:, place] = -scale * ndtri_exp(chance)
            found[:, place] = centre + own * away[:, place]
        narrow, wide = (self._density(away, bound, by) for by in (1.0, wider))
        return np.maximum(found, least), np.logaddexp(narrow, wide) - np.log(2)

    def _density(self, away: Vectors, bound: Vectors, scale: float) -> Logarithms:
        """Log density of draws so many deviations away, each above its bound."""
        own = scale * np.einsum("nii->ni", self.root)
        alone = -((away / scale) ** 2) / 2 - np.log(own) - np.log(2 * np.pi) / 2
        return np.asarray(np.sum(alone - log_ndtr(-bound / scale), axis=1))


class Exact(NamedTuple):
    """A law with the data and the prior of its parameters."""

    problem: Problem
    law: Structure
    written: Written
    prior: Prior

    @property
    def linear(self) -> bool:
        """Whether the law has no free constant: then its likelihood is Gaussian as it stands."""
        return len(self.written.atoms) == len(self.prior.centre)

    def log_posterior(self, vectors: Vectors, counts: Counts | None = None) -> Logarithms:
        """Logarithm of likelihood × prior, each datum counted as often as its draw says."""
        pieces = max(1, round(vectors.size * self.problem.factor[:, :, 0].size / _AT_ONCE))
        misfit = []
        for some in np.array_split(np.arange(len(vectors)), pieces):
            each = self._misfits(vectors[some])
            misfit.append(each.sum(axis=1) if counts is None else np.sum(counts[some] * each, 1))
        return np.asarray(self.prior.log_density(vectors) - np.concatenate(misfit) / 2)

    def _misfits(self, vectors: Vectors) -> Float[np.ndarray, "draws data"]:
        """χ² of every datum under every draw."""
        problem, reference = self.problem, self.problem.reference
        x = np.concatenate([problem.x, np.asarray(reference.point)[None]])
        slopes = self.law.law.terms.pushed(self.written.parameters(vectors), x)[0]
        rest = slopes[:, -1]
        slopes = slopes[:, :-1] - (rest - rest @ reference.responses)[:, None]
        rows = np.einsum("nri,dni->dnr", problem.factor, slopes, optimize=True)
        left = rows - problem.target.reshape(len(problem.x), -1)
        return np.asarray(np.sum(left**2, axis=2))

    def weighed(
        self, random: np.random.Generator, gaussian: Gaussian, count: int
    ) -> tuple[Vectors, Logarithms]:
        """Draws proposed by a Gaussian, and logarithms of their weights."""
        made = Proposal.repeated(gaussian, count)
        vectors, density = made.drawn(random, self.prior.least, 1.0 if self.linear else _WIDER)
        return vectors, self.log_posterior(vectors) - density

    def check(self, random: np.random.Generator, start: Gaussian, linear: float) -> Known:
        """The evidence of all data; `start` and `linear` are those of the closed form."""
        at = start
        for _ in range(0 if self.linear else _ROUNDS):
            at = _matched(at, *self.weighed(random, at, _BEFORE))
        _, logarithms = self.weighed(random, at, _DRAWS)
        weights = np.exp(logarithms - logarithms.max())
        effective = float(weights.sum() ** 2 / np.sum(weights**2) / _DRAWS)
        sampled = float(logsumexp(logarithms) - np.log(_DRAWS))
        error = float(np.sqrt(max(1 / effective - 1, 0.0) / _DRAWS))
        checked = Checked(linear, sampled, error, min(effective, 1.0))
        return Known(checked, at.mean - start.mean, at.root)

    def resampled(
        self,
        random: np.random.Generator,
        known: Known,
        means: Float[np.ndarray, "draws parameters"],
        counts: Counts,
    ) -> Vectors:
        """A draw for every mean and counts of data, out of several proposals around it."""
        centre = np.repeat(means + known.shift, _PROPOSED, axis=0)
        made = Proposal(centre, np.broadcast_to(known.root, (len(centre), *known.root.shape)))
        vectors, density = made.drawn(random, self.prior.least, _WIDER)
        often = np.repeat(counts, _PROPOSED, axis=0)
        logarithms = (self.log_posterior(vectors, often) - density).reshape(-1, _PROPOSED)
        taken = np.argmax(logarithms + random.gumbel(size=logarithms.shape), axis=1)
        return np.asarray(vectors.reshape(len(means), _PROPOSED, -1)[np.arange(len(means)), taken])


def _matched(before: Gaussian, vectors: Vectors, logarithms: Logarithms) -> Gaussian:
    """Mean and covariance of weighted draws."""
    weights = np.exp(logarithms - logsumexp(logarithms))
    mean = weights @ vectors
    away = vectors - mean
    covariance = away.T @ (weights[:, None] * away) + _KEPT * before.root @ before.root.T
    # An upper triangle R with R Rᵀ the covariance, as the closed form has it.
    return Gaussian(mean, np.linalg.cholesky(covariance[::-1, ::-1])[::-1, ::-1])
