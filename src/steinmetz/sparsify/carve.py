"""From a full network to one small law: train → prune → trim → choose → refit (method §4).

Several networks are trained from random weights along a path of penalties; each is pruned exactly
where it is best; a search trims what is left, one parameter at a time; of the best laws of every
size one is chosen, and refitted under the noise that it predicts itself.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from steinmetz.cache import Cache
from steinmetz.data import noise
from steinmetz.data.estimate import Estimate
from steinmetz.data.quadratic import Quadratic, compress, misfit
from steinmetz.errors import InputError, RunFailure
from steinmetz.potentials.base import Network, slopes
from steinmetz.potentials.graph import Graph
from steinmetz.potentials.law import Law
from steinmetz.potentials.units import NaturalUnits
from steinmetz.records import Observations, Reference, Report, silent
from steinmetz.shapes import Cells, Particles, Points
from steinmetz.sparsify.base import Settings
from steinmetz.sparsify.choose import Choice
from steinmetz.sparsify.moves import Rules
from steinmetz.sparsify.prune import fold_mirrors, prune
from steinmetz.sparsify.refit import Candidate, Objective
from steinmetz.sparsify.search import Search, as_trained, searched
from steinmetz.sparsify.train import Grid, Trained, Trial, train
from steinmetz.sparsify.written import Structure

# Rounding of a predicted stress, in deviations of its noise, that training may have.
_ROUNDING = 0.05


class Task(NamedTuple):
    """What is carved out of what: a network, data, and the units in which both are near one.

    `deviation` is that of the Gaussian prior that holds refits, in natural units.
    """

    network: Network
    observations: Observations
    units: NaturalUnits
    deviation: float


class Restart(NamedTuple):
    """What became of one restart on the penalty of its path that was taken.

    `nonzero` counts as the paper does: weights that are not zero after gating or clamping. `pruned`
    counts the parameters of the exact pruned law.
    """

    penalty: float
    nonzero: int
    pruned: int


class Carved(NamedTuple):
    """The chosen law, the table it was chosen from and how the weights went away.

    `full` is the number of weights of the network, `steps` and `active` are the weights that were
    open over training, `deviation` is the noise of every datum judged at the law's prediction, and
    `quadratic` the residuals in units of it. `noise` is the discrepancy in it, and what was
    estimated of the noise. `structures` are all laws that may hold, where they are composed of
    terms.
    """

    law: Law
    full: int
    table: list[Choice]
    reason: str
    restarts: dict[int, Restart]
    steps: Int[np.ndarray, "marks"]
    active: Int[np.ndarray, "marks trials"]
    deviation: Cells
    quadratic: Quadratic
    noise: Estimate
    structures: tuple[Structure, ...] = ()

    @property
    def chosen(self) -> Choice:
        """The row of the table whose law was taken."""
        return next(row for row in self.table if row.active == self.law.graph.size)


def carve(
    key: Array, task: Task, settings: Settings, report: Report = silent, cache: Cache | None = None
) -> Carved:
    """The sparse law of the data, and the table of laws it was chosen from.

    Everything up to the table is in natural units; laws leave it in the units of the data, with one
    form for mirror twins. Blocks of networks and the finished search are kept in `cache`. A failed
    training or search is a RunFailure that says what to change.
    """
    data, units, graph = task.observations, task.units, task.network.graph()
    _check_units(graph, units)
    # No prediction yet: the noise of a datum is first judged by the datum itself.
    first = units.weighted(data.values, settings.min_relative_noise)
    settings = precise(settings, first)
    trials = [Trial(restart) for restart in range(settings.restarts)]
    grid = Grid(task.network, units.reference, [first], [data.cells], trials, settings)
    trained = train(key, grid, report, cache)
    starts, restarts = [], {}
    for restart, place in _taken(trained, data.cells, settings).items():
        theta, near = jnp.asarray(trained.theta[place, restart], float), units.reference
        law = prune(graph, theta, near) if settings.prune else Law(graph, theta, near)
        starts += [Candidate(law, restart)] if law.graph.size > 0 else []
        nonzero, penalty = trained.nonzero[place, restart], trained.penalties[place]
        restarts[restart] = Restart(float(penalty), int(nonzero), law.graph.size)
    _check_alive(trained, starts)
    weighted = units.weighted(_pilot(task.network, trained, first, units))
    search = Search(
        units, Objective(weighted, units.reference, 1 / task.deviation), Rules.of(graph), settings
    )
    if settings.search:
        selection = searched(starts, search, report, cache)
    else:
        selection = as_trained(starts, search)
    deviation = noise.deviation(data, selection.prediction, units.floor)
    laws = [units.outward(row.law) for row in selection.table]
    laws = [fold_mirrors(law) for law in laws] if settings.prune else laws
    table = [row._replace(law=law) for row, law in zip(selection.table, laws, strict=True)]
    law = next(row.law for row in table if row.active == selection.chosen)
    return Carved(
        law=law,
        full=task.network.size,
        table=table,
        reason=selection.reason,
        restarts=restarts,
        steps=trained.steps,
        active=trained.active,
        deviation=deviation,
        quadratic=compress(data, deviation),
        noise=Estimate(noise.Level(units.floor)),
    )


def precise(settings: Settings, weighted: Quadratic) -> Settings:
    """Settings that train in float64 where float32 cannot tell the data from rounding.

    Stress is a difference of terms that cancel at rest: at strain ε they are 1/ε times as large, in
    units of the noise as large as the rows of the weighted operator.
    """
    largest = float(jnp.sqrt(jnp.max(jnp.sum(weighted.factor**2, axis=2))))
    if largest * float(np.finfo(settings.precision).eps) <= _ROUNDING:
        return settings
    return settings.model_copy(update={"precision": "float64"})


def _taken(trained: Trained, count: int, settings: Settings) -> dict[int, int]:
    """For every restart the place on its path of penalties with the lowest χ² + k log n.

    Failed restarts are out. A search starts where it can be carried out: from the end of the path,
    if the network is too rich everywhere.
    """
    criterion = trained.misfit * count + trained.nonzero * np.log(count)
    criterion = np.where(trained.finite & (trained.nonzero > 0), criterion, np.inf)
    if settings.search:
        fits = (trained.nonzero <= settings.max_parameters) & np.isfinite(criterion)
        place = np.arange(len(criterion))[:, None]
        last = place == np.max(np.where(np.isfinite(criterion), place, -1), axis=0)
        criterion = np.where(np.where(fits.any(axis=0), fits, last), criterion, np.inf)
    best = enumerate(np.argmin(criterion, axis=0))
    return {trial: int(index) for trial, index in best if np.isfinite(criterion[index, trial])}


def _check_alive(trained: Trained, starts: list[Candidate]) -> None:
    """Refuse to go on with nothing, and say why nothing is left."""
    if not trained.finite.any():
        raise RunFailure(
            "no restart stayed finite; lower sparsify.rate, or check the data for outliers"
        )
    if not starts:
        raise RunFailure(
            "every weight went to zero in every restart; lower sparsify.penalty or the noise"
        )


def _check_units(graph: Graph, units: NaturalUnits) -> None:
    """Refuse shared weights without one unit.

    Tied weights act on inputs and on units at once, so they need inputs of size one.
    """
    try:
        units.parameters(graph)
    except ValueError as error:
        raise InputError(f"potential: {error}") from None


@eqx.filter_jit
def _best_fit(
    network: Network, reference: Reference, theta: Particles, quadratic: Quadratic
) -> Points:
    """∇Ψ̂ of the network with the lowest χ²; networks that failed are left out."""
    each = jax.vmap(lambda row: slopes(network, reference, row, quadratic.inputs))(theta)
    best = jnp.nanargmin(jax.vmap(lambda slope: misfit(quadratic, slope))(each))
    return each[best]


def _pilot(network: Network, trained: Trained, quadratic: Quadratic, units: NaturalUnits) -> Cells:
    """Prediction of the network that fits best: a first idea of the size of each datum's noise."""
    flat = jnp.asarray(trained.theta.reshape(-1, network.size))
    slope = _best_fit(network, units.reference, flat, quadratic)
    return units.modulus * units.observations.map.stress(slope)
