"""From a full network to one small law: gates → prune → trim → choose → refit."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.data import noise
from steinmetz.data.quadratic import Quadratic, compress, misfit
from steinmetz.errors import RunFailure
from steinmetz.nouns import Observations, Reference, Report, silent
from steinmetz.physics.observe import apply
from steinmetz.potentials.base import Network, slopes
from steinmetz.potentials.law import Law
from steinmetz.sparsify import gates
from steinmetz.sparsify.prune import fold_mirrors, prune
from steinmetz.sparsify.trim import Candidate, drop, free_inputs, polish, trim

_REWEIGHTINGS = 3


class Choice(NamedTuple):
    """One row of the table a law is chosen from: the best law of its size."""

    active: int
    misfit: float
    criterion: float
    law: Law


class Carved(NamedTuple):
    """The chosen law, the table it was chosen from and how the gates closed."""

    law: Law
    full: int
    chosen: int
    table: list[Choice]
    reason: str
    trained: gates.Trained
    pruned: list[int]
    deviation: Float[Array, "data components"]
    quadratic: Quadratic


def carve(
    key: Array,
    potential: Network,
    reference: Reference,
    observations: Observations,
    floor: float,
    prior: float,
    config: gates.Config,
    report: Report = silent,
) -> Carved:
    """The sparse law of the data. Weights on the output are trained in units of the modulus of the data."""
    scale = observations.modulus(reference)

    def scaled(prediction: Float[Array, "data components"]) -> Quadratic:
        quadratic = compress(observations, noise.deviation(observations, prediction, floor))
        return quadratic._replace(factor=quadratic.factor * scale)

    # No prediction yet: the noise of a datum is first judged by the datum itself.
    first = scaled(observations.values)
    trained = gates.train(key, potential, reference, first, observations.cells, config, report)
    graph = potential.graph()
    pruned = [prune(graph, theta, reference) for theta in trained.theta[trained.finite]]
    starts = [_cut(law, config.largest) for law in pruned if law.graph.size > 0]
    if not trained.finite.any():
        raise RunFailure("no restart stayed finite; lower sparsify.rate, or check the data for outliers")
    if not starts:
        raise RunFailure("every gate closed in every restart; lower sparsify.penalty or the noise")
    second = scaled(_pilot(potential, reference, trained.theta[trained.finite], first, observations) * scale)
    candidates = trim(starts, second, 1 / prior, free_inputs(graph), config.candidates, config.beam, report)
    if not candidates:
        raise RunFailure("no refit stayed finite; check the data for outliers, or raise noise.floor")
    table, chosen, reason = choose(candidates, observations.cells, config.evidence)
    law = chosen.law
    for _ in range(_REWEIGHTINGS):
        law = polish(law, scaled(predict(law, observations) * scale), 1 / prior, config.candidates, config.beam)
    law = fold_mirrors(rescale(law, scale))
    deviation = noise.deviation(observations, predict(law, observations), floor)
    table = [row._replace(law=rescale(row.law, scale)) for row in table]
    sizes = [small.graph.size for small in pruned]
    return Carved(
        law, potential.size, chosen.active, table, reason, trained, sizes, deviation, compress(observations, deviation)
    )  # fmt: skip


def predict(law: Law, observations: Observations) -> Float[Array, "data components"]:
    """ŷ = B ∇Ψ̂ at the observed states."""
    return apply(observations.operator, law.slopes(observations.inputs))


@eqx.filter_jit
def _pilot(
    potential: Network, reference: Reference, theta: Float[Array, "restarts parameters"], quadratic: Quadratic,
    observations: Observations,
) -> Float[Array, "data components"]:  # fmt: skip
    """Prediction of the gated network that fits best: a first idea of the size of each datum's noise."""
    each = jax.vmap(lambda row: slopes(potential, reference, row, quadratic.inputs))(theta)
    best = jnp.argmin(jax.vmap(lambda slope: misfit(quadratic, slope))(each))
    return apply(observations.operator, each[best])


def rescale(law: Law, scale: float) -> Law:
    """The law whose Ψ is `scale` times this one."""
    unit = jnp.asarray(np.where(law.graph.output, scale, 1.0))
    return Law(law.graph, law.values * unit, law.reference)


def _cut(law: Law, largest: int) -> Law:
    """Drop the smallest weights of a law that is too rich to refit."""
    excess = law.graph.size - largest
    if excess <= 0:
        return law
    return drop(law, [int(index) for index in np.argsort(np.abs(np.asarray(law.values)))[:excess]])


def choose(candidates: list[Candidate], count: int, evidence: float) -> tuple[list[Choice], Choice, str]:
    """The smallest law whose Bayesian information criterion χ² + k log n is within `evidence` of the best."""
    price = float(np.log(count))
    table = []
    for active in sorted({candidate.active for candidate in candidates}):
        best = min((c for c in candidates if c.active == active), key=lambda c: c.misfit)
        table.append(Choice(active, best.misfit, best.misfit + active * price, best.law))
    lowest = min(table, key=lambda row: row.criterion)
    chosen = next(row for row in table if row.criterion <= lowest.criterion + evidence)
    reason = f"{chosen.active} parameters: lowest BIC ({lowest.criterion:.1f})"
    if chosen.active != lowest.active:
        reason = (
            f"{chosen.active} parameters: BIC {chosen.criterion:.1f} is within {evidence:g} of the lowest, "
            f"{lowest.criterion:.1f} with {lowest.active}"
        )
    return table, chosen, reason
