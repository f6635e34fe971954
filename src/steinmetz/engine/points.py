"""One point of a figure: a law is carved, sampled, pushed along the path and judged; every part is kept by content."""

import json
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from steinmetz.assess import scores
from steinmetz.data import noise
from steinmetz.data.quadratic import compress
from steinmetz.engine.clock import Clock
from steinmetz.engine.pieces import Piece, Pieces
from steinmetz.engine.problem import Problem, prepare
from steinmetz.engine.run import PathPredictions, carve_law, push_along, stage_keys
from steinmetz.engine.sample import Ensemble, sample
from steinmetz.errors import InputError
from steinmetz.export import carving, closed_form
from steinmetz.physics import observe
from steinmetz.predict.push_forward import components
from steinmetz.records import Report, Truth
from steinmetz.sparsify import carve
from steinmetz.studies.reproduction import Point

# A closed form that fits under a figure.
_PRINTED = 60
# Draws of a reference that are kept, and what a bootstrap looks at.
_KEPT, _RESAMPLED, _PLACES = 1000, 200, 25
# Few chains cannot be resampled as wholes; their draws, thinned, are taken for independent.
_CHAINS = 8


class Judged(NamedTuple):
    """W1 along the path of one pair of distributions, and how far it scatters."""

    along: Float[np.ndarray, "points components"]
    resampled: Float[np.ndarray, "draws places components"]
    places: np.ndarray


def law_of(
    study: Any, pieces: Pieces, report: Report
) -> tuple[Problem, carve.Carved, dict[str, float]]:
    """Data and carved law of a study, and the seconds it took when it was carved."""
    problem = prepare(stage_keys(study.seed)["data"], study)

    def compute(store: Any) -> Piece:
        clock = Clock()
        carved = carve_law(study, problem, report, store)
        text = json.dumps(carving.to_dict(carved)).encode()
        return Piece({"carving": np.frombuffer(text, np.uint8)}, {"seconds": clock.seconds()})

    said = study.model_dump(mode="json", exclude={"name", "title", "infer", "assess"})
    said["prior"].pop("temperature")
    said["noise"].pop("unknown")
    piece = pieces.get(said, "carved", compute)
    stored = json.loads(piece.arrays["carving"].tobytes().decode())
    return problem, carving.from_dict(stored, problem.train), piece.facts["seconds"]


def work(point: Point, pieces: Pieces, report: Report, sampled: bool, keep: bool) -> Piece:
    """All that is known of a point; `sampled`: with a posterior, `keep`: and draws for others to compare with."""
    said = _said(point)
    if not sampled:
        return pieces.get(
            said, "fit", lambda _: _fitted(point.study, *law_of(point.study, pieces, report))
        )
    found = pieces.find(said, "point")
    if found is None or (keep and pieces.find(said, "pushed") is None):
        store = pieces.store(said)
        found, pushed = _sampled(point, pieces, report, store)
        if keep:
            pieces.get(said, "pushed", lambda _: pushed)
        pieces.get(said, "point", lambda _: found)
    return found


def _own(study: Any, carved: Any) -> Any:
    """What a posterior depends on."""
    said = study.model_dump(mode="json", exclude={"name", "title"})
    return {
        **said,
        "carve": carved.model_dump(mode="json", exclude={"name", "title", "infer", "assess"}),
    }


def _said(point: Point) -> Any:
    own = _own(point.study, point.carve)
    return own if point.reference is None else {**own, "reference": _said(point.reference)}


def fitted_to(carved: carve.Carved, problem: Problem, floor: float) -> carve.Carved:
    """The same law before other data: their noise is judged at its prediction."""
    train = problem.train
    deviation = noise.deviation(train, carved.law.stress(train.map), floor)
    return carved._replace(deviation=deviation, quadratic=compress(train, deviation))


def truth_of(problem: Problem) -> Truth:
    """The generating law, which every figure of the paper has."""
    if problem.truth is None:
        raise InputError(
            "a figure of the paper needs generated data: give data.law instead of data.table"
        )
    return problem.truth


