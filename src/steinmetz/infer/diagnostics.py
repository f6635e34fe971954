"""How well a target was sampled: kernelised Stein discrepancy, variance against Laplace, R-hat and effective draws."""

import warnings
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.infer import kernels
from steinmetz.infer.base import Target

# Most draws of which the discrepancy is taken, and fewest snapshots from which chains are judged.
_MOST, _FEWEST = 1000, 4


class Diagnostics(NamedTuple):
    """Measured in coordinates in which the Laplace approximation is the standard normal.

    `discrepancy` is the KSD, `expected` its root mean square over as many exact draws of that normal. `variance` has
    the smallest and largest variance over coordinates, 1 where it is Laplace's, `mean_variance` is their mean. R-hat
    and effective draws are the worst over coordinates; None where there are too few snapshots to tell.
    """

    discrepancy: float
    expected: float
    variance: tuple[float, float]
    mean_variance: float
    r_hat: float | None
    bulk: float | None
    tail: float | None


def discrepancy(
    x: Float[Array, "draws dimension"],
    score: Float[Array, "draws dimension"],
    scale: float | Array = 1.0,
) -> Float[Array, ""]:
    """KSD = (1/S² Σ_ij u(x_i, x_j))^½ with the IMQ kernel k = (1 + r²/c²)^(−½), in blocks (Gorham & Mackey 2017).

    u = s_i·s_j k + s_i·∇_y k + s_j·∇_x k + tr ∇_x∇_y k. With b = (1 + r²/c²)^(−3/2)/c²: ∇_y k = b (x − y), and the
    trace is b (D − 3 r²/(c² + r²)).
    """
    x = (x - jnp.mean(x, axis=0)) / scale
    score = score * scale
    both = jnp.concatenate([x, score], axis=1)
    size = x.shape[1]
    own = jnp.sum(x * score, axis=1)

    def rows(block: Float[Array, "rows both"]) -> Float[Array, "rows"]:
        at, slope = block[:, :size], block[:, size:]
        squared = kernels.squared_distances(at, x)
        root = jax.lax.rsqrt(1 + squared)
        b = root**3
        # s_i·(x_i − x_j) + s_j·(x_j − x_i)
        cross = jnp.sum(at * slope, axis=1)[:, None] + own[None, :] - slope @ x.T - at @ score.T
        u = (slope @ score.T) * root + b * cross + b * (size - 3 * squared * root**2)
        return jnp.sum(u, axis=1)

    total = jnp.sum(kernels.blocked(rows, both))
    return jnp.sqrt(jnp.maximum(total, 0.0)) / len(x)


def examine(
    key: Array, target: Target, draws: Float[np.ndarray, "snapshots particles dimension"]
) -> Diagnostics:
    """All diagnostics of draws in whitened coordinates."""
    size = draws.shape[2]
    flat = draws.reshape(-1, size)
    some = jnp.asarray(flat[:: -(-len(flat) // _MOST)])
    _, score = jax.jit(target.values_and_slopes)(key, some)
    finite = np.isfinite(np.asarray(score)).all(axis=1)
    some, score = some[finite], score[finite]
    variance = flat.var(axis=0)
    chained = draws.shape[0] >= _FEWEST and draws.shape[0] * draws.shape[1] > 1
    r_hat, bulk, tail = _chains(draws) if chained else (None, None, None)
    return Diagnostics(
        float(jax.jit(discrepancy)(some, score, jnp.sqrt(size))),
        float(
            np.sqrt((size * size + size) / len(some))
        ),  # E u(x, x) = E‖∇log p‖² c² + D, c² = D, over S
        (float(variance.min()), float(variance.max())),
        float(variance.mean()),
        r_hat,
        bulk,
        tail,
    )


@cache
def _measures() -> Callable[[Array], tuple[Array, Array, Array]]:
    """R-hat and both effective sizes as one program: one by one, their operations take seconds to compile."""
    from blackjax import diagnostics

    return jax.jit(
        lambda x: (diagnostics.rhat(x), diagnostics.ess_bulk(x), diagnostics.ess_tail(x))
    )


def _chains(
    draws: Float[np.ndarray, "snapshots particles dimension"],
) -> tuple[float, float, float]:
    """Rank-normalised split R-hat and bulk and tail effective sample size, worst coordinate (Vehtari et al. 2021)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = _measures()(jnp.asarray(draws.transpose(1, 0, 2)))
    r_hat, bulk, tail = (np.asarray(value) for value in found)
    return float(r_hat.max()), float(bulk.min()), float(tail.min())
