"""L-curves: test R² and loss against the penalty λ and against the number of weights left.

All restarts and noise levels of one penalty are trained in one batch that walks the path of λ.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz import registry
from steinmetz.assess import scores
from steinmetz.cache import Cache
from steinmetz.engine.carved import stage_keys
from steinmetz.engine.problem import Problem, network_of, prepare, use_double
from steinmetz.engine.run import check_noise
from steinmetz.errors import InputError
from steinmetz.potentials import terms
from steinmetz.potentials.base import Network, slopes
from steinmetz.potentials.units import NaturalUnits
from steinmetz.progress import Remaining
from steinmetz.records import Observations, Reference, Report, silent
from steinmetz.shapes import Points
from steinmetz.sparsify.base import Settings
from steinmetz.sparsify.prune import prune
from steinmetz.sparsify.train import Grid, Trained, Trial, blocks, train
from steinmetz.studies import config
from steinmetz.studies.study import Raw, Study, plain
from steinmetz.workers import tasks as each
from steinmetz.workers.tasks import Engine


class Plan(NamedTuple):
    """What an L-curve is drawn of: penalties by name, noises (None: the study's), sizes.

    Noises are shares of the stress itself or, if `additive`, of the root mean square of the clean
    training stress. `parameters` names a target count by which λ is chosen instead of by BIC;
    `ranges` are first and last λ by method, where they are not the method's own.
    """

    methods: tuple[str, ...] = ("l0", "l1", "l2")
    noises: tuple[float, ...] | None = None
    penalties: int = 8
    restarts: int = 8
    parameters: int | None = None
    additive: bool = False
    ranges: Mapping[str, tuple[float, float]] = MappingProxyType({})


class Point(NamedTuple):
    """One network: penalty, noise, λ in units of log(n)/n, restart, weights not zero, pruned size.

    `loss` is χ²/n on the training data, `r2` is against the clean truth on fresh states (or on
    held-out rows).
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
    """The penalty chosen for one method and noise, and why."""

    method: str
    noise: float
    penalty: float
    nonzero: int
    reason: str


class LCurve(NamedTuple):
    """Every point and the choice for every curve."""

    study: Study
    points: list[Point]
    picks: list[Pick]
    full: int


class _Curve(NamedTuple):
    """Data of one noise level: in natural units for training, and what networks are judged by."""

    noise: float
    problem: Problem
    units: NaturalUnits
    fresh: Observations


def lcurve(
    study: Study,
    plan: Plan | None = None,
    report: Report = silent,
    cache: Cache | None = None,
    engine: Engine | None = None,
) -> LCurve:
    """Train every method on every noise level and choose a penalty for each.

    Where the law of the study is composed of terms, the network for the same materials is trained.
    With an `engine`, blocks of networks are trained by others first, who keep them in `cache`.
    """
    use_double()
    study = with_network(study)
    check_noise(study)
    plan, keys = plan or Plan(), stage_keys(study.seed)
    curves = _curves(study, plan)
    network = network_of(study, curves[0].problem.material)
    if engine is not None and cache is not None:
        _train_elsewhere(study, plan, curves, report, cache, engine)
    points: list[Point] = []
    for method in plan.methods:
        grid = _grid(study, plan, curves, method)
        trained = train(keys["carve"], grid, _titled(report, method), cache)
        points += _points(method, network, trained, grid.trials, curves)
    return LCurve(study, points, _picks(points, curves, plan.parameters), network.size)


def _grid(study: Study, plan: Plan, curves: list[_Curve], method: str) -> Grid:
    """All networks of one penalty."""
    settings = _settings(study, method, plan)
    data = [
        curve.units.weighted(curve.problem.train.values, settings.min_relative_noise)
        for curve in curves
    ]
    cells = [curve.problem.train.cells for curve in curves]
    trials = [Trial(restart, at) for at in range(len(curves)) for restart in range(plan.restarts)]
    network = network_of(study, curves[0].problem.material)
    return Grid(network, curves[0].units.reference, data, cells, trials, settings)


def _train_elsewhere(
    study: Study, plan: Plan, curves: list[_Curve], report: Report, cache: Cache, engine: Engine
) -> None:
    """Every block that is not kept is a task; all of them end in the cache."""
    key, asked = stage_keys(study.seed)["carve"], {**plan._asdict(), "ranges": dict(plan.ranges)}
    said: dict[str, object] = {"study": plain(study), "plan": asked}
    said |= {"folder": str(cache.folder.absolute()), "fingerprint": cache.fingerprint}
    tasks = []
    for method in plan.methods:
        kept = blocks(key, _grid(study, plan, curves, method), silent, cache, only=())
        for number in (number for number, piece in kept.items() if piece is None):
            own = {"method": method, "block": number}
            tasks.append(each.task(f"{method}, block {number}", train_block, {**said, **own}))
    if len(tasks) > 1:
        each.every(engine, tasks, Remaining(report, "training", len(tasks)).following())


def train_block(text: str) -> None:
    """One block of networks of an L-curve, in whatever process."""
    use_double()
    said = json.loads(text)
    study, plan = config.build(said["study"]), _plan(said["plan"])
    cache = Cache(Path(said["folder"]), said["fingerprint"])
    grid = _grid(study, plan, _curves(study, plan), said["method"])
    blocks(stage_keys(study.seed)["carve"], grid, silent, cache, only=[said["block"]])


def _plan(said: Raw) -> Plan:
    """A plan that was sent as JSON, which has lists in place of tuples."""
    ranges = {name: (first, last) for name, (first, last) in said["ranges"].items()}
    noises = None if said["noises"] is None else tuple(said["noises"])
    return Plan(**{**said, "methods": tuple(said["methods"]), "noises": noises, "ranges": ranges})


def with_network(study: Study) -> Study:
    """The study itself, or with a network where its law is composed of terms."""
    if not isinstance(study.potential, terms.Config):
        return study
    return config.changed(study, "potential", {"name": terms.NETWORK})


def _titled(report: Report, method: str) -> Report:
    """Progress under the title of the penalty."""
    title = registry.load("sparsify", method).TITLE
    return lambda stage, done, total, **facts: report(f"{stage} {title}", done, total, **facts)


def _curves(study: Study, plan: Plan) -> list[_Curve]:
    """One problem per noise level, with the same states."""
    if plan.noises is not None and study.data.law is None:
        raise InputError("--noise is for generated data; a measured table has the noise it has")
    curves, keys = [], stage_keys(study.seed)
    for noise in study.noise.numbers[:1] if plan.noises is None else plan.noises:
        problem = prepare(keys["data"], _with_noise(study, noise, plan.additive))
        fresh = problem.fresh(keys["test"], study.assess.test_count)
        curves.append(_Curve(noise, problem, problem.units, fresh))
    return curves


def _with_noise(study: Study, share: float, additive: bool) -> Study:
    """The study with noise of that share: of each stress, or of their root mean square."""
    update = {"relative": share}
    if additive:
        clean = study.noise.model_copy(update={"relative": 0.0, "absolute": 0.0})
        key, still = stage_keys(study.seed)["data"], study.model_copy(update={"noise": clean})
        update = {"relative": 0.0, "absolute": share * prepare(key, still).train.scale}
    return study.model_copy(update={"noise": study.noise.model_copy(update=update)})


def _settings(study: Study, method: str, plan: Plan) -> Settings:
    """The study's own settings where it uses this method, else its defaults for this network."""
    own = study.sparsify.model_dump() if study.sparsify.method == method else {"method": method}
    reach = plan.ranges.get(method) or registry.load("sparsify", method).RANGE
    changes = {"penalty": reach, "penalties": plan.penalties, "restarts": plan.restarts}
    return config.changed(study, "sparsify", {**own, **changes}).sparsify


def _points(
    method: str, network: Network, trained: Trained, trials: list[Trial], curves: list[_Curve]
) -> list[Point]:
    """Judge every network of the grid as it was trained."""
    points, graph = [], network.graph()
    for number, (restart, at) in enumerate(trials):
        noise, _, units, fresh = curves[at]
        sizes = np.array(units.sizes)
        theta = jnp.asarray(trained.theta[:, number])
        slope = _slopes(network, units.reference, theta, fresh.inputs / sizes)
        stress = np.asarray(fresh.map.stress(units.modulus * slope / sizes))
        for index, penalty in enumerate(trained.penalties):
            law = prune(graph, theta[index], units.reference)
            ok = bool(trained.finite[index, number])
            points.append(
                Point(
                    method,
                    noise,
                    float(penalty),
                    restart,
                    int(trained.nonzero[index, number]),
                    law.graph.size,
                    float(trained.misfit[index, number]),
                    scores.r2(stress[index], fresh) if ok else None,
                )
            )
    return points


@eqx.filter_jit
def _slopes(
    network: Network, reference: Reference, theta: Float[Array, "laws parameters"], x: Points
) -> Float[Array, "laws data inputs"]:
    every: Array = jax.lax.map(lambda row: slopes(network, reference, row, x), theta)
    return every


def _picks(points: list[Point], curves: list[_Curve], target: int | None) -> list[Pick]:
    """For every curve the λ of the best network.

    Lowest χ² + k log n, or nearest to a target count.
    """
    picks = []
    cells = {curve.noise: curve.problem.train.cells for curve in curves}
    for method, noise in dict.fromkeys((point.method, point.noise) for point in points):
        alike = [p for p in points if (p.method, p.noise) == (method, noise)]
        usable = [p for p in alike if np.isfinite(p.loss) and p.nonzero]
        if usable:
            best, reason = _best(usable, cells[noise], target)
            words = f"{best.pruned} after pruning: {reason}"
            picks.append(Pick(method, noise, best.penalty, best.nonzero, words))
    return picks


def _best(curve: list[Point], count: int, target: int | None) -> tuple[Point, str]:
    """One network of a curve, and why."""
    if target is not None:
        nearest = min(abs(point.pruned - target) for point in curve)
        alike = [point for point in curve if abs(point.pruned - target) == nearest]
        best = min(alike, key=lambda point: point.loss)
        asked = f"nearest to the {target} asked for, lowest loss among those"
        return best, f"{best.pruned} parameters, {asked}"
    price = float(np.log(count))
    best = min(curve, key=lambda point: point.loss * count + point.pruned * price)
    lowest = best.loss * count + best.pruned * price
    where = f"of {len(curve)} networks, restart {best.restart}"
    return best, f"lowest χ² + k log n ({lowest:.1f}) {where}"