def _fitted(study: Any, problem: Problem, carved: carve.Carved, seconds: dict[str, float]) -> Piece:
    """The law alone: path, R² and count."""
    physics, law, known = problem.physics, carved.law, truth_of(problem)
    at = observe.rig(physics, problem.path.state, physics.default_components)
    truth = np.asarray(observe.clean_values(known, physics.reference, at))
    own, keys = np.asarray(components(law, at)), stage_keys(study.seed)
    relative, absolute = jnp.asarray(study.noise.relative), jnp.asarray(study.noise.absolute)
    fresh = observe.rig(
        physics,
        physics.sample(keys["test"], study.assess.test_count, study.data.spread),
        physics.default_components,
    )
    test, clean = (
        np.asarray(components(law, fresh)),
        np.asarray(observe.clean_values(known, physics.reference, fresh)),
    )
    arrays = {
        "coordinate": problem.path.coordinate,
        "sampled": problem.path.sampled,
        "law": own,
        "truth": truth,
        "noisy": np.asarray(noise.draw(keys["noise"], jnp.asarray(truth), relative, absolute)),
        "law_energy": np.asarray(law.energy(at.inputs)),
        "truth_energy": np.asarray(observe.clean_energy(known, physics.reference, at)),
    }
    inside = problem.path.sampled
    origin = carved.restarts[carved.chosen.origin]
    facts = {
        "components": list(physics.default_components),
        "label": problem.path.label,
        "full": int(carved.full),
        "nonzero": int(origin.nonzero),
        "active": int(law.graph.size),
        "penalty": float(origin.penalty),
        "reason": carved.reason,
        "seconds": {"carve": seconds["total"], "carve_compile": seconds["compile"]},
        "r2": {
            "path": scores.r2(own, truth),
            "path_sampled": scores.r2(own[inside], truth[inside]),
            "path_extrapolated": scores.r2(own[~inside], truth[~inside]),
            "test": scores.r2(test, clean),
            "per_component": scores.r2_per_component(test, clean, physics.default_components),
            "energy": scores.r2(arrays["law_energy"][:, None], arrays["truth_energy"][:, None]),
        },
    }
    if law.graph.size <= _PRINTED:
        facts["law"], facts["latex"] = closed_form.text(law), closed_form.latex(law, 3)
    return Piece(arrays, facts)


