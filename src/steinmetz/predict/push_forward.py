"""Push every draw through the law. Two distributions, never mixed (method §6).

*Push-forward*: the model output alone. *Posterior predictive*: the same with the noise of the
likelihood, which is observation noise and the discrepancy the model is allowed.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.data import noise, student
from steinmetz.pieces import pieces
from steinmetz.potentials.base import normalised_energy, slopes
from steinmetz.potentials.law import Law
from steinmetz.records import StressMap
from steinmetz.shapes import Theta

Pushed = Float[np.ndarray, "draws states components"]
# The relative and the absolute one, of cells or of draws.
Deviations = tuple[Float[Array, "..."], Float[Array, "..."]]
# Draws that are pushed forward at once: more do not go faster, and need memory.
_BATCH = 64
# Folded into a key: small numbers are those of its split, from which the noise is drawn.
_TAILS = 1000


@jax.jit
def _push(law: Law, draws: Array, at: StressMap) -> tuple[Array, Array]:
    def one(theta: Theta) -> tuple[Array, Array]:
        slope = slopes(law.graph, law.reference, theta, at.inputs)
        energy = jax.vmap(lambda x: normalised_energy(law.graph, law.reference, theta, x))(
            at.inputs
        )
        return at.stress(slope), energy

    pushed: tuple[Array, Array] = jax.lax.map(one, draws, batch_size=_BATCH)
    return pushed


def push_forward(
    law: Law, draws: Float[Array, "draws parameters"], at: StressMap
) -> tuple[Pushed, Float[np.ndarray, "draws states"]]:
    """Observed components and energy of every draw at every state."""
    values, energy = _push(law, jnp.asarray(draws), at)
    return np.asarray(values), np.asarray(energy)


def predictive(
    key: Array,
    pushed: Pushed,
    deviations: Deviations,
    discrepancy: float | Array,
    factor: noise.Draws,
) -> Pushed:
    """One observation per draw, state and component, with the noise of the likelihood.

    `deviations` are the relative and the absolute one, not a number where they were estimated,
    `discrepancy` what the law is allowed besides. `factor` is the noise of every draw: what it
    multiplies stated noise with, one unless that was sampled, and values of what was estimated.
    Draws are worked through in pieces; that changes no number.
    """
    found, each = np.empty(pushed.shape), pushed[0].size
    for some in pieces(len(pushed), each):
        place, own = (some.start * each, pushed.size), factor.some(some)
        relative, spread = _spread(deviations, discrepancy, own)
        if factor.tails:
            wide = student.factors(jax.random.fold_in(key, _TAILS), pushed[some].shape, *place)
            relative, spread = wide * relative, wide * spread
        found[some] = noise.draw(key, jnp.asarray(pushed[some]), relative, spread, place[0])
    return found


def _spread(deviations: Deviations, discrepancy: float | Array, factor: noise.Draws) -> Deviations:
    """The relative and the absolute deviation of draws, each times its factor."""
    relative, absolute = deviations
    own = jnp.asarray(factor.factor)[:, None, None]
    relative, absolute = _put(relative, factor.relative), _put(absolute, factor.absolute)
    if factor.discrepancy is not None:
        discrepancy = jnp.asarray(factor.discrepancy)[:, None, None]
    return own * relative, own * jnp.sqrt(absolute**2 + discrepancy**2)


def _put(cells: Float[Array, "..."], drawn: Float[np.ndarray, "draws"] | None) -> Array:
    """Deviations of every draw: that of the cell, or the drawn one where the cell has none.

    Where no cell has one, it is not repeated for all of them: that would need memory.
    """
    known = jnp.asarray(cells)
    if drawn is None:
        return known
    own, unknown = jnp.asarray(drawn)[:, None, None], jnp.isnan(known)
    return own if bool(jnp.all(unknown)) else jnp.where(unknown, own, known)
