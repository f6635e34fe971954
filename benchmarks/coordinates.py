"""Coordinates of weights with a fixed sign: which mixes best on a thin, bent posterior.

`PYTHONPATH=src:tests python benchmarks/coordinates.py` samples the law of seven parameters of
`tests/infer/test_calibration.py` (noise 0.05, prior deviation 1) in each of some coordinates u, and
prints medians over data sets of the worst R-hat and of the fewest effective draws of the bulk and
of the tails, all of the parameters θ, and effective draws of the bulk per processor second.
"""

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

from jax.scipy.special import log_ndtr  # noqa: E402

from infer.test_calibration import SevenParameters  # noqa: E402
from steinmetz.data.quadratic import residuals  # noqa: E402
from steinmetz.infer import diagnostics, nuts, ssvn  # noqa: E402
from steinmetz.infer.base import as_target, whiten  # noqa: E402
from steinmetz.laplace import Search, climb, gauss_newton, touching  # noqa: E402
from steinmetz.materials import isotropic  # noqa: E402
from steinmetz.posterior.bijector import ramp  # noqa: E402
from steinmetz.potentials.base import slopes  # noqa: E402

NOISE, DEVIATION, STARTS = 0.05, 1.0, 8
# Least curvature of a prior: where it is less, the data must tell.
FLAT = 1e-3
# Settings of a method, and groups of particles that are chains of their own.
METHODS = {
    "ssvn": (ssvn, {"particles": 20, "warm_up": 1000, "steps": 10_000, "thin": 100}, 4),
    "nuts": (
        nuts,
        {"chains": 4, "warm_up": 600, "steps": 600, "metric": "dense", "acceptance": 0.9},
        1,
    ),
}


class Way(NamedTuple):
    """θ = unit · value(u), which is never negative, and the logarithm of its slope."""

    value: Callable
    log_slope: Callable
    unit: float = 1.0


WAYS = {
    "exp(u)": Way(jnp.exp, lambda u: u),
    "softplus(u)": Way(jax.nn.softplus, jax.nn.log_sigmoid),
    "softplus(u), unit 0.2": Way(jax.nn.softplus, jax.nn.log_sigmoid, 0.2),
    "|u|": Way(jnp.abs, jnp.zeros_like),
    "u Φ(u) + φ(u)": Way(ramp, log_ndtr),
}


class Posed(NamedTuple):
    """The posterior of the law's parameters, given values of the stress, in some coordinates."""

    model: SevenParameters
    way: Way
    values: jax.Array

    def theta(self, u):
        """Parameters at u."""
        signs = self.model.posterior.bijector.nonnegative
        return jnp.where(signs, self.way.unit * self.way.value(u), DEVIATION * u)

    def likelihood(self, u):
        """Residuals over the noise."""
        data, posterior = self.model.compressed(self.values), self.model.posterior
        slope = slopes(posterior.potential, posterior.reference, self.theta(u), data.inputs)
        return residuals(data, slope).ravel()

    def log_prior(self, u):
        """Of every coordinate, with its volume."""
        signs = self.model.posterior.bijector.nonnegative
        volume = jnp.where(signs, self.way.log_slope(u), 0.0)
        return -0.5 * (self.theta(u) / DEVIATION) ** 2 + volume

    def prior(self, u):
        """Rows with the curvature of the prior, which is that of every coordinate alone."""
        along = lambda x: jax.grad(lambda v: jnp.sum(self.log_prior(v)))(x)  # noqa: E731
        bent = -jax.jvp(along, (u,), (jnp.ones_like(u),))[1]
        return jax.lax.stop_gradient(jnp.sqrt(jnp.maximum(bent, FLAT))) * u

    def log_density(self, u):
        """log π(u)."""
        return -0.5 * jnp.sum(self.likelihood(u) ** 2) + jnp.sum(self.log_prior(u))

    def mode(self, starts):
        """Laplace's approximation at the highest mode that is reached."""
        curvature = gauss_newton(self.likelihood, self.prior)
        search = Search(5000, longest=1.0)
        places = jax.lax.map(lambda u: climb(self.log_density, curvature, u, search), starts)
        best = places[jnp.argmax(jax.vmap(self.log_density)(places))]
        return touching(self.log_density, curvature, best)


def sampled(model, way, method, settings, key):
    """Draws in whitened coordinates: snapshots × particles × parameters."""
    config = method.Config(**settings)
    data_key, start_key, run_key = jax.random.split(key, 3)
    posed = Posed(model, way, model.simulate(data_key)[1])
    laplace = posed.mode(jax.random.normal(jax.random.key(1), (STARTS, 7)))
    plain = as_target(posed.log_density)
    target = plain._replace(likelihood=posed.likelihood, prior=posed.prior)
    sampler = method.build(whiten(target, laplace), config)
    state = sampler.init(start_key, jax.random.normal(start_key, (config.width, 7)))

    def step(state, number):
        return sampler.step(jax.random.fold_in(run_key, number), state)[0], None

    def kept(state, first):
        state = jax.lax.scan(step, state, first + jnp.arange(config.schedule.thin))[0]
        return state, state.particles

    state = jax.lax.scan(step, state, jnp.arange(config.schedule.burn))[0]
    firsts = config.schedule.burn + jnp.arange(0, config.schedule.steps, config.schedule.thin)
    return laplace.forward_all(jax.lax.scan(kept, state, firsts)[1])


def measured(model, way, name, count):
    """R-hat, effective draws of bulk and tails, and processor seconds, of every data set."""
    method, settings, groups = METHODS[name]
    run = jax.jit(lambda key: sampled(model, way, method, settings, key))
    keys = jax.random.split(jax.random.key(0), count)
    jax.block_until_ready(run(keys[0]))
    found = []
    for key in keys:
        begun = time.process_time()
        draws = np.asarray(run(key))
        seconds = time.process_time() - begun
        weights = np.where(model.posterior.bijector.nonnegative, way.value(draws), draws)
        mixed = diagnostics.between_particles(weights, groups)
        found.append((mixed["r_hat"], mixed["bulk"], mixed["tail"], seconds))
    return np.array(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=12, help="data sets")
    parser.add_argument("--methods", nargs="+", default=sorted(METHODS), choices=sorted(METHODS))
    asked = parser.parse_args()
    model = SevenParameters(isotropic.build(isotropic.Config()), NOISE, DEVIATION)
    print("| θ(u) | method | R-hat | bulk | tails | bulk per second |\n|---|---|---|---|---|---|")
    for name in asked.methods:
        for label, way in WAYS.items():
            r_hat, bulk, tail, seconds = measured(model, way, name, asked.sets).T
            cells = f"{np.median(r_hat):.3f} | {np.median(bulk):.0f} | {np.median(tail):.0f}"
            print(f"| {label} | {name} | {cells} | {bulk.sum() / seconds.sum():.1f} |", flush=True)


if __name__ == "__main__":
    main()
