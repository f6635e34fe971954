"""The likelihood of a whole network's weights, in their natural units: for flows that carve and sample at once."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz.engine.problem import Problem, network_of, prepare, require_double
from steinmetz.engine.run import stage_keys
from steinmetz.infer import base
from steinmetz.posterior import batched, density
from steinmetz.posterior.bijector import Bijector
from steinmetz.potentials.base import Network
from steinmetz.potentials.law import Law
from steinmetz.potentials.units import NaturalUnits
from steinmetz.records import Reference
from steinmetz.sparsify.prune import fold_mirrors, prune


class Weights(NamedTuple):
    """`target` is the log likelihood of weights in natural units, `start` random weights, `nonnegative` their signs."""

    target: base.Target
    start: Float[Array, "parameters"]
    nonnegative: tuple[int, ...]
    network: Network
    scene: NaturalUnits
    reference: Reference
    problem: Problem

    def law(self, weights: Any, small: float = 0.0) -> Law:
        """The pruned law of one vector of weights, in the units of the data; |weight| ≤ `small` counts as zero."""
        theta = jnp.where(jnp.abs(jnp.asarray(weights)) <= small, 0.0, jnp.asarray(weights, float))
        pruned = prune(self.network.graph(), theta, self.scene.reference)
        return fold_mirrors(self.scene.outward(pruned))


def weights(study: Any) -> Weights:
    """The network of a study before its data, ready for `steinmetz.sample(..., method="l1flow")`.

    The noise of a datum is judged by the datum itself, as in training. A prior is what the sampler adds.
    """
    require_double()
    keys = stage_keys(study.seed)
    problem = prepare(keys["data"], study)
    physics = problem.physics
    network = network_of(study, physics)
    scene = NaturalUnits.of(problem.train, physics.reference, physics.sizes, study.noise.floor)
    quadratic = scene.weighted(problem.train.values)
    free = Bijector(jnp.zeros(network.size, bool), jnp.ones(network.size))
    flat = density.Posterior(
        network,
        scene.reference,
        density.Likelihood(quadratic, problem.train.cells),
        free,
        jnp.full(network.size, jnp.inf),
        1.0,
    )
    log_density = jax.jit(lambda theta: flat.log_density(theta))
    many = batched.values_and_slopes_of(flat)

    def scores(key: Array, particles: Float[Array, "particles dimension"]) -> tuple[Array, Array]:
        if many is None:
            return jax.vmap(jax.value_and_grad(log_density))(particles)
        return many(particles, quadratic, 1.0)

    signs = np.asarray(network.nonnegative)
    raw = network.initial(keys["carve"])
    start = jnp.where(signs, jnp.abs(raw), raw).astype(float)
    target = base.Target(log_density, scores)
    return Weights(
        target,
        start,
        tuple(np.flatnonzero(signs).tolist()),
        network,
        scene,
        physics.reference,
        problem,
    )