def _sampled(point: Point, pieces: Pieces, report: Report, store: Any) -> tuple[Piece, Piece]:
    """The point with its posterior, and the draws of its push-forward."""
    study = point.study
    _, carved, seconds = law_of(point.carve, pieces, report)
    problem = prepare(stage_keys(study.seed)["data"], study)
    if point.carve != study:
        carved = fitted_to(carved, problem, study.noise.floor)
    arrays, facts = _fitted(study, problem, carved, seconds)
    keys, clock = stage_keys(study.seed), Clock()
    ensemble = sample(keys["infer"], carved, problem, study, report, store)[1]
    spent = clock.seconds()
    along = push_along(keys["noise"], problem, carved.law, ensemble, study)
    moving = np.ptp(arrays["truth"], axis=0) > 0
    facts["seconds"] |= {"infer": spent["total"], "infer_compile": spent["compile"]}
    facts["moving"] = [name for name, moves in zip(along.components, moving, strict=True) if moves]
    facts["inference"] = {
        "method": ensemble.method,
        "particles": ensemble.shape[1],
        "draws": len(ensemble.theta),
        "frozen": ensemble.run.frozen,
        "stopped": ensemble.run.reason,
        "r_hat": ensemble.health.r_hat if np.isfinite(ensemble.health.r_hat or np.nan) else None,
        "steps": int(ensemble.run.marks[-1]),
    }
    reference = None
    if point.reference is not None:
        work(point.reference, pieces, report, sampled=True, keep=True)
        kept = pieces.find(_said(point.reference), "pushed")
        reference = None if kept is None else kept.arrays["pushed"]
    more, found = _judge(point.seed, along, ensemble, moving, problem.path.sampled, reference)
    facts["scores"] = found
    every = max(1, len(along.pushed) // _KEPT)
    pushed = Piece({"pushed": along.pushed[::every][:_KEPT][:, :, moving].astype(np.float32)}, {})
    return Piece({**arrays, **more}, facts), pushed


def _judge(
    seed: int,
    along: PathPredictions,
    ensemble: Ensemble,
    moving: np.ndarray,
    inside: np.ndarray,
    reference: np.ndarray | None,
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """W1, coverage and CRPS along the path, with intervals, in the sampled range and beyond apart."""
    random = np.random.default_rng(seed)
    pushed, predictive = along.pushed[:, :, moving], along.predictive[:, :, moving]
    truth, noisy = np.asarray(along.truth)[:, moving], np.asarray(along.noisy)[:, :, moving]
    names = [name for name, moves in zip(along.components, moving, strict=True) if moves]
    pairs = {
        "w1_noisy": (pushed, noisy),
        "w1_clean": (pushed, truth[None]),
        "w1_predictive": (predictive, noisy),
    }
    if reference is not None:
        pairs["w1_reference"] = (pushed, reference.astype(float))
    arrays: dict[str, np.ndarray] = {
        "mean": along.pushed.mean(axis=0), "sd": along.pushed.std(axis=0),
        "predictive_mean": along.predictive.mean(axis=0), "predictive_sd": along.predictive.std(axis=0),
        "energy_mean": along.pushed_energy.mean(axis=0), "energy_sd": along.pushed_energy.std(axis=0),
    }  # fmt: skip
    found: dict[str, Any] = {}
    for name, (a, b) in pairs.items():
        judged = _distance(random, a, b, ensemble.shape[1] if ensemble.shape[1] > _CHAINS else None)
        arrays[name] = judged.along
        found[name] = _summary(judged, names, inside)
    score = scores.crps(predictive, noisy[0])
    arrays["crps"] = score
    found["crps"] = _groups(
        lambda chosen, part: _mean(random, score[part][:, chosen].mean(axis=1)), names, inside
    )
    borders = scores.bands(predictive)
    for level, (low, high) in borders.items():
        covered = ((noisy[0] >= low) & (noisy[0] <= high)).astype(float)
        found[f"coverage_{level}"] = _groups(
            lambda chosen, part, covered=covered: _mean(
                random, covered[part][:, chosen].mean(axis=1)
            ),
            names,
            inside,
        )
    return arrays, found


def _distance(
    random: np.random.Generator, a: np.ndarray, b: np.ndarray, particles: int | None
) -> Judged:
    places = np.unique(np.linspace(0, a.shape[1] - 1, 2 * _PLACES).astype(int))
    resampled = scores.wasserstein_resampled(
        random, a[:, places], b[:, places], _RESAMPLED, particles
    )
    return Judged(scores.wasserstein(a, b), resampled, places)


def _summary(judged: Judged, names: list[str], inside: np.ndarray) -> dict[str, Any]:
    """Mean along the path and its 95 % bootstrap interval (of particles and noise), by part and kind of component."""

    def one(chosen: np.ndarray, part: np.ndarray) -> list[float]:
        value = float(judged.along[part][:, chosen].mean())
        scatter = judged.resampled[:, part[judged.places]][:, :, chosen].mean(axis=(1, 2))
        low, high = np.quantile(scatter - scatter.mean(), [0.025, 0.975])
        return [value, max(0.0, value + float(low)), value + float(high)]

    return _groups(one, names, inside)


def _mean(random: np.random.Generator, values: Float[np.ndarray, "points"]) -> list[float]:
    low, high = scores.interval(random, values, 400)
    return [float(values.mean()), float(low), float(high)]


def _groups(measure: Any, names: list[str], inside: np.ndarray) -> dict[str, Any]:
    """A measure of all components and of each kind (S, mu), on the whole path, in the sampled range and beyond."""
    kinds = [name.rstrip("0123456789") for name in names]
    found = {}
    for kind in ("all", *dict.fromkeys(kinds)):
        chosen = np.array([kind in ("all", other) for other in kinds])
        parts = {"path": np.ones(len(inside), bool), "sampled": inside, "extrapolated": ~inside}
        found[kind] = {part: measure(chosen, where) for part, where in parts.items() if where.any()}
    return found
