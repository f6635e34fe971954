"""Run a study: data → sparsify → posterior → infer → push forward → assess."""

from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.assess import certificate, scores
from steinmetz.cache import Store
from steinmetz.data import noise
from steinmetz.engine import pareto
from steinmetz.engine.clock import Clock
from steinmetz.engine.problem import Problem, network_of, prepare, require_double, undeformed
from steinmetz.engine.sample import Ensemble, sample
from steinmetz.engine.sample import check as check_sampler
from steinmetz.errors import InputError
from steinmetz.export import carving
from steinmetz.physics import observe
from steinmetz.physics.base import Physics
from steinmetz.posterior import density
from steinmetz.potentials.law import Law
from steinmetz.predict.push_forward import components, predictive, push_forward
from steinmetz.records import Observations, Report, StressMap, silent
from steinmetz.sparsify import carve
from steinmetz.studies import config

# The cross-check of the certificate also looks at states twice as far from the reference as the data.
_REACH = 2.0


class PathPredictions(NamedTuple):
    """Predictions along the validation path; truth and noisy validation data only where a generating law is known."""

    at: StressMap
    components: tuple[str, ...]
    law: Float[np.ndarray, "points components"]
    law_energy: Float[np.ndarray, "points"]
    pushed: Float[np.ndarray, "particles points components"]
    pushed_energy: Float[np.ndarray, "particles points"]
    predictive: Float[np.ndarray, "particles points components"]
    truth: Float[np.ndarray, "points components"] | None
    truth_energy: Float[np.ndarray, "points"] | None
    noisy: Float[np.ndarray, "draws points components"] | None


class Result(NamedTuple):
    """Everything a run found. `law` prints, predicts and is exported; `particles` is its posterior."""

    study: Any
    problem: Problem
    carved: carve.Carved
    pareto: list[pareto.Row]
    posterior: density.Posterior
    ensemble: Ensemble
    along: PathPredictions
    scores: dict[str, Any]
    certificate: certificate.Certificate
    seconds: dict[str, float]
    resumed: bool = False

    @property
    def law(self) -> Law:
        return self.carved.law

    @property
    def particles(self) -> Float[np.ndarray, "particles parameters"]:
        return self.ensemble.theta

    def stress(self, F: Any, component: str = "S11") -> Float[np.ndarray, "particles states"]:
        """An observed component of every particle at states F: deformation gradients, or rows of a state's columns."""
        columns, given = len(self.problem.physics.state), np.asarray(F, float)
        if given.size % columns or (given.ndim > 1 and given.shape[-1] not in (columns, 3)):
            raise InputError(
                f"a state has the columns {', '.join(self.problem.physics.state)}; got shape {given.shape}"
            )
        state = given.reshape(-1, columns)
        at = observe.rig(self.problem.physics, state, (component,))
        return push_forward(self.law, jnp.asarray(self.particles), at)[0][:, :, 0]


def run(study: Any, report: Report = silent, store: Store | None = None) -> Result:
    """All stages of a study; the same study and seed give the same numbers on the same machine.

    What is finished is kept in `store`, if there is one, and not done again when the run is continued.
    """
    require_double()
    check_sampler(study)
    clock = Clock()
    resumed = store is not None and store.found
    problem = prepare(stage_keys(study.seed)["data"], study)
    with clock.stage("sparsify"):
        carved = carve_law(study, problem, report, store)
    return finish(study, problem, carved, clock, report, store)._replace(resumed=resumed)


def carve_law(
    study: Any, problem: Problem, report: Report = silent, store: Store | None = None
) -> carve.Carved:
    """The sparse law of the data of a study."""
    physics = problem.physics
    task = carve.Task(
        network_of(study, physics), problem.train, physics.reference, physics.sizes,
        study.noise.floor, _ridge(study),
    )  # fmt: skip
    return carve.carve(stage_keys(study.seed)["carve"], task, study.sparsify, report, store)


