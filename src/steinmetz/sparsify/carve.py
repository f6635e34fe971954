"""From a full network to one small law: train → prune → trim → choose → refit."""

import json
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from steinmetz import registry
from steinmetz.cache import Cache
from steinmetz.data import noise
from steinmetz.data.quadratic import Quadratic, compress, misfit
from steinmetz.errors import InputError, RunFailure
from steinmetz.potentials.base import Network, slopes
from steinmetz.potentials.graph import Graph, parameter_units
from steinmetz.potentials.law import Law, rebuild, structure
from steinmetz.records import Observations, Reference, Report, silent
from steinmetz.sparsify.base import Settings
from steinmetz.sparsify.choose import Choice, choose, tabulate
from steinmetz.sparsify.moves import Rules, drop
from steinmetz.sparsify.prune import fold_mirrors, prune
from steinmetz.sparsify.train import Trained, Trial, train
from steinmetz.sparsify.trim import Candidate, Start, Trimmed, polish, refitter, trim

_REWEIGHTINGS = 3
# Rows of the table beyond the chosen one that are kept and refitted to convergence.
_BEYOND = 8
_BATCH = 32


class Restart(NamedTuple):
    """What became of one restart on the penalty of its path that was taken.

    `nonzero` counts as the paper does: weights that are not zero after gating or clamping. `pruned` counts the
    parameters of the exact pruned law.
    """

    penalty: float
    nonzero: int
    pruned: int


class Carved(NamedTuple):
    """The chosen law, the table it was chosen from and how the weights went away."""

    law: Law
    full: int
    table: list[Choice]
    reason: str
    restarts: dict[int, Restart]
    steps: Int[np.ndarray, "marks"]
    active: Int[np.ndarray, "marks trials"]
    deviation: Float[Array, "data components"]
    quadratic: Quadratic

    @property
    def chosen(self) -> Choice:
        """The row of the table whose law was taken."""
        return next(row for row in self.table if row.active == self.law.graph.size)


class NaturalUnits(NamedTuple):
    """The data in natural units: inputs in units of their sizes, Ψ in units of the modulus of the data."""

    observations: Observations
    reference: Reference
    sizes: tuple[float, ...]
    modulus: float
    floor: float

    @classmethod
    def of(
        cls,
        observations: Observations,
        reference: Reference,
        sizes: tuple[float, ...],
        floor: float,
    ) -> "NaturalUnits":
        scaled, near = observations.scaled(sizes), reference.scaled(sizes)
        return cls(scaled, near, sizes, scaled.modulus(near), floor)

    def weighted(
        self, prediction: Float[Array, "data components"], min_relative_noise: float = 0.0
    ) -> Quadratic:
        """Residuals in units of the noise, judged at a prediction."""
        seen = self.observations._replace(
            relative=jnp.maximum(self.observations.relative, min_relative_noise)
        )
        quadratic = compress(self.observations, noise.deviation(seen, prediction, self.floor))
        return quadratic._replace(factor=quadratic.factor * self.modulus)

    def predict(self, law: Law) -> Float[Array, "data components"]:
        """ŷ = B ∇Ψ̂ of a law in natural units, in the unit of the data."""
        return self.modulus * self.observations.map.stress(law.slopes(self.observations.inputs))

    def outward(self, law: Law, reference: Reference, fold: bool = True) -> Law:
        """The law in the units of the data."""
        unit = jnp.asarray(parameter_units(law.graph, self.sizes, self.modulus))
        law = Law(law.graph, law.values * unit, reference)
        return fold_mirrors(law) if fold else law


