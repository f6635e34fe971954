"""How well a target was sampled: discrepancy, variance, R-hat and effective draws (method §5).

The discrepancy is blind to the weights of separate modes, and the variance knows only the mode
whose Laplace approximation it is compared with; only R-hat of chains started apart sees several
modes.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Annotated

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from pydantic import BaseModel, BeforeValidator, ConfigDict

from steinmetz import host
from steinmetz.infer import kernels
from steinmetz.infer.base import Target
from steinmetz.infer.placement import rows as by_rows
from steinmetz.shapes import Particles, Scalar

# Most draws of which the discrepancy is taken: it costs their square.
_MOST = 1000
# Fewest snapshots from which chains are judged: split R-hat needs two in each half.
FEWEST_SNAPSHOTS = 4
# Fewest particles in a group that moves for itself.
_FEWEST_IN_GROUP = 4

Draws = Float[np.ndarray, "snapshots particles dimension"]


def _finite(value: object) -> object:
    """JSON has no infinity: a number that is not finite becomes null; the rest is judged later."""
    return None if isinstance(value, float | np.floating) and not np.isfinite(value) else value


def shown(value: float | None, form: str = ".3g") -> str:
    """A number for people."""
    return "unknown" if value is None else f"{value:{form}}"


# A number, or None where it is not finite or not known.
Number = Annotated[float | None, BeforeValidator(_finite)]


class Diagnostics(BaseModel):
    """Measured in coordinates in which the Laplace approximation is the standard normal.

    `discrepancy` is the KSD, `expected` its root mean square over as many exact draws of that
    normal. `variance` has the smallest and largest variance over coordinates, 1 where it is
    Laplace's, `mean_variance` is their mean. R-hat and effective draws (of the bulk and of the
    tails) are the worst over coordinates; None where there are too few snapshots to tell.
    """

    model_config = ConfigDict(frozen=True)
    discrepancy: Number
    expected: Number
    variance: tuple[Number, Number]
    mean_variance: Number
    r_hat: Number = None
    bulk: Number = None
    tail: Number = None

    def __str__(self) -> str:
        """R-hat and discrepancy, in a few words."""
        exact = f"(exact draws {shown(self.expected)})"
        return f"R-hat {shown(self.r_hat, '.3f')}, discrepancy {shown(self.discrepancy)} {exact}"


def discrepancy(x: Particles, slope: Particles, scale: float | Array = 1.0) -> Scalar:
    """KSD = (1/S² Σ_ij u(x_i, x_j))^½, IMQ kernel k = (1 + r²/c²)^(−½) (Gorham & Mackey 2017).

    u = s_i·s_j k + s_i·∇_y k + s_j·∇_x k + tr ∇_x∇_y k, s the slopes. With b = (1 +
    r²/c²)^(−3/2)/c²: ∇_y k = b (x − y), and the trace is b (D − 3 r²/(c² + r²)). Worked through in
    blocks.
    """
    x = (x - jnp.mean(x, axis=0)) / scale
    slope = slope * scale
    size = x.shape[1]
    inner = jnp.sum(x * slope, axis=1)

    def rows(block: Float[Array, "rows both"]) -> Float[Array, "rows"]:
        at, s = block[:, :size], block[:, size:]
        squared = kernels.squared_distances(at, x)
        root = jax.lax.rsqrt(1 + squared)
        b = root**3
        # s_i·(x_i − x_j) + s_j·(x_j − x_i)
        cross = jnp.sum(at * s, axis=1)[:, None] + inner[None, :] - s @ x.T - at @ slope.T
        u = (s @ slope.T) * root + b * cross + b * (size - 3 * squared * root**2)
        return jnp.sum(u, axis=1)

    total = jnp.sum(by_rows(rows, jnp.concatenate([x, slope], axis=1), len(x)))
    return jnp.sqrt(jnp.maximum(total, 0.0)) / len(x)


def examine(key: Array, target: Target, draws: Draws, groups: int = 1) -> Diagnostics:
    """All diagnostics of draws in whitened coordinates, from particles that fall into `groups`.

    For exact normal draws E u(x, x) = E‖∇log p‖² c² + D with c² = D, and u of different draws
    vanishes on average: the expected discrepancy is √((D² + D)/S).
    """
    size = draws.shape[2]
    flat = draws.reshape(-1, size)
    some = flat[:: -(-len(flat) // _MOST)]
    _, slope = jax.jit(target.values_and_slopes)(key, some)
    finite = np.isfinite(np.asarray(slope)).all(axis=1)
    some, slope = some[finite], np.asarray(slope)[finite]
    variance = flat.var(axis=0)
    chained = draws.shape[0] >= FEWEST_SNAPSHOTS and draws.shape[0] * draws.shape[1] > 1
    return Diagnostics(
        discrepancy=float(jax.jit(discrepancy)(some, slope, np.sqrt(size))),
        expected=np.sqrt((size * size + size) / len(some)),
        variance=(variance.min(), variance.max()),
        mean_variance=variance.mean(),
        **(between_particles(draws, groups) if chained else {}),
    )


@cache
def _measures() -> Callable[[Array], tuple[Array, Array, Array]]:
    """R-hat and both effective sizes as one program: one by one they take seconds to compile."""
    from blackjax import diagnostics

    return jax.jit(
        lambda x: (diagnostics.rhat(x), diagnostics.ess_bulk(x), diagnostics.ess_tail(x))
    )


@cache
def _r_hat() -> Callable[[Array], Array]:
    """R-hat alone."""
    from blackjax import diagnostics

    return jax.jit(diagnostics.rhat)


def group_of(particles: int, groups: int) -> Int[np.ndarray, "particles"]:
    """The group of every particle: pairs of neighbours, by turns; one group where they are few."""
    turns = groups if particles >= _FEWEST_IN_GROUP * groups else 1
    return np.arange(particles) // 2 % turns


def between_particles(draws: Draws, groups: int) -> dict[str, float]:
    """Rank-normalised split R-hat, bulk and tail effective draws of the worst coordinate.

    Particles are the chains (Vehtari et al. 2021). Coupled particles agree with each other also
    where all are wrong: for R-hat the draws of a whole group are then one chain, in order of time.
    """
    of = group_of(draws.shape[1], groups)
    with warnings.catch_warnings():  # of blackjax, about dtypes
        warnings.simplefilter("ignore")
        r_hat, bulk, tail = _measures()(host.held(draws.transpose(1, 0, 2)))
        if of.max() > 0:
            size = np.bincount(of).min()
            whole = [draws[:, of == one][:, :size].reshape(-1, draws.shape[2]) for one in set(of)]
            r_hat = _r_hat()(host.held(np.stack(whole)))
    return {"r_hat": float(np.max(r_hat)), "bulk": float(np.min(bulk)), "tail": float(np.min(tail))}
