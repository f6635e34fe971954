"""L-curves: test R² and loss against the penalty λ and against the number of weights left, for several ways and noises.

All restarts and noise levels of one way are trained in one batch that walks the path of penalties.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz import registry
from steinmetz.assess import scores
from steinmetz.cache import Store
from steinmetz.engine.problem import Problem, network_of, prepare, require_double
from steinmetz.engine.run import stage_keys
from steinmetz.errors import InputError
from steinmetz.physics import observe
from steinmetz.potentials.base import Network, slopes
from steinmetz.potentials.units import NaturalUnits
from steinmetz.records import Reference, Report, StressMap, silent
from steinmetz.sparsify.prune import prune
from steinmetz.sparsify.train import Grid, Trained, Trial, train
from steinmetz.studies import config

METHODS = ("l0", "l1", "l2")


class Point(NamedTuple):
    """One network: way, noise level, λ in units of log(n)/n, restart, weights not zero, parameters after pruning.

    `loss` is χ²/n on the training data, `r2` is against the clean truth on fresh states (or on held-out rows).
    """

    method: str
    noise: float
    penalty: float
    restart: int
    nonzero: int
    pruned: int
    loss: float
    r2: float | None


class Pick(NamedTuple):
    """The penalty chosen for one way and noise level, and why."""

    method: str
    noise: float
    penalty: float
    nonzero: int
    reason: str


class LCurve(NamedTuple):
    """Every point and the choice for every curve."""

    study: Any
    points: list[Point]
    picks: list[Pick]
    full: int


def lcurve(
    study: Any,
    methods: tuple[str, ...] = METHODS,
    noises: tuple[float, ...] | None = None,
    penalties: int = 8,
    restarts: int = 8,
    parameters: int | None = None,
    report: Report = silent,
    store: Store | None = None,
) -> LCurve:
    """Train every way on every noise level and choose a penalty for each; `parameters` names a target count instead."""
    require_double()
    keys = stage_keys(study.seed)
    levels = _levels(keys["data"], study, noises)
    physics = levels[0][1].physics
    network = network_of(study, physics)
    points: list[Point] = []
    for method in methods:
        settings = _settings(study, method, penalties, restarts)
        scenes = [
            NaturalUnits.of(p.train, physics.reference, physics.sizes, study.noise.floor)
            for _, p in levels
        ]
        quadratics = [
            s.weighted(p.train.values, settings.min_relative_noise)
            for s, (_, p) in zip(scenes, levels, strict=True)
        ]
        trials = [
            Trial(restart, level) for level in range(len(levels)) for restart in range(restarts)
        ]
        cells = [problem.train.cells for _, problem in levels]
        grid = Grid(network, scenes[0].reference, quadratics, cells, trials, settings)
        trained = train(keys["carve"], grid, _titled(report, method), store)
        points += _points(keys["test"], method, network, trained, trials, levels, scenes, study)
    return LCurve(study, points, _picks(points, levels, parameters), network.size)


def _titled(report: Report, method: str) -> Report:
    """Progress under the title of the way."""
    title = registry.load("sparsify", method).TITLE
    return lambda stage, done, total, **facts: report(f"{stage} {title}", done, total, **facts)


def _levels(
    key: Array, study: Any, noises: tuple[float, ...] | None
) -> list[tuple[float, Problem]]:
    """One problem per noise level, with the same states."""
    if noises is None:
        return [(study.noise.relative, prepare(key, study))]
    if study.data.table is not None:
        raise InputError("--noise is for generated data; a measured table has the noise it has")
    found = []
    for noise in noises:
        changed = study.model_copy(
            update={"noise": study.noise.model_copy(update={"relative": noise})}
        )
        found.append((noise, prepare(key, changed)))
    return found


def _settings(study: Any, method: str, penalties: int, restarts: int) -> Any:
    """The study's own settings where it uses this way, else the defaults of the way for this network."""
    own = study.sparsify.model_dump() if study.sparsify.method == method else {"method": method}
    raw = {**study.model_dump(mode="json", exclude={"sparsify"}), "sparsify": own}
    raw = {
        k: {a: b for a, b in v.items() if b is not None} if isinstance(v, dict) else v
        for k, v in raw.items()
    }
    reach = registry.load("sparsify", method).RANGE
    changes = {
        "sparsify.penalty": reach,
        "sparsify.penalties": penalties,
        "sparsify.restarts": restarts,
    }
    return config.build(raw, changes).sparsify


