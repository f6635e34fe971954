"""Particles of a Stein flow under an L1 prior: third coordinate against first, second as colour.

The likelihood is Gaussian and knows little about the third coordinate, so the prior drives it to
exactly zero, while the two others keep the spread of their posterior: sparse and uncertain at once.
"""

import time

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from steinmetz.cache import Cache, ContentCache
from steinmetz.engine import density
from steinmetz.paper import grids
from steinmetz.paper.plots import common
from steinmetz.paper.records import FlowSnapshots, Outcome
from steinmetz.records import Report
from steinmetz.report.style import COLOURS
from steinmetz.shapes import Scalar, Vector


class Options(grids.Options):
    """A Gaussian likelihood, the weight of the L1 prior, and the steps at which one looks."""

    mean: tuple[float, ...]
    precision: tuple[tuple[float, ...], ...]
    penalty: float
    particles: int
    epochs: tuple[int, ...]


def measure(point: grids.Point, results: ContentCache, report: Report) -> FlowSnapshots:
    """Where particles start, and where they are after some steps of `infer.l1flow`.

    The log likelihood is −½ (x − m)ᵀ P (x − m) with mean m and precision P.
    """
    options, seed = point.grid.of(Options), point.seed
    mean, precision = jnp.asarray(options.mean), jnp.asarray(options.precision)
    method = {"particles": options.particles, "penalty": options.penalty}
    method |= {"steps": options.epochs[-1], "thin": options.epochs[1]}

    def log_likelihood(x: Vector) -> Scalar:
        return -0.5 * (x - mean) @ precision @ (x - mean)

    def compute(cache: Cache) -> FlowSnapshots:
        begun, zero = time.monotonic(), jnp.zeros(len(mean))
        run = density.sample(log_likelihood, zero, "l1flow", seed, report, cache, **method).run
        return FlowSnapshots(
            steps=options.epochs, particles=np.concatenate([run.start[None], run.draws]),
            mean=options.mean, seconds=time.monotonic() - begun,
        )  # fmt: skip

    content = {"flow": options.model_dump(mode="json"), "seed": seed}
    return results.get(content, FlowSnapshots, compute)


def draw(outcome: Outcome[FlowSnapshots]) -> Figure:
    """The first seed; a cross marks the mean of the likelihood."""
    flow = outcome.rows[0].result
    size = 3.0 * len(flow.steps) + 0.6, 3.0
    figure, (axes,) = common.panels((1, len(flow.steps)), size, sharex=True, sharey=True)
    cross = {"color": COLOURS[1], "ms": 9, "mew": 2, "label": "mean of the likelihood"}
    for axis, step, particles in zip(axes, flow.steps, flow.particles, strict=True):
        first, second, third = particles.T
        dots = axis.scatter(first, third, c=second, s=12, cmap="viridis", vmin=-1, vmax=3, lw=0)
        axis.plot(flow.mean[0], flow.mean[2], "x", **cross)
        zero = 100 * float(np.mean(third == 0))
        axis.set_title(f"step {step}: θ₃ = 0 in {zero:.0f} %", fontsize=9)
        axis.set_xlabel("θ₁")
    axes[0].set_ylabel("θ₃")
    axes[0].legend(fontsize=7)
    figure.colorbar(dots, ax=axes, label="θ₂")
    return figure
