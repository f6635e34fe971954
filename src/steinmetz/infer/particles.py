"""What methods share whose particles move together: settings, the state of a flow, a held kernel.

A *flow* is deterministic and comes to rest; its last particles are the draws. *Moving* particles
have noise and never rest; snapshots of them are the draws.
"""

from typing import Annotated, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array
from pydantic import Field

from steinmetz.infer import kernels
from steinmetz.infer.base import Capabilities, Settings
from steinmetz.infer.schedule import Schedule
from steinmetz.shapes import Alive, Count, Particles, Scalar

# ε of Adam, in posterior deviations: large, so that near rest steps shrink with the direction
# instead of keeping their length.
_REST = 0.1

Optimiser = Literal["adam", "plain", "adagrad"]
# Settings whose defaults differ from method to method.
Width = Annotated[int, Field(ge=1, le=100_000, description="particles that flow together")]
Rate = Annotated[float, Field(gt=0, le=10, description="learning rate")]
FlowSteps = Annotated[int, Field(ge=1, description="steps of the flow")]
WarmUp = Annotated[int, Field(ge=0, description="steps before the first snapshot")]
Steps = Annotated[int, Field(ge=1, description="steps after the warm-up")]
Thin = Annotated[int, Field(ge=1, description="steps between two snapshots of the particles")]


class Batched(Settings):
    """Slopes may be estimated from some of the data."""

    batch: int | None = Field(
        None, ge=1, description="data drawn anew for every step; else all of them"
    )

    @property
    def batch_size(self) -> int | None:
        return self.batch


class Flow(Settings):
    """Particles, steps and kernel of a flow."""

    particles: Width = 500
    steps: FlowSteps = 2000
    kernel: kernels.Name = Field("rbf", description="kernel: rbf, imq, or bilinear (with the RBF)")
    refresh: int = Field(10, ge=1, description="steps between two looks at the kernel's width")
    rate: Rate = 0.1

    @property
    def width(self) -> int:
        return self.particles


class Descent(Flow, Batched):
    """A flow by an optimiser, until it comes to rest."""

    capabilities: ClassVar[Capabilities] = Capabilities(rests=True)
    optimiser: Optimiser = Field("adam", description="how a direction becomes a step")
    decay: float = Field(
        1.0,
        gt=0,
        le=1,
        description="rate of the last step over that of the first; it falls in the second half of "
        "the steps, so that particles come to rest where a density is steep",
    )
    tolerance: float = Field(
        2e-4, ge=0, description="mean direction, in posterior deviations, at which to stop"
    )

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.steps, tolerance=self.tolerance)

    def optimise(self) -> optax.GradientTransformation:
        """How a direction becomes a step: Adam, plain steps or AdaGrad."""
        rate = self.rate if self.decay == 1 else self._falling
        if self.optimiser == "adam":
            return optax.adam(rate, eps=_REST)
        return optax.sgd(rate) if self.optimiser == "plain" else optax.adagrad(rate)

    def _falling(self, number: Array) -> Scalar:
        """The rate of a step: held for half of the steps, then falling by the same share a step.

        What particles still move in the second half is then not small because steps are: they could
        go a fifth as far as in the first, with a decay to a hundredth.
        """
        second_half = 2 * number / self.steps - 1
        return self.rate * self.decay ** jnp.clip(second_half, 0.0, 1.0)


class Sampled(Settings):
    """Particles that keep moving: snapshots of them are draws."""

    capabilities: ClassVar[Capabilities] = Capabilities(snapshots=True)
    particles: int = Field(50, ge=1, le=5000, description="laws that move together")
    warm_up: WarmUp = 500
    steps: Steps = 2000
    thin: Thin = 50

    @property
    def width(self) -> int:
        return self.particles

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.steps, burn=self.warm_up, thin=min(self.thin, self.steps))


class Moving(Sampled):
    """The same where a kernel couples them."""

    refresh: int = Field(
        10, ge=1, description="steps of the warm-up between two looks at the kernel's width"
    )


class FlowState(NamedTuple):
    """Places, `moments` of the optimiser, the kernel's `bandwidth` and the `number` of the step.

    A particle whose density or slope was not finite is no longer `alive`: it stays put.
    """

    particles: Particles
    alive: Alive
    moments: optax.OptState
    bandwidth: Scalar
    number: Count


def first(particles: Particles, alive: Alive, moments: optax.OptState) -> FlowState:
    """The state before any step; the bandwidth is measured in the first."""
    return FlowState(particles, alive, moments, jnp.ones((), particles.dtype), jnp.zeros((), int))


def limited(drift: Particles) -> Particles:
    """No drift longer than √dimension posterior deviations in one step.

    Where a density is steep, a step along its slope would leave the posterior altogether.
    """
    lengths = jnp.linalg.norm(drift, axis=1, keepdims=True)
    longest: float = drift.shape[1] ** 0.5
    return drift * jnp.minimum(1.0, longest / jnp.maximum(lengths, 1e-300))


def held_width(
    particles: Particles, alive: Alive, width: Scalar, number: Count, refresh: int, warm_up: int
) -> Scalar:
    """The median heuristic now and then during the warm-up, and the last value after it.

    Where there is no warm-up it is measured once: a width that followed the particles would bend
    the law that their noise is made for.
    """
    due = (number == 0) | ((number % refresh == 0) & (number < warm_up))
    held: Scalar = jax.lax.cond(due, kernels.bandwidth, lambda *_: width, particles, alive)
    return held
