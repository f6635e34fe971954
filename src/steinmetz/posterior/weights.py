"""Ways to average laws that may hold, on the same laws and data (method §5).

`structures.mixture` is the one that runs take, with bags, and without them Bayesian model averaging
as it is; others are here so that they can be compared (`steinmetz calibrate`). All are closed
forms. The unit that is left out is a tensor: with the evidence Z of all data and Z₋ᵢ of all but the
i-th, its density given the others is Z / Z₋ᵢ, which has the bounds of the coefficients in it. Laws
stay linearised where all data put them.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from steinmetz.posterior import structures
from steinmetz.posterior.structures import Gaussians, Part
from steinmetz.sparsify.written import Problem, Structure, Written

# Bayesian bootstraps of the scores of left-out tensors.
_BOOTSTRAPS = 1000
# Steps towards the best weights, and the score per tensor that may be missing at the end.
_STEPS, _MISSING = 5000, 1e-4

Weights = Float[np.ndarray, "laws"]
Scores = Float[np.ndarray, "laws data"]


class Candidates(NamedTuple):
    """Laws that may hold, the printed one first, each given all data and all but one tensor.

    The first bag of `posteriors` has all tensors, the bag 1 + i has all but the i-th.
    """

    laws: list[Structure]
    written: list[Written]
    posteriors: list[Gaussians]

    @classmethod
    def of(cls, laws: list[Structure], problem: Problem) -> "Candidates":
        """Posteriors and evidence of all laws."""
        data = len(problem.x)
        counts = np.concatenate([np.ones((1, data)), 1 - np.eye(data)])
        written = [law.written for law in laws]
        return cls(laws, written, [structures.gaussians(problem, law, counts) for law in written])

    @property
    def evidence(self) -> Float[np.ndarray, "laws bags"]:
        """Its logarithm, and that of the prior of the structure."""
        price = np.array([law.price for law in self.laws])
        return np.stack([each.evidence for each in self.posteriors]) - price[:, None] / 2

    @property
    def scores(self) -> Scores:
        """The log density of every tensor under every law, given all others."""
        found = self.evidence
        return np.asarray(found[:, :1] - found[:, 1:])

    def drawn(self, random: np.random.Generator, weights: Weights, draws: int) -> tuple[Part, ...]:
        """Draws given all data, each law with as many as its weight is worth."""
        due, parts = random.multinomial(draws, weights), []
        for number in np.argsort(-weights):
            if due[number]:
                bags = np.zeros(due[number], int)
                law = self.written[number], self.posteriors[number]
                theta = structures.drawn(random, *law, bags)
                parts.append(Part(self.laws[number].law, float(weights[number]), theta))
        return tuple(parts)


def single(random: np.random.Generator, candidates: Candidates) -> Weights:
    """The printed law alone."""
    return np.asarray(np.eye(len(candidates.laws))[0])


def stacked(random: np.random.Generator, candidates: Candidates) -> Weights:
    """Stacking: the weights under which left-out tensors are likeliest (Yao et al. 2018).

    There is no prior of structures in it; of laws that are nearly the same, few have any weight.
    """
    return best(candidates.scores)


def pseudo(random: np.random.Generator, candidates: Candidates) -> Weights:
    """Pseudo-BMA+: shares by the density of all left-out tensors (Yao et al. 2018).

    Averaged over Bayesian bootstraps of the tensors; no prior of structures here either.
    """
    scores = candidates.scores
    data = scores.shape[1]
    tensors = random.dirichlet(np.ones(data), _BOOTSTRAPS)
    return np.asarray(structures.shares(data * scores @ tensors.T).mean(axis=1))


WAYS: dict[str, Callable[[np.random.Generator, Candidates], Weights]] = {
    "single": single,
    "stacked": stacked,
    "pseudo-BMA+": pseudo,
}
"""Ways that weight posteriors given all data, by name."""


def best(scores: Scores) -> Weights:
    """The weights that maximise Σᵢ log Σₖ wₖ exp(scoreₖᵢ), by expectation and maximisation.

    The score is concave: a weight that is left out of nothing gains at most what the largest
    derivative exceeds one by, per tensor, and the steps end when that is little.
    """
    likely = np.exp(scores - scores.max(axis=0))
    weights = np.full(len(scores), 1 / len(scores))
    for _ in range(_STEPS):
        gain = np.mean(likely / (weights @ likely), axis=1)
        if gain.max() < 1 + _MISSING:
            break
        weights = weights * gain
    return np.asarray(weights / weights.sum())


class LeftOut(NamedTuple):
    """The law of most weight without a tensor, refitted without it: parts, and which tensor each.

    `order` has the tensor of every draw of the parts, one after the other.
    """

    parts: tuple[Part, ...]
    order: Int[np.ndarray, "data"]


def left_out(candidates: Candidates) -> LeftOut:
    """What jackknife+ needs: every tensor left out once, structure and parameters chosen anew."""
    chosen = np.argmax(candidates.evidence[:, 1:], axis=0)
    parts, order = [], []
    for number in np.unique(chosen):
        tensors, law = np.flatnonzero(chosen == number), candidates.written[number]
        least = np.concatenate([np.zeros(len(law.atoms)), law.least])
        mean = np.maximum(candidates.posteriors[number].mean[1 + tensors], least)
        share = len(tensors) / len(chosen)
        parts.append(Part(candidates.laws[number].law, share, law.parameters(mean)))
        order.append(tensors)
    return LeftOut(tuple(parts), np.concatenate(order))


def jackknife(
    predicted: Float[np.ndarray, "data *shape"],
    missed: Float[np.ndarray, "data *shape"],
    level: float,
) -> tuple[Float[np.ndarray, "*shape"], Float[np.ndarray, "*shape"]]:
    """Jackknife+ (Barber et al. 2021): borders for a new datum, from predictions without each one.

    `missed` is how far each prediction was from the datum it had not seen, at the size of the noise
    where the new one is. A new datum is inside with a probability of at least 1 − 2 (1 − level), if
    data and new one come from the same place; with fewer data than 1/(1 − level) borders are the
    outermost there are.
    """
    count = len(predicted)
    low, high = np.sort(predicted - missed, axis=0), np.sort(predicted + missed, axis=0)
    place = min(int(np.ceil(level * (count + 1))), count)
    return np.asarray(low[count - place]), np.asarray(high[place - 1])