def _points(
    key: Array,
    method: str,
    network: Network,
    trained: Trained,
    trials: list[Trial],
    levels: list[tuple[float, Problem]],
    scenes: list[NaturalUnits],
    study: Any,
) -> list[Point]:
    """Judge every network of the grid as it was trained."""
    found, graph = [], network.graph()
    judged = [_judge(key, problem, study) for _, problem in levels]
    for number, (restart, level) in enumerate(trials):
        noise, scene, (at, values, observed) = levels[level][0], scenes[level], judged[level]
        slope = _slopes(
            network,
            scene.reference,
            jnp.asarray(trained.theta[:, number]),
            at.inputs / np.array(scene.sizes),
        )
        slope = scene.modulus * np.asarray(slope) / np.array(scene.sizes)
        for index, penalty in enumerate(trained.penalties):
            theta = trained.theta[index, number]
            ok = bool(trained.finite[index, number])
            predicted = np.asarray(at.stress(jnp.asarray(slope[index])))
            law = prune(graph, jnp.asarray(theta), scene.reference)
            found.append(
                Point(
                    method,
                    noise,
                    float(penalty),
                    restart,
                    int(trained.nonzero[index, number]),
                    law.graph.size,
                    float(trained.misfit[index, number]),
                    scores.r2(predicted, values, observed) if ok else None,
                )
            )
    return found


def _judge(key: Array, problem: Problem, study: Any) -> tuple[StressMap, np.ndarray, np.ndarray]:
    """Fresh states and their clean values, or held-out rows."""
    physics = problem.physics
    if problem.truth is None:
        rows = problem.held_out or problem.train
        return (
            StressMap(rows.inputs, rows.operator),
            np.asarray(rows.values),
            np.asarray(rows.observed),
        )
    state = physics.sample(key, study.assess.test_count, study.data.spread)
    at = observe.rig(physics, state, physics.default_components)
    clean = np.asarray(observe.clean_values(problem.truth, physics.reference, at))
    return at, clean, np.ones(clean.shape, bool)


@eqx.filter_jit
def _slopes(
    network: Network,
    reference: Reference,
    theta: Float[Array, "laws parameters"],
    x: Float[Array, "states inputs"],
) -> Float[Array, "laws states inputs"]:
    return jax.lax.map(lambda row: slopes(network, reference, row, x), theta)


def _picks(
    points: list[Point], levels: list[tuple[float, Problem]], target: int | None
) -> list[Pick]:
    """For every curve the λ of the best network: lowest χ² + k log n, or nearest to a target count."""
    picks = []
    cells = {noise: problem.train.cells for noise, problem in levels}
    for method, noise in dict.fromkeys((point.method, point.noise) for point in points):
        curve = [
            p
            for p in points
            if (p.method, p.noise) == (method, noise) and np.isfinite(p.loss) and p.nonzero
        ]
        if not curve:
            continue
        count = cells[noise]
        criterion = {
            point: point.loss * count + point.pruned * float(np.log(count)) for point in curve
        }
        if target is None:
            best = min(curve, key=lambda point: criterion[point])
            reason = f"lowest χ² + k log n ({criterion[best]:.1f}) of {len(curve)} networks, restart {best.restart}"
        else:
            nearest = min(abs(point.pruned - target) for point in curve)
            best = min(
                (p for p in curve if abs(p.pruned - target) == nearest),
                key=lambda point: point.loss,
            )
            reason = f"{best.pruned} parameters, nearest to the {target} asked for, lowest loss among those"
        picks.append(
            Pick(
                method, noise, best.penalty, best.nonzero, f"{best.pruned} after pruning: {reason}"
            )
        )
    return picks
