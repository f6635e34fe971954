"""Sample the posterior of a carved law, and measure how well that went."""

import hashlib
import json
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz import registry
from steinmetz.cache import Store
from steinmetz.engine.problem import Problem, network_of
from steinmetz.errors import InputError, RunFailure
from steinmetz.infer import auto, base, diagnostics, driver
from steinmetz.posterior import batched, density
from steinmetz.potentials.base import Potential
from steinmetz.potentials.law import Law, structure
from steinmetz.potentials.units import NaturalUnits
from steinmetz.records import Report
from steinmetz.sparsify import carve


class Ensemble(NamedTuple):
    """The posterior as laws: parameters of every usable draw, and how they were found.

    Draws are those of the first snapshot, then of the second, and so on; `shape` is (snapshots, particles).
    """

    theta: Float[np.ndarray, "draws parameters"]
    log_density: Float[np.ndarray, "draws"]
    factor: Float[np.ndarray, "draws"]
    shape: tuple[int, int]
    method: str
    reason: str
    run: driver.Run
    health: diagnostics.Diagnostics


def target_of(posterior: density.Posterior, batch: int | None = None) -> base.Target:
    """What samplers see of a posterior."""
    log_density = jax.jit(lambda u: posterior.log_density(u))  # a bound method cannot be hashed
    whole = posterior.likelihood.quadratic
    data, many = len(whole.inputs), batched.values_and_slopes_of(posterior)

    def scores(key: Array, particles: Float[Array, "particles dimension"]) -> tuple[Array, Array]:
        if batch is None or batch >= data:
            return (
                jax.vmap(jax.value_and_grad(log_density))(particles)
                if many is None
                else many(particles, whole, 1.0)
            )
        index = jax.random.choice(key, data, (batch,), replace=False)
        if many is not None:
            return many(particles, posterior.some(index), data / batch)
        return jax.vmap(jax.value_and_grad(lambda u: posterior.estimate(u, index)))(particles)

    return base.Target(
        log_density, scores, posterior.likelihood_rows, posterior.prior_rows, posterior.draw_prior
    )


def potential_of(study: Any, problem: Problem, law: Law) -> Potential:
    """The law's graph; where nothing was pruned, the network itself, which is faster and has the same parameters."""
    network = network_of(study, problem.physics)
    return network if law.graph.size == network.size and law.graph == network.graph() else law.graph


def prior_of(study: Any, problem: Problem, carved: carve.Carved) -> density.Config:
    """The prior with its deviation in numbers."""
    if study.prior.deviation != "penalty":
        return study.prior
    penalty = carved.restarts[carved.chosen.origin].penalty
    deviation = study.sparsify.prior_deviation(penalty, problem.train.cells)
    return study.prior.model_copy(update={"deviation": deviation})


def sample(
    key: Array,
    carved: carve.Carved,
    problem: Problem,
    study: Any,
    report: Report,
    store: Store | None = None,
) -> tuple[density.Posterior, Ensemble]:
    """Sample the posterior of the law, in coordinates made round by its Laplace approximation unless told otherwise."""
    start_key, run_key, check_key = jax.random.split(key, 3)
    law, physics = carved.law, problem.physics
    units = NaturalUnits.of(problem.train, physics.reference, physics.sizes, study.noise.floor)
    posterior = density.build(
        law, density.Likelihood(carved.quadratic, problem.train.cells, study.noise.unknown),
        units.parameters(law.graph), prior_of(study, problem, carved), potential_of(study, problem, law),
    )  # fmt: skip
    touching = density.laplace(posterior, carved.law.values)
    module, settings, reason = _chosen(study.infer, posterior.dimension)
    plain = target_of(posterior, getattr(settings, "batch", None))
    white = base.whiten(plain, touching.centre, touching.root)
    position = jax.random.normal(start_key, (settings.width, posterior.dimension))
    if settings.whiten:
        target = white
    else:
        target, position = (
            plain._replace(centre=touching.centre),
            touching.centre + position @ touching.root.T,
        )
    name = _piece(study, carved)
    done = driver.run(
        run_key, module.build(target, settings), position, settings.schedule, report, store, name
    )
    if done.failed:
        raise RunFailure(
            f"inference stopped: {done.reason}; try a smaller infer.rate or prior.deviation, or look at the data for "
            "outliers"
        )
    usable = jnp.asarray(done.usable.reshape(-1, posterior.dimension))
    v = (
        usable
        if settings.whiten
        else jnp.linalg.solve(touching.root, (usable - touching.centre).T).T
    )
    health = diagnostics.examine(check_key, white, np.asarray(v).reshape(done.usable.shape))
    theta, value, factor = jax.jit(jax.vmap(lambda row: _described(posterior, touching, row)))(v)
    ensemble = Ensemble(
        np.asarray(theta), np.asarray(value), np.asarray(factor), done.usable.shape[:2], settings.method, reason, done,
        health,
    )  # fmt: skip
    return posterior, ensemble


def check(study: Any) -> None:
    """Refuse, before anything is computed, a sampler that cannot work in the coordinates of a law's posterior."""
    if study.infer.method == "l1flow":
        raise InputError(
            "infer.method = 'l1flow' carves the weights of a whole network itself; from Python, use "
            "steinmetz.weights(study) and steinmetz.sample(…, 'l1flow'), or take another sampler here"
        )


def _chosen(config: Any, dimension: int) -> tuple[Any, Any, str]:
    """The method that runs, its configuration, and why it was taken."""
    if config.method == "auto":
        return auto.choose(config, dimension)
    return registry.load("infer", config.method), config, "named in the study"


def _described(
    posterior: density.Posterior, touching: density.Laplace, v: Array
) -> tuple[Array, Array, Array]:
    u = touching.centre + touching.root @ v
    return posterior.theta(u), posterior.log_density(u), jnp.exp(posterior.log_factor(u))


def _piece(study: Any, carved: carve.Carved) -> str:
    """The name under which checkpoints of this inference are kept: another law or setting has another name."""
    said = [study.infer.model_dump(mode="json"), study.seed, structure(carved.law)]
    return "infer-" + hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]
