"""Sample the posterior of a carved law, and measure how well that went."""

import dataclasses
import hashlib
import json
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz import host
from steinmetz.cache import Cache
from steinmetz.data.quadratic import Quadratic
from steinmetz.engine.problem import Problem, network_of
from steinmetz.errors import InputError
from steinmetz.infer import modes, sampling
from steinmetz.infer.base import Target
from steinmetz.infer.checks import Inference
from steinmetz.infer.driver import Checkpoints
from steinmetz.laplace import Laplace
from steinmetz.posterior import batched, density
from steinmetz.potentials.base import Potential
from steinmetz.potentials.law import structure
from steinmetz.potentials.mechanics import Terms
from steinmetz.potentials.straight import Straight
from steinmetz.records import Reference, Report
from steinmetz.shapes import Particles, PerParticle, Scalar, Theta, Vector
from steinmetz.sparsify import carve, many_rows, written
from steinmetz.studies.study import Study

# Places from which modes of a posterior are looked for, the refitted law among them.
_STARTS = 12
# Parameters above which the law alone is tried.
_LARGEST = 40


class Ensemble(NamedTuple):
    """The posterior as laws: parameters θ of every draw, its log density and noise factor s.

    Draws are those of the first snapshot, then of the second, and so on; `shape` is (snapshots,
    particles), `inference` says how they were found and how good they are. `halfway` are parameters
    of the laws that a flow had after half of its steps.
    """

    theta: Float[np.ndarray, "draws parameters"]
    log_density: Float[np.ndarray, "draws"]
    factor: Float[np.ndarray, "draws"]
    shape: tuple[int, int]
    inference: Inference
    halfway: Float[np.ndarray, "particles parameters"] | None = None

    @property
    def method(self) -> str:
        """The method that ran."""
        return self.inference.method


def target_of(posterior: density.Posterior, batch: int | None = None) -> Target:
    """What samplers see of a posterior; with a batch, slopes are estimates from so many data."""
    log_density = jax.jit(lambda u: posterior.log_density(u))  # a bound method cannot be hashed
    whole = posterior.likelihood.quadratic
    data, many = len(whole.inputs), batched.values_and_slopes_of(posterior)

    def values_and_slopes(key: Array, particles: Particles) -> tuple[PerParticle, Particles]:
        if batch is None or batch >= data:
            if many is None:
                return jax.vmap(jax.value_and_grad(log_density))(particles)
            return many(particles, whole, 1.0)
        index = jax.random.choice(key, data, (batch,), replace=False)
        if many is not None:
            return many(particles, posterior.some(index), data / batch)
        return jax.vmap(jax.value_and_grad(lambda u: posterior.estimate(u, index)))(particles)

    rows = posterior.likelihood_rows, posterior.prior_rows
    draw, log_prior = posterior.draw_prior, posterior.log_prior
    return Target(log_density, values_and_slopes, *rows, draw, log_prior=log_prior)


def potential_of(study: Study, problem: Problem, carved: carve.Carved) -> Potential:
    """The law's graph; where nothing was pruned the network itself, which is faster."""
    graph = carved.law.graph
    if graph.size != carved.full or isinstance(graph, Terms):
        return graph
    network = network_of(study, problem.material)
    return network if graph == network.graph() else graph


def prior_of(study: Study, problem: Problem, carved: carve.Carved) -> density.Config:
    """The prior with its deviation in numbers, where it is the price the law was trained with."""
    if study.prior.deviation != "penalty":
        return study.prior
    penalty = carved.restarts[carved.chosen.origin].penalty
    cells = problem.train.cells
    # The price is one against the loss; where that is tempered, so is the prior it is read as.
    tempered = study.prior.tempered(cells)
    deviation = study.sparsify.prior_deviation(penalty, cells) * tempered**0.5
    return study.prior.model_copy(update={"deviation": deviation})


def posterior_of(carved: carve.Carved, problem: Problem, study: Study) -> density.Posterior:
    """The log posterior of the parameters of a carved law."""
    law, units = carved.law, problem.units
    likelihood = density.Likelihood(carved.quadratic, problem.train.cells, study.noise.unknown)
    prior, potential = prior_of(study, problem, carved), potential_of(study, problem, carved)
    whole = density.build(law, likelihood, units.parameters(law.graph), prior, potential)
    some = study.infer.chosen(whole.dimension).settings.batch_size is not None
    return whole if some else straightened(whole, carved)


