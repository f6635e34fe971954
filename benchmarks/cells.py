"""The posteriors that Stein steps are timed on, as held by this package and as written by hand."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtr
from jax.scipy.stats import norm

from steinmetz.data import noise
from steinmetz.data.quadratic import compress
from steinmetz.engine.problem import prepare
from steinmetz.engine.sample import target_of
from steinmetz.infer.base import Target, as_target
from steinmetz.materials import kinematics
from steinmetz.posterior import density
from steinmetz.potentials import icnn, mlp
from steinmetz.potentials.graph import Edge, Graph
from steinmetz.potentials.law import Law
from steinmetz.potentials.units import parameter_units
from steinmetz.studies import config

PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


class Cell(NamedTuple):
    """`natural` is the log density a user would write.

    `shapes` are rows and columns of the matrices of a network, the output's last; `units` of a
    sparse law are those whose value is needed, and those whose slope is.
    """

    name: str
    target: Target
    natural: Callable
    dimension: int
    data: int = 0
    shapes: tuple[tuple[int, int], ...] = ()
    units: tuple[int, int] = (0, 0)
    posterior: density.Posterior | None = None

    def start(self, key, particles: int):
        """Small weights, of a fixed sign a twentieth of their unit; else around the origin."""
        away = (
            0.0
            if self.posterior is None
            else jnp.where(self.posterior.bijector.nonnegative, -3.0, 0.0)
        )
        return away + 0.5 * jax.random.normal(key, (particles, self.dimension))


def gaussian(dimension: int = 7) -> Cell:
    """Variances from 10⁻³ to 1."""
    variance = jnp.asarray(np.geomspace(1e-3, 1, dimension))
    log_density = lambda x: -0.5 * jnp.sum(x**2 / variance)  # noqa: E731
    return Cell("gaussian", as_target(log_density), log_density, dimension)


def _data(study: str, count: int):
    """The material of a study, and as many of its data as asked for."""
    problem = prepare(jax.random.key(0), config.load(study, {"data.count": count}))
    return problem.material, problem.train


def _second_piola(slope, F):
    """S = 2Ψ₁ I + 2Ψ₂ (I1 I − C) + (Ψ_J − n) J C⁻¹, six components."""
    at = kinematics.invariants(F)
    g, g0 = slope(at), slope(jnp.array([3.0, 3.0, 1.0]))
    n = 2 * (g0[0] + 2 * g0[1]) + g0[2]
    C, J = F.T @ F, jnp.linalg.det(F)
    whole = (
        2 * g[0] * jnp.eye(3)
        + 2 * g[1] * (at[0] * jnp.eye(3) - C)
        + (g[2] - n) * J * jnp.linalg.inv(C)
    )
    return jnp.stack([whole[i, j] for i, j in PAIRS])


def _natural(posterior, observations, energy, stress, state):
    """Energy, its gradient by `jax.grad`, stress, sum of squares, prior: nothing is prepared."""
    deviation = noise.deviation(observations, observations.values, 0.02)
    scale, prior = posterior.bijector.scale, posterior.prior
    signs = posterior.bijector.nonnegative

    def log_density(u):
        theta = scale * jnp.where(signs, u * ndtr(u) + norm.pdf(u), u)
        slope = jax.grad(lambda x: energy(theta, x))
        predicted = jax.vmap(lambda row: stress(slope, row))(state)
        misfit = jnp.sum(((predicted - observations.values) / deviation) ** 2)
        return (
            -0.5 * misfit
            - 0.5 * jnp.sum((theta / prior) ** 2)
            + jnp.sum(jnp.where(signs, norm.logcdf(u), 0.0))
        )

    return log_density


def _posterior(potential, graph, material, observations):
    quadratic = compress(observations, noise.deviation(observations, observations.values, 0.02))
    modulus = observations.modulus(material.reference)
    units = parameter_units(graph, material.sizes, modulus)
    law = Law(graph, jnp.ones(graph.size), material.reference)
    likelihood = density.Likelihood(quadratic, observations.cells)
    return density.build(law, likelihood, units, density.Config(), potential)


def sparse_gent(count: int = 80) -> Cell:
    """The paper's law for Gent data, with its 8 parameters free."""
    material, observations = _data("hyperelasticity", count)
    edges = (
        Edge(3, 1, 0), Edge(4, 1, 1), Edge(4, 2, 2),
        Edge(5, 0, 3), Edge(5, 3, 4), Edge(5, 4, 5), Edge(6, 2, 6), Edge(6, 5, 7),
    )  # fmt: skip
    signs = (False, False, False, True, True, True, False, True)
    graph = Graph(
        inputs=material.inputs, activations=("softplus",) * 3, edges=edges, nonnegative=signs
    )

    def energy(w, x):
        first = jax.nn.softplus(w[0] * x[1])
        second = jax.nn.softplus(w[1] * x[1] + w[2] * x[2])
        return w[6] * x[2] + w[7] * jax.nn.softplus(w[3] * x[0] + w[4] * first + w[5] * second)

    posterior = _posterior(graph, graph, material, observations)
    state = jnp.asarray(observations.state).reshape(-1, 3, 3)
    natural = _natural(posterior, observations, energy, _second_piola, state)
    return Cell(
        "sparse law", target_of(posterior), natural, graph.size, count, (), (2, 3), posterior
    )