def _ridge(study: Any) -> float:
    """The deviation of the prior that holds refits; a prior that is the price needs that price."""
    if study.prior.deviation != "penalty":
        return float(study.prior.deviation)
    if not study.sparsify.gaussian_prior or study.sparsify.search:
        raise InputError(
            "prior.deviation = 'penalty' reads the price as a Gaussian prior: it needs a price that "
            "is one, such as sparsify.method = 'l2', and sparsify.search = false; else give a number"
        )
    return 1.0


def stage_keys(seed: int) -> dict[str, Array]:
    """One key per stage, so that a stage that is done again draws the same numbers."""
    names = ("data", "carve", "infer", "noise", "check", "test")
    return dict(zip(names, jax.random.split(jax.random.key(seed), len(names)), strict=True))


def finish(
    study: Any,
    problem: Problem,
    carved: carve.Carved,
    clock: Clock,
    report: Report = silent,
    store: Store | None = None,
) -> Result:
    """All stages after carving."""
    keys, physics = stage_keys(study.seed), problem.physics
    rows = pareto.table(keys["test"], problem, carved, study)
    with clock.stage("infer"):
        posterior, ensemble = sample(keys["infer"], carved, problem, study, report, store)
    report("assess", 0, 1)
    along = push_along(keys["noise"], problem, carved.law, ensemble, study)
    proof = check(
        keys["check"], physics, carved.law, ensemble, problem.train, study.assess.certificate_states
    )
    found = score(keys["test"], problem, carved.law, ensemble, along, study)
    report("assess", 1, 1)
    return Result(
        study, problem, carved, rows, posterior, ensemble, along, found, proof, clock.seconds()
    )


def select(
    folder: str | Path, row: int, report: Report = silent, store: Store | None = None
) -> Result:
    """Take another row of the table of a finished run: its law, a new posterior, no refit."""
    require_double()
    clock, folder = Clock(), Path(folder)
    study = config.load(str(folder / "study.toml"))
    problem = prepare(stage_keys(study.seed)["data"], study)
    carved = carving.select(carving.read(folder / "carving.json", problem.train), row)
    return finish(study, problem, carved, clock, report, store)


def push_along(
    key: Array, problem: Problem, law: Law, ensemble: Ensemble, study: Any
) -> PathPredictions:
    """Law, particles and (where known) truth along the validation path."""
    physics, names = problem.physics, problem.physics.default_components
    at = observe.rig(physics, problem.path.state, names)
    pushed, energy = push_forward(law, jnp.asarray(ensemble.theta), at)
    own_key, noise_key = jax.random.split(key)
    relative, absolute = jnp.asarray(study.noise.relative), jnp.asarray(study.noise.absolute)
    truth, truth_energy, noisy = None, None, None
    if problem.truth is not None:
        clean = observe.clean_values(problem.truth, physics.reference, at)
        truth_energy = np.asarray(observe.clean_energy(problem.truth, physics.reference, at))
        shape = (study.assess.noise_draws, *clean.shape)
        noisy = np.asarray(
            noise.draw(noise_key, jnp.broadcast_to(clean, shape), relative, absolute)
        )
        truth = np.asarray(clean)
    drawn = predictive(
        own_key,
        pushed,
        relative,
        absolute,
        study.noise.floor * problem.train.scale,
        ensemble.factor,
    )
    own, own_energy = np.asarray(components(law, at)), np.asarray(law.energy(at.inputs))
    return PathPredictions(
        at, names, own, own_energy, pushed, energy, drawn, truth, truth_energy, noisy
    )


def check(
    key: Array, physics: Physics, law: Law, ensemble: Ensemble, train: Observations, count: int
) -> certificate.Certificate:
    """Certificate of the law and every particle, cross-checked on random states around and beyond the data."""
    middle = undeformed(physics)
    reach = _REACH * physics.reach(train.state)
    states = observe.rig(
        physics, physics.sample(key, count, reach), physics.default_components[:1]
    ).inputs
    operator = physics.operator(jnp.asarray(middle), physics.default_components)
    return certificate.certify(law, ensemble.theta, physics.conditions, states, operator)