def straightened(posterior: density.Posterior, carved: carve.Carved) -> density.Posterior:
    """The same density of a law that is linear in its parameters, from one triangle of all data.

    A law with a free constant stays as it is, unless there are so many data that all its posterior
    is where it is nearly linear; one carved from a network always does.
    """
    graph, many = carved.law.graph, len(carved.quadratic.inputs) > many_rows.SEARCHED
    if not isinstance(graph, Terms) or (any(term.free for term in graph.terms) and not many):
        return posterior
    law, size = written.Structure(carved.law, 0.0).written, graph.size
    triangle = np.zeros((size + 1, size + 1))
    for block in many_rows.blocks(carved.quadratic, carved.law.reference):
        beside = np.concatenate([block.beside(law), triangle])
        triangle = np.asarray(np.linalg.qr(beside, mode="r"))
    left = float(triangle[size, size]) ** 2 + float(carved.quadratic.constant)
    one = Quadratic(
        host.held(np.zeros((1, size))),
        host.held(triangle[None, :size, :size]),
        host.held(triangle[None, :size, size]),
        host.held(left),
    )
    likelihood = dataclasses.replace(posterior.likelihood, quadratic=one)
    potential = Straight(graph.names(), graph.nonnegative)
    rest = Reference((0.0,) * size)
    return dataclasses.replace(
        posterior, potential=potential, reference=rest, likelihood=likelihood
    )


def modes_of(key: Array, posterior: density.Posterior, theta: Theta) -> modes.Modes:
    """The modes of a posterior, from the refitted law, from places around it and from the prior.

    In many dimensions the law alone is tried: every start needs curvatures.
    """

    def reached(starts: modes.Starts) -> tuple[Laplace, Float[Array, "reached"]]:
        return density.climbed(posterior, starts)

    first = posterior.inverse(theta)[None]
    if posterior.dimension > _LARGEST:
        return modes.find(reached, first)
    around_key, prior_key = jax.random.split(key)
    near = jax.random.normal(around_key, (_STARTS // 2 - 1, posterior.dimension))
    prior = jax.vmap(posterior.draw_prior)(jax.random.split(prior_key, _STARTS // 2))
    return modes.find(reached, jnp.concatenate([first, first + near, prior]))


class Posed(NamedTuple):
    """A posterior and its modes: what sampling starts from, whichever the method."""

    posterior: density.Posterior
    known: modes.Modes


def pose(key: Array, carved: carve.Carved, problem: Problem, study: Study) -> Posed:
    """The posterior of a carved law with its modes; `key` is that of the sampling."""
    posterior = posterior_of(carved, problem, study)
    return Posed(posterior, modes_of(host.folded(key, 1), posterior, carved.law.values))


def sample(
    key: Array,
    carved: carve.Carved,
    problem: Problem,
    study: Study,
    report: Report,
    cache: Cache | None = None,
) -> Ensemble:
    """Sample the posterior of the law, from its Laplace approximation and in its coordinates."""
    return sample_posed(key, pose(key, carved, problem, study), carved, study, report, cache)


def sample_posed(
    key: Array,
    posed: Posed,
    carved: carve.Carved,
    study: Study,
    report: Report,
    cache: Cache | None = None,
) -> Ensemble:
    """The same where the modes are known.

    A checkpoint of another law or setting has another name.
    """
    posterior, known = posed
    laplace, choice = known.main, study.infer.chosen(posterior.dimension)
    target = target_of(posterior, choice.settings.batch_size)
    checkpoints = None if cache is None else Checkpoints(cache, _name(study, carved))
    samples = sampling.sample(key, target, known, choice, report, checkpoints)

    def described(v: Vector) -> tuple[Theta, Scalar, Scalar]:
        u = laplace.forward(v)
        return posterior.theta(u), posterior.log_density(u), jnp.exp(posterior.log_factor(u))

    white, every = samples.white.reshape(-1, posterior.dimension), jax.jit(jax.vmap(described))
    theta, value, factor = (np.asarray(part) for part in every(white))
    halfway = None if samples.halfway is None else np.asarray(every(samples.halfway)[0])
    return Ensemble(theta, value, factor, samples.shape, samples.inference, halfway)


def check(study: Study) -> None:
    """Refuse, before anything is computed, a sampler that cannot sample the posterior of a law."""
    instead = study.infer.capabilities.instead_for_laws
    if instead:
        raise InputError(f"infer.method = '{study.infer.method}' {instead}")


def _name(study: Study, carved: carve.Carved) -> str:
    """The name under which checkpoints of this inference are kept."""
    content = [study.infer.model_dump(mode="json"), study.seed, structure(carved.law)]
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return f"infer-{digest[:16]}"
