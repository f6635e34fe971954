"""Push every draw through the law. Two distributions, never mixed (method §6).

*Push-forward*: the model output alone. *Posterior predictive*: the same with the noise of the
likelihood, which is observation noise and the discrepancy the model is allowed.
"""

import jax
import numpy as np
from jaxtyping import Array, Float

from steinmetz import host
from steinmetz.data import noise, student
from steinmetz.pieces import pieces
from steinmetz.potentials.base import normalised_energy, slopes
from steinmetz.potentials.law import Law
from steinmetz.potentials.mechanics import Terms
from steinmetz.records import StressMap
from steinmetz.shapes import Theta

Numbers = Array | np.ndarray
Pushed = Float[np.ndarray, "draws states components"]
# The relative and the absolute one, of cells or of draws.
Deviations = tuple[Float[Numbers, "..."], Float[Numbers, "..."]]
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
    law: Law, draws: Float[Numbers, "draws parameters"], at: StressMap
) -> tuple[Pushed, Float[np.ndarray, "draws states"]]:
    """Observed components and energy of every draw at every state.

    Laws composed of terms are written out by numpy: nothing is compiled for each of them.
    """
    if isinstance(law.graph, Terms):
        return _written_out(law, np.asarray(draws), at)
    values, energy = _push(law, draws, at)
    return np.asarray(values), np.asarray(energy)


def _written_out(
    law: Law, draws: Float[np.ndarray, "draws parameters"], at: StressMap
) -> tuple[Pushed, Float[np.ndarray, "draws states"]]:
    """The same of a law composed of terms, by numpy and in pieces."""
    inputs, operator = np.asarray(at.inputs), np.asarray(at.operator)
    states, components = operator.shape[:2]
    stress, energy = np.empty((len(draws), states, components)), np.empty((len(draws), states))
    for some in pieces(len(draws), states * components):
        slope, energy[some] = law.pushed(draws[some], inputs)
        stress[some] = np.einsum("sci,dsi->dsc", operator, slope, optimize=True)
    return stress, energy


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
    found, each, wider = np.empty(pushed.shape), pushed[0].size, host.folded(key, _TAILS)
    for some in pieces(len(pushed), each):
        place, own = (some.start * each, pushed.size), factor.some(some)
        relative, spread = _spread(deviations, discrepancy, own)
        if factor.tails:
            wide = np.asarray(student.factors(wider, pushed[some].shape, *place))
            relative, spread = wide * relative, wide * spread
        found[some] = noise.draw(key, pushed[some], relative, spread, place[0])
    return found


def _spread(deviations: Deviations, discrepancy: float | Array, factor: noise.Draws) -> Deviations:
    """The relative and the absolute deviation of draws, each times its factor."""
    relative, absolute = deviations
    own = factor.factor[:, None, None]
    relative, absolute = _put(relative, factor.relative), _put(absolute, factor.absolute)
    drawn = factor.discrepancy
    allowed = np.asarray(discrepancy) if drawn is None else drawn[:, None, None]
    return own * relative, own * np.sqrt(absolute**2 + allowed**2)


def _put(cells: Float[Numbers, "..."], drawn: Float[np.ndarray, "draws"] | None) -> np.ndarray:
    """Deviations of every draw: that of the cell, or the drawn one where the cell has none.

    Where no cell has one, it is not repeated for all of them: that would need memory.
    """
    known = np.asarray(cells)
    if drawn is None:
        return known
    own, unknown = drawn[:, None, None], np.isnan(known)
    return own if unknown.all() else np.where(unknown, own, known)