def score(
    key: Array, problem: Problem, law: Law, ensemble: Ensemble, along: PathPredictions, study: Any
) -> dict[str, Any]:
    """R², Wasserstein-1 and coverage, against the truth where there is one, else against held-out rows."""
    if along.truth is None or along.noisy is None or problem.truth is None:
        return _score_measured(key, problem, law, ensemble, study.noise.floor * problem.train.scale)
    physics, names = problem.physics, along.components
    fresh = observe.rig(
        physics, physics.sample(key, study.assess.test_count, study.data.spread), names
    )
    seen = StressMap(problem.train.inputs, problem.train.operator)
    test = np.asarray(components(law, fresh))
    test_truth = np.asarray(observe.clean_values(problem.truth, physics.reference, fresh))
    train_truth = np.asarray(observe.clean_values(problem.truth, physics.reference, seen))
    inside = problem.path.sampled
    found: dict[str, Any] = {
        "r2": {
            "train": scores.r2(np.asarray(components(law, seen)), train_truth),
            "test": scores.r2(test, test_truth),
            "path": scores.r2(along.law, along.truth),
            "path_sampled": scores.r2(along.law[inside], along.truth[inside]),
            "path_extrapolated": scores.r2(along.law[~inside], along.truth[~inside]),
            "per_component": scores.r2_per_component(test, test_truth, names),
        }
    }
    varying = np.ptp(along.truth, axis=0) > 0
    pairs = {
        "push_forward_noisy": (along.pushed, along.noisy),
        "push_forward_clean": (along.pushed, along.truth[None]),
        "predictive_noisy": (along.predictive, along.noisy),
    }
    found["w1"] = {
        name: _parts(scores.wasserstein(a[..., varying], b[..., varying]).mean(axis=1), inside)
        for name, (a, b) in pairs.items()
    }
    mask = np.broadcast_to(varying, along.truth.shape)
    noisy = along.noisy[0]
    found["coverage"] = scores.coverage(along.predictive, noisy, mask)
    found["coverage_sampled"] = scores.coverage(along.predictive, noisy, mask & inside[:, None])
    found["coverage_extrapolated"] = scores.coverage(
        along.predictive, noisy, mask & ~inside[:, None]
    )
    found["coverage_clean"] = scores.coverage(along.pushed, along.truth, mask)
    return found


def _parts(values: Float[np.ndarray, "points"], inside: np.ndarray) -> dict[str, float | None]:
    """Mean over the whole path, the sampled range and the rest."""
    return {
        "path": float(values.mean()),
        "sampled": float(values[inside].mean()) if inside.any() else None,
        "extrapolated": float(values[~inside].mean()) if not inside.all() else None,
    }


def _score_measured(
    key: Array, problem: Problem, law: Law, ensemble: Ensemble, floor: float
) -> dict[str, Any]:
    """Scores without a truth: training rows, and held-out rows if there are any."""
    train, test = problem.train, problem.held_out
    judged = train if test is None else test
    at = StressMap(judged.inputs, judged.operator)
    values, seen = np.asarray(judged.values), np.asarray(judged.observed)
    predicted = np.asarray(components(law, at))
    pushed = push_forward(law, jnp.asarray(ensemble.theta), at)[0]
    noisy = predictive(key, pushed, judged.relative, judged.absolute, floor, ensemble.factor)
    fitted = np.asarray(components(law, StressMap(train.inputs, train.operator)))
    test_score = None if test is None else scores.r2(predicted, values, seen)
    return {
        "r2": {
            "train": scores.r2(fitted, np.asarray(train.values), np.asarray(train.observed)),
            "test": test_score,
            "path": None,
            "path_sampled": None,
            "path_extrapolated": None,
            "per_component": scores.r2_per_component(predicted, values, judged.components, seen),
        },
        "w1": {},
        "coverage": scores.coverage(noisy, values, seen),
    }