def carve(
    key: Array,
    network: Network,
    reference: Reference,
    observations: Observations,
    sizes: tuple[float, ...],
    floor: float,
    prior: float,
    settings: Settings,
    report: Report = silent,
    store: Cache | None = None,
) -> Carved:
    """The sparse law of the data."""
    scene = NaturalUnits.of(observations, reference, sizes, floor)
    graph = network.graph()
    _check_units(graph, scene)
    # No prediction yet: the noise of a datum is first judged by the datum itself.
    first = scene.weighted(observations.values, settings.min_relative_noise)
    penalty = registry.load("sparsify", settings.method).build(settings)
    trials = [Trial(restart) for restart in range(settings.restarts)]
    trained = train(
        key,
        network,
        penalty,
        scene.reference,
        [first],
        [observations.cells],
        trials,
        settings,
        report,
        store,
    )
    taken = _taken(trained, observations.cells, settings)
    pruned = {
        restart: _left(
            graph, jnp.asarray(trained.theta[index, restart], float), scene.reference, settings
        )
        for restart, index in taken.items()
    }
    _check_alive(trained, pruned)
    starts = [Start(law, restart) for restart, law in pruned.items() if law.graph.size > 0]
    weighted = scene.weighted(_pilot(network, trained, first, scene))
    if settings.search:
        found = _search(starts, scene, weighted, Rules.of(graph), prior, settings, report, store)
    else:
        found = _as_trained(starts, scene, weighted, settings)
    table, chosen, reason, prediction = found
    deviation = noise.deviation(observations, prediction, floor)
    table = [
        row._replace(law=scene.outward(row.law, reference, fold=settings.prune)) for row in table
    ]
    return Carved(
        law=next(row.law for row in table if row.active == chosen),
        full=network.size,
        table=table,
        reason=reason,
        restarts=_restarts(trained, taken, pruned),
        steps=trained.steps,
        active=trained.active,
        deviation=deviation,
        quadratic=compress(observations, deviation),
    )


def _left(
    graph: Graph, theta: Float[Array, "parameters"], reference: Reference, settings: Settings
) -> Law:
    """What training has left: the exact pruned law, or the whole network."""
    return prune(graph, theta, reference) if settings.prune else Law(graph, theta, reference)


def _restarts(
    trained: Trained, taken: dict[int, int], pruned: dict[int, Law]
) -> dict[int, Restart]:
    return {
        restart: Restart(
            float(trained.penalties[index]),
            int(trained.nonzero[index, restart]),
            pruned[restart].graph.size,
        )
        for restart, index in taken.items()
    }


def _taken(trained: Trained, count: int, settings: Settings) -> dict[int, int]:
    """For every restart the place on its path of penalties with the lowest χ² + k log n; failed restarts are out.

    A search starts where it can be carried out: from the end of the path, if the network is too rich everywhere.
    """
    criterion = trained.misfit * count + trained.nonzero * np.log(count)
    criterion = np.where(trained.finite & (trained.nonzero > 0), criterion, np.inf)
    if settings.search:
        fits = (trained.nonzero <= settings.max_parameters) & np.isfinite(criterion)
        place = np.arange(len(criterion))[:, None]
        last = place == np.max(np.where(np.isfinite(criterion), place, -1), axis=0)
        criterion = np.where(np.where(fits.any(axis=0), fits, last), criterion, np.inf)
    best = np.argmin(criterion, axis=0)
    return {
        trial: int(index)
        for trial, index in enumerate(best)
        if np.isfinite(criterion[index, trial])
    }


def _check_alive(trained: Trained, pruned: dict[int, Law]) -> None:
    if not trained.finite.any():
        raise RunFailure(
            "no restart stayed finite; lower sparsify.rate, or check the data for outliers"
        )
    if not any(law.graph.size for law in pruned.values()):
        raise RunFailure(
            "every weight went to zero in every restart; lower sparsify.penalty or the noise"
        )


def _check_units(graph: Graph, scene: NaturalUnits) -> None:
    """Tied weights act on inputs and on units, so they need inputs of size one."""
    try:
        parameter_units(graph, scene.sizes, scene.modulus)
    except ValueError as error:
        raise InputError(f"potential: {error}") from None


@eqx.filter_jit
def _best_fit(
    network: Network,
    reference: Reference,
    theta: Float[Array, "networks parameters"],
    quadratic: Quadratic,
) -> Float[Array, "data inputs"]:
    each = jax.vmap(lambda row: slopes(network, reference, row, quadratic.inputs))(theta)
    best = jnp.nanargmin(jax.vmap(lambda slope: misfit(quadratic, slope))(each))
    return each[best]


def _pilot(
    network: Network, trained: Trained, quadratic: Quadratic, scene: NaturalUnits
) -> Float[Array, "data components"]:
    """Prediction of the network that fits best: a first idea of the size of each datum's noise."""
    flat = jnp.asarray(trained.theta.reshape(-1, network.size))
    slope = _best_fit(network, scene.reference, flat, quadratic)
    return scene.modulus * scene.observations.map.stress(slope)


def _cut(law: Law, largest: int) -> Law:
    """Drop the smallest weights of a law that is too rich to refit."""
    excess = law.graph.size - largest
    if excess <= 0:
        return law
    return drop(law, [int(index) for index in np.argsort(np.abs(np.asarray(law.values)))[:excess]])


