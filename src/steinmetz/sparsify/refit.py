"""Refit many small laws at once by Levenberg–Marquardt, with the graph as data (`padded`).

One compiled program serves all laws of a padded size: a search tries thousands of shapes, and a
compilation for each would take longer than everything else.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.data.quadratic import Quadratic, residuals
from steinmetz.potentials.law import Law
from steinmetz.records import Reference
from steinmetz.shapes import Count, Scalar, Theta
from steinmetz.sparsify.base import Mask
from steinmetz.sparsify.padded import Padded, Size, pad, padded_slopes

# No unconstrained parameter moves further than this in one step.
_LONGEST = 2.0
# A step that lowers χ² by less than this has converged …
_NOTHING = 1e-4
# … and so has one that lowers it by less than this share: rounding.
_ROUNDING = 1e-9
# Damping at the start, and what it is multiplied with after a step that lowers χ² or does not.
_DAMPING = 1e-2
_EASED = 0.2
_TIGHTENED = 4
# Laws are worked through in groups of this many, so that a short list costs little.
_GROUP = 8
# The smallest value of a positive parameter at the start of a refit.
_SMALLEST = 1e-6
# Keeps matrices regular where data say nothing about a parameter: added to the diagonal …
_REGULAR = 1e-9
# … and to what Marquardt scales the damping with.
_LEAST_CURVATURE = 1e-8

Three = tuple[Array, Array, Array]
Rows = Float[Array, "rows"]
# Parameters, damping, χ², residuals and their Jacobian (transposed).
Trial = tuple[Theta, Array, Scalar, Rows, Array]


class Objective(NamedTuple):
    """What refits minimise: χ² + ridge² ‖θ‖² in natural units.

    χ² is that of `quadratic` for laws normalised at `reference`; the ridge is one over the
    deviation of the Gaussian prior, which holds parameters that the data say nothing about.
    """

    quadratic: Quadratic
    reference: Reference
    ridge: float


class Candidate(NamedTuple):
    """A law, and the restart it came from; after a refit also how good it is.

    `misfit` is χ². `saliency` is what it would rise by if each parameter were removed, to second
    order and with the others fitted again; what follows the last parameter is padding.
    """

    law: Law
    origin: int
    misfit: float = np.inf
    saliency: Float[np.ndarray, "padded"] = np.zeros(0)

    @property
    def active(self) -> int:
        """Number of parameters."""
        return self.law.network.size


def _free(theta: Theta, signed: Mask) -> Theta:
    """Inverse of `_bound`."""
    positive = jnp.maximum(theta, _SMALLEST)
    return jnp.where(signed, positive + jnp.log(-jnp.expm1(-positive)), theta)


def _bound(free: Theta, signed: Mask) -> Theta:
    """Unconstrained numbers to parameters: softplus where the sign is fixed."""
    return jnp.where(signed, jax.nn.softplus(free), free)


def _levenberg_marquardt(function: Callable[[Theta], Rows], start: Theta, steps: int) -> Theta:
    """Damped Gauss–Newton with Marquardt's scaling, made to be mapped over many laws.

    (JᵀJ + μ diag JᵀJ) Δ = −Jᵀr; μ falls after a step that lowers Σ r², and rises after one that
    does not, which is taken back. Ends after `steps` trials, or when two accepted ones in a row
    gain next to nothing. Under `vmap` it compiles about twice as fast as a general solver
    (`benchmarks/refit.py`), and compilation is most of what a user waits for here.
    """
    basis = jnp.eye(start.size)

    def linearise(x: Theta) -> tuple[Rows, Array]:
        rows, push = jax.linearize(function, x)
        return rows, jax.vmap(push)(basis)

    def step(carry: tuple[Count, Count, Trial]) -> tuple[Count, Count, Trial]:
        index, still, (x, damping, cost, rows, jacobian) = carry
        normal = jacobian @ jacobian.T
        damped = normal + jnp.diag(damping * (jnp.diag(normal) + _LEAST_CURVATURE) + _REGULAR)
        move = -jax.scipy.linalg.solve(damped, jacobian @ rows, assume_a="pos")
        trial = x + jnp.clip(jnp.nan_to_num(move), -_LONGEST, _LONGEST)
        trial_rows, trial_jacobian = linearise(trial)
        trial_cost = jnp.sum(trial_rows**2)
        better = trial_cost < cost  # false for NaN: a failed trial is never taken
        gain = cost - trial_cost
        calm = jnp.where(gain < _NOTHING + _ROUNDING * cost, still + 1, 0)
        new = (trial, damping * _EASED, trial_cost, trial_rows, trial_jacobian)
        old = (x, damping * _TIGHTENED, cost, rows, jacobian)
        taken = jax.tree.map(lambda a, b: jnp.where(better, a, b), new, old)
        return index + 1, jnp.where(better, calm, still), taken

    rows, jacobian = linearise(start)
    first = (start, jnp.asarray(_DAMPING), jnp.sum(rows**2), rows, jacobian)
    carry = (jnp.zeros((), int), jnp.zeros((), int), first)
    return jax.lax.while_loop(lambda at: (at[0] < steps) & (at[1] < 2), step, carry)[2][0]


def _refit_one(padded: Padded, size: Size, objective: Objective, steps: int) -> Three:
    """Parameters, χ² and saliency of one law.

    Positive parameters are fitted as a softplus of free numbers. The saliency of parameter i is
    θᵢ²/[(JᵀJ)⁻¹]ᵢᵢ: the rise of χ² if it is set to zero and the others follow (the optimal brain
    surgeon of Hassibi and Stork).
    """
    quadratic, reference, ridge = objective
    real, signed = jnp.asarray(padded.real), jnp.asarray(padded.nonnegative)

    def stacked(theta: Theta) -> Rows:
        slope = padded_slopes(padded, size, reference, theta, quadratic.inputs)
        return jnp.concatenate([residuals(quadratic, slope).ravel(), ridge * theta])

    def bound(free: Theta) -> Theta:
        return jnp.where(real, _bound(free, signed), 0.0)

    start = _free(jnp.asarray(padded.values), signed)
    theta = bound(_levenberg_marquardt(lambda free: stacked(bound(free)), start, steps))
    jacobian = jax.jacfwd(stacked)(theta)
    curvature = jacobian.T @ jacobian + jnp.diag(jnp.where(real, _REGULAR, 1.0))
    saliency = theta**2 / jnp.diag(jnp.linalg.inv(curvature))
    misfit = jnp.sum(stacked(theta)[: -theta.size] ** 2) + quadratic.constant
    return theta, misfit, saliency


@eqx.filter_jit
def _refit(padded: Padded, groups: Count, size: Size, objective: Objective, steps: int) -> Three:
    """Refit the first `groups` groups of laws; the rest of the batch is padding."""

    def group(index: Count, done: Three) -> Three:
        first = index * _GROUP
        taken = jax.tree.map(lambda a: jax.lax.dynamic_slice_in_dim(a, first, _GROUP), padded)
        fitted = jax.vmap(lambda law: _refit_one(law, size, objective, steps))(taken)
        written: Three = jax.tree.map(
            lambda a, b: jax.lax.dynamic_update_slice_in_dim(a, b, first, 0), done, fitted
        )
        return written

    batch = padded.values.shape
    empty = (jnp.zeros(batch), jnp.zeros(batch[:1]), jnp.zeros(batch))
    fitted: Three = jax.lax.fori_loop(0, groups, group, empty)
    return fitted


def refit(
    starts: list[Candidate], size: Size, objective: Objective, steps: int, batch: int
) -> list[Candidate]:
    """Minimise the objective for every law in at most `steps` trials; those that end in numbers.

    `batch` is the number of laws to which the list is filled up: one compilation serves every list
    that is not longer.
    """
    laws, groups = [start.law for start in starts], -(-len(starts) // _GROUP)
    filled = laws + [laws[0]] * (max(-(-batch // _GROUP), groups) * _GROUP - len(laws))
    fitted = _refit(pad(filled, size), jnp.asarray(groups), size, objective, steps)
    candidates = []
    for start, values, misfit, saliency in zip(starts, *map(np.asarray, fitted), strict=False):
        if np.isfinite(misfit):
            graph, reference = start.law.network, start.law.reference
            law = Law(graph, jnp.asarray(values[: graph.size]), reference)
            candidates.append(Candidate(law, start.origin, float(misfit), saliency))
    return candidates
