"""Expected log predictive density of data left out one by one, from draws of one posterior.

Pareto-smoothed importance sampling (Vehtari, Simpson, Gelman, Yao and Gabry 2024): draws of the
posterior of all data are weighted by one over the likelihood of the datum that is left out, and the
largest weights are replaced by quantiles of a generalised Pareto distribution fitted to them (Zhang
and Stephens 2009). Its shape k says whether the weights can be trusted. A datum is a tensor: all
components that were observed at one state.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from pydantic import Field

from steinmetz.records import Document

LogLikelihood = Float[np.ndarray, "draws data"]

# Shape up to which the estimate of a datum is reliable, with enough draws.
_RELIABLE = 0.7
# Draws in the tail below which nothing can be fitted.
_FEWEST = 5
# Prior of Zhang and Stephens, and that of k by Vehtari et al.: ten data with k = 0.5.
_SCALE = 3.0
_PRIOR = 10.0


class Density(Document):
    """Expected log predictive density by tensor, with the names of ArviZ."""

    elpd_loo: float = Field(description="sum over the fitted tensors, each left out in turn")
    se: float = Field(description="standard error of that sum")
    p_loo: float = Field(description="effective number of parameters")
    pareto_k: float | None = Field(description="largest shape; none where draws are too few")
    unreliable: int = Field(description="tensors whose shape is above the limit, or unknown")
    tensors: int
    elpd_test: float | None = Field(description="sum over the held-out tensors")
    test_tensors: int


class LeftOut(NamedTuple):
    """Per datum: its log predictive density without it, with it, and the shape k of its tail."""

    elpd: Float[np.ndarray, "data"]
    lpd: Float[np.ndarray, "data"]
    shape: Float[np.ndarray, "data"]


def summed(
    fitted: LogLikelihood,
    test: Float[np.ndarray, "draws held_out"] | None,
    temperature: float = 1.0,
) -> Density:
    """The record of a run."""
    left = leave_one_out(fitted, temperature)
    count, known = len(left.elpd), left.shape[np.isfinite(left.shape)]
    limit = min(_RELIABLE, 1 - 1 / np.log10(max(len(fitted), 2)))
    return Density(
        elpd_loo=float(left.elpd.sum()),
        se=float(np.sqrt(count * np.var(left.elpd))),
        p_loo=float((left.lpd - left.elpd).sum()),
        pareto_k=float(known.max()) if len(known) == count else None,
        unreliable=int(np.sum(~(left.shape <= limit))),
        tensors=count,
        elpd_test=None if test is None else float(log_mean(test).sum()),
        test_tensors=0 if test is None else test.shape[1],
    )


def leave_one_out(log_likelihood: LogLikelihood, temperature: float = 1.0) -> LeftOut:
    """log p(y_i | y_−i) of every datum; a tempered posterior leaves out a tempered datum."""
    elpd, shape = np.empty(log_likelihood.shape[1]), np.empty(log_likelihood.shape[1])
    for index, column in enumerate(log_likelihood.T):
        weights, shape[index] = smoothed(-column / temperature)
        elpd[index] = np.logaddexp.reduce(weights + column)
    return LeftOut(elpd, log_mean(log_likelihood), shape)


def log_mean(log_likelihood: LogLikelihood) -> Float[np.ndarray, "data"]:
    """Log of the mean over draws."""
    total = np.logaddexp.reduce(log_likelihood, axis=0)
    return np.asarray(total - np.log(len(log_likelihood)))


def smoothed(log_ratios: Float[np.ndarray, "draws"]) -> tuple[Float[np.ndarray, "draws"], float]:
    """Log weights that add up to one, the largest of them smoothed, and the shape k of their tail.

    Where the tail has too few draws, or they are all alike, weights are left as they are; k is then
    infinite, or minus infinity.
    """
    logs, count = log_ratios - np.max(log_ratios), len(log_ratios)
    tail = int(np.ceil(min(0.2 * count, 3 * np.sqrt(count))))
    order = np.argsort(logs, kind="stable")[-tail:]
    border = max(np.sort(logs)[-tail - 1], np.log(np.finfo(float).tiny)) if tail < count else 0.0
    order, shape = order[logs[order] > border], np.inf
    if np.ptp(logs) < 1e-12:
        shape = -np.inf
    elif len(order) >= _FEWEST:
        shape, scale = pareto_fit(np.exp(logs[order]) - np.exp(border))
        chances = (np.arange(len(order)) + 0.5) / len(order)
        quantiles = np.exp(border) + pareto_quantile(chances, shape, scale)
        logs = logs.copy()
        logs[order] = np.minimum(np.log(quantiles), 0.0)
    return logs - np.logaddexp.reduce(logs), float(shape)


def pareto_quantile(
    chances: Float[np.ndarray, "chances"], shape: float, scale: float
) -> Float[np.ndarray, "chances"]:
    """σ/k ((1 − p)^−k − 1), which is −σ log(1 − p) where k = 0."""
    logs = -np.log1p(-chances)
    if abs(shape) < 1e-12:
        return np.asarray(scale * logs)
    return np.asarray(scale * np.expm1(shape * logs) / shape)


def pareto_fit(excess: Float[np.ndarray, "tail"]) -> tuple[float, float]:
    """Shape k and scale σ of a generalised Pareto distribution, for rising positive numbers.

    Zhang and Stephens: a mean of b = −k/σ over a grid, weighted by the profile likelihood. The
    shape is drawn towards one half as by ten data (Vehtari et al.).
    """
    count = len(excess)
    grid = 30 + int(np.sqrt(count))
    quartile = excess[max(int(count / 4 + 0.5) - 1, 0)]
    b = 1 / excess[-1] + (1 - np.sqrt(grid / (np.arange(1, grid + 1) - 0.5))) / (_SCALE * quartile)
    shapes = np.mean(np.log1p(-b[:, None] * excess), axis=1)
    profile = count * (np.log(-b / shapes) - shapes - 1)
    weights = np.exp(profile - np.logaddexp.reduce(profile))
    mean = float(np.sum(b * weights))
    shape = float(np.mean(np.log1p(-mean * excess)))
    return (count * shape + _PRIOR * 0.5) / (count + _PRIOR), -shape / mean