def whole_icnn(count: int = 80) -> Cell:
    """The tied 3–30–30–1 network: W₁ x, then W (x + h)."""
    material, observations = _data("hyperelasticity", count)
    network = icnn.build(icnn.Config(form="tied"), material.inputs, material.conditions)

    def energy(theta, x):
        W1, W2, w3 = theta[:90].reshape(30, 3), theta[90:990].reshape(30, 30), theta[990:]
        padded = jnp.concatenate([x, jnp.zeros(27)])
        h = jax.nn.softplus(W1 @ x)
        h = jax.nn.softplus(W2 @ (h + padded))
        return w3 @ (h + padded)

    posterior = _posterior(network, network.graph(), material, observations)
    state = jnp.asarray(observations.state).reshape(-1, 3, 3)
    natural = _natural(posterior, observations, energy, _second_piola, state)
    return Cell(
        "whole ICNN",
        target_of(posterior),
        natural,
        network.size,
        count,
        tuple(network.shapes),
        (30, 60),
        posterior,
    )


def whole_mlp(count: int = 80) -> Cell:
    """The plain 4–4–16–4–1 network for mechanochemistry."""
    material, observations = _data("mechanochemistry", count)
    network = mlp.build(mlp.Config(), material.inputs, material.conditions)
    shapes, ends = network.shapes, np.cumsum([rows * columns for rows, columns in network.shapes])

    def energy(theta, x):
        for layer, ((rows, columns), end) in enumerate(zip(shapes, ends, strict=True)):
            z = theta[end - rows * columns : end].reshape(rows, columns) @ x
            x = jax.nn.softplus(z) if layer < len(shapes) - 1 else z
        return x[0]

    def stress(slope, state):
        F, c = state[:4].reshape(2, 2), state[4]
        E = 0.5 * (F.T @ F - jnp.eye(2))
        x = jnp.stack(
            [
                (E[0, 0] + E[1, 1]) / np.sqrt(3),
                (E[0, 0] - E[1, 1]) / np.sqrt(2),
                np.sqrt(2) * E[0, 1],
                c,
            ]
        )
        g = slope(x)
        first, second = g[0] / np.sqrt(3), g[1] / np.sqrt(2)
        return jnp.stack([first + second, first - second, g[2] / np.sqrt(2), g[3]])

    posterior = _posterior(network, network.graph(), material, observations)
    natural = _natural(posterior, observations, energy, stress, jnp.asarray(observations.state))
    return Cell(
        "whole MLP",
        target_of(posterior),
        natural,
        network.size,
        count,
        tuple(shapes),
        (20, 24),
        posterior,
    )