def _search(
    starts: list[Start],
    scene: NaturalUnits,
    weighted: Quadratic,
    rules: Rules,
    prior: float,
    settings: Settings,
    report: Report,
    store: Cache | None,
) -> tuple[list[Choice], int, str, Float[Array, "data components"]]:
    """Trim, choose, refit the chosen law while its noise is judged anew, and then the whole table under that noise."""
    cut = [Start(_cut(start.law, settings.max_parameters), start.origin) for start in starts]
    starts = [start for start in cut if start.law.graph.size > 0]
    if not starts:
        raise RunFailure(
            "nothing is left of the networks after cutting them; raise sparsify.max_parameters or sparsify.penalty"
        )
    count = scene.observations.cells
    tool = refitter([start.law for start in starts], rules, weighted, 1 / prior, _BATCH)
    trimmed = _kept(store)
    if trimmed is None:
        trimmed = trim(starts, tool, rules, settings.candidates, settings.beam, report)
        if not trimmed.best:
            raise RunFailure(
                "no refit stayed finite; check the data for outliers, or raise noise.floor"
            )
        _keep(store, trimmed)
    table = tabulate(trimmed.best, count, trimmed.spread)
    chosen, _ = choose(table, count, settings.bic_slack, settings.parameters)
    law = chosen.law
    for _ in range(_REWEIGHTINGS):
        tool = tool._replace(quadratic=scene.weighted(scene.predict(law)))
        law = next((c.law for c in polish([_candidate(law)], tool)), law)
    prediction = scene.predict(law)
    tool = tool._replace(quadratic=scene.weighted(prediction))
    rows = [row for row in table if row.active <= chosen.active + _BEYOND]
    finalists = [
        _candidate(law if row.active == chosen.active else row.law, row.origin) for row in rows
    ]
    table = tabulate(polish(finalists, tool), count, trimmed.spread)
    final, reason = choose(table, count, settings.bic_slack, settings.parameters)
    return table, final.active, reason, prediction


def _candidate(law: Law, origin: int = 0) -> Candidate:
    return Candidate(law, np.inf, np.zeros(law.graph.size), origin)


def _as_trained(
    starts: list[Start], scene: NaturalUnits, weighted: Quadratic, settings: Settings
) -> tuple[list[Choice], int, str, Float[Array, "data components"]]:
    """Every restart's pruned law as it was trained, without a search: the paper's way."""
    found = []
    for law, origin in starts:
        chi = float(misfit(weighted, law.slopes(weighted.inputs)))
        found.append(Candidate(law, chi, np.zeros(law.graph.size), origin))
    count = scene.observations.cells
    spread = {c.active: {d.origin: d.misfit for d in found if d.active == c.active} for c in found}
    table = tabulate(found, count, spread)
    chosen, reason = choose(table, count, settings.bic_slack, settings.parameters)
    return table, chosen.active, reason, scene.predict(chosen.law)


def _keep(store: Cache | None, trimmed: Trimmed) -> None:
    """Laws are kept as text in plain types; what is read back is rebuilt and checked, never executed."""
    if store is not None:
        rows = [
            {
                "law": structure(c.law),
                "misfit": c.misfit,
                "saliency": c.saliency.tolist(),
                "origin": c.origin,
            }
            for c in trimmed.best
        ]
        spread = {
            str(size): {str(o): m for o, m in by.items()} for size, by in trimmed.spread.items()
        }
        text = json.dumps({"best": rows, "spread": spread})
        store.put("trimmed", text=np.frombuffer(text.encode(), np.uint8))


def _kept(store: Cache | None) -> Trimmed | None:
    found = None if store is None else store.get("trimmed")
    if found is None:
        return None
    try:
        stored = json.loads(found["text"].tobytes().decode())
        best = [
            Candidate(
                rebuild(row["law"]),
                float(row["misfit"]),
                np.array(row["saliency"], float),
                int(row["origin"]),
            )
            for row in stored["best"]
        ]
        spread = {
            int(size): {int(o): float(m) for o, m in by.items()}
            for size, by in stored["spread"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):  # damaged: search again
        return None
    return Trimmed(best, spread)


def predict(law: Law, observations: Observations) -> Float[Array, "data components"]:
    """ŷ = B ∇Ψ̂ at the observed states."""
    return observations.map.stress(law.slopes(observations.inputs))
