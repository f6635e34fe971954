"""The likelihood of a whole network's weights, in natural units.

For flows that carve and sample at once.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from numpy.typing import ArrayLike

from steinmetz.engine.carved import stage_keys
from steinmetz.engine.problem import Problem, network_of, prepare, use_double
from steinmetz.infer import base
from steinmetz.posterior import batched, density
from steinmetz.posterior.bijector import Bijector
from steinmetz.potentials.base import Network
from steinmetz.potentials.law import Law
from steinmetz.potentials.units import NaturalUnits
from steinmetz.records import Reference
from steinmetz.shapes import Particles, Theta
from steinmetz.sparsify.prune import fold_mirrors, prune
from steinmetz.studies.study import Study


class NetworkLikelihood(NamedTuple):
    """`target` is the log likelihood of weights in natural units.

    `start` are random weights, `nonnegative` the numbers of those whose sign is fixed.
    """

    target: base.Target
    start: Theta
    nonnegative: tuple[int, ...]
    network: Network
    units: NaturalUnits
    reference: Reference
    problem: Problem

    def law(self, weights: ArrayLike, small: float = 0.0) -> Law:
        """The pruned law of one vector of weights, in the units of the data.

        |weight| ≤ `small` counts as zero.
        """
        given = jnp.asarray(weights, float)
        theta = jnp.where(jnp.abs(given) <= small, 0.0, given)
        pruned = prune(self.network.graph(), theta, self.units.reference)
        return fold_mirrors(self.units.outward(pruned))


def network_likelihood(study: Study) -> NetworkLikelihood:
    """The network of a study before its data, ready for `steinmetz.sample(..., method="l1flow")`.

    The noise of a datum is judged by the datum itself, as in training. A prior is what the sampler
    adds.
    """
    use_double()
    keys = stage_keys(study.seed)
    problem = prepare(keys["data"], study)
    material = problem.material
    network = network_of(study, material)
    units = problem.units
    quadratic = units.weighted(problem.train.values)
    free = Bijector(jnp.zeros(network.size, bool), jnp.ones(network.size))
    likelihood = density.Likelihood(quadratic, problem.train.cells)
    flat = density.Posterior(
        network, units.reference, likelihood, free, jnp.full(network.size, jnp.inf), 1.0
    )
    log_density = jax.jit(lambda theta: flat.log_density(theta))
    many = batched.values_and_slopes_of(flat)

    def values_and_slopes(key: Array, particles: Particles) -> tuple[Array, Array]:
        if many is None:
            return jax.vmap(jax.value_and_grad(log_density))(particles)
        return many(particles, quadratic, 1.0)

    signs = np.asarray(network.nonnegative)
    raw = network.initial(keys["carve"])
    start = jnp.where(signs, jnp.abs(raw), raw).astype(float)
    target, fixed = base.Target(log_density, values_and_slopes), np.flatnonzero(signs).tolist()
    return NetworkLikelihood(
        target, start, tuple(fixed), network, units, material.reference, problem
    )
