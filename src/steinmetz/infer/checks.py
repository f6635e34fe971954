"""Checks of how a target was sampled: which apply, pass or fail, and what to do about it.

They see `Inference`, a record of plain numbers that is saved with a run, so that a finished run can
be judged alone. Which checks apply is said by the capabilities of its method.
"""

import math
from collections.abc import Iterator
from typing import Annotated, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict

from steinmetz.infer.base import Capabilities

# R-hat of chains that agree, beside its own scatter (Vehtari et al. 2021).
_R_HAT = 1.01
# Effective draws for a stable R-hat and quantiles (Vehtari et al. 2021).
_EFFECTIVE = 400
# Stein discrepancy over that of exact normal draws (experiments in docs/samplers.md).
_DISCREPANCY = 2.0
# Mean variance over Laplace's below which an ensemble has collapsed; half of it for one coordinate.
_COLLAPSED = 0.5
# Mean length of the Stein direction, in posterior deviations, at which a flow has come to rest.
_REST = 0.02

_LONGER = "raise infer.steps, or infer.thin with it; with few parameters try infer.method=nuts"


def _finite(value: float | None) -> float | None:
    """JSON has no infinity: a number that is not finite becomes null."""
    return value if value is not None and math.isfinite(value) else None


Number = Annotated[float | None, BeforeValidator(_finite)]
"""A number, or None where it is not finite or not known."""


class Inference(BaseModel):
    """How a target was sampled, and how well: the section `inference` of a summary.

    `particles` are those asked for, `frozen` the numbers of those lost, `direction` is what the method
    calls its distance from rest, `totals` are its counts over all usable particles. The rest is
    described in `diagnostics.Diagnostics`.
    """

    model_config = ConfigDict(frozen=True)
    method: str
    reason: str
    capabilities: Capabilities
    particles: int
    snapshots: int
    draws: int
    frozen: tuple[int, ...]
    steps: int
    direction: Number
    stopped: str
    totals: dict[str, float]
    discrepancy: Number
    expected: Number
    variance: tuple[Number, Number]
    mean_variance: Number
    r_hat: Number
    bulk: Number
    tail: Number


class Check(NamedTuple):
    """`measured` and `wanted` are words with numbers; `advice` is for when it fails."""

    name: str
    passed: bool
    measured: str
    wanted: str
    advice: str


def examine(done: Inference) -> Iterator[Check]:
    """All checks that apply to the method."""
    can = done.capabilities
    yield Check(
        "finite particles", not done.frozen, f"{len(done.frozen)} of {done.particles} frozen", "none",
        "a smaller infer.rate or prior.deviation; look at the data for outliers",
    )  # fmt: skip
    if can.rests:
        rest = done.direction is not None and done.direction < _REST
        yield Check(
            "at rest", rest, f"direction {_shown(done.direction)}", f"below {_REST}",
            "raise infer.steps, or set infer.batch to use all data",
        )  # fmt: skip
    yield from _against_laplace(done)
    if can.snapshots:
        yield from _between_particles(done)
    if can.divergences:
        count = int(done.totals["divergent"])
        yield Check(
            "divergences", count == 0, str(count), "0",
            "raise infer.acceptance towards 0.99, or set infer.metric=dense",
        )  # fmt: skip
    if can.acceptance is not None and done.totals["tried"] > 0:
        share, (low, high) = done.totals["accepted"] / done.totals["tried"], can.acceptance
        yield Check(
            "accepted moves", low <= share <= high, f"{share:.2f}", f"{low} to {high}",
            "raise infer.warm_up, so that the size of the moves is found",
        )  # fmt: skip


def _against_laplace(done: Inference) -> Iterator[Check]:
    """Discrepancy and variance, both measured where Laplace's approximation is the standard normal."""
    limit = _DISCREPANCY * (done.expected or 0.0)
    near = done.discrepancy is not None and done.discrepancy <= limit
    yield Check(
        "Stein discrepancy", near, f"KSD {_shown(done.discrepancy)}", f"at most {limit:.3g}",
        "the posterior is far from a Gaussian or not yet reached: raise infer.steps and infer.warm_up, "
        "or compare with infer.method=nuts",
    )  # fmt: skip
    (low, high), mean, least = done.variance, done.mean_variance, _COLLAPSED / 2
    wide = mean is not None and low is not None and mean >= _COLLAPSED and low >= least
    yield Check(
        "variance over Laplace's", wide, f"{_shown(low)} to {_shown(high)}, mean {_shown(mean)}",
        f"mean at least {_COLLAPSED}, all at least {least}",
        "use infer.method=auto, whose noise keeps the variance, or more particles",
    )  # fmt: skip


def _between_particles(done: Inference) -> Iterator[Check]:
    """R-hat and effective draws, with particles as chains.

    The limit of R-hat has three of its standard errors for independent draws: of 2m halves of n/2
    draws each, R-hat² = 1 + (F − 1)/(n/2).
    """
    limit = _R_HAT + 3 / max(done.particles, 1) ** 0.5 / max(done.snapshots, 1)
    agree = done.r_hat is not None and done.r_hat < limit
    words = (
        f"unknown with {done.snapshots} snapshots" if done.r_hat is None else f"{done.r_hat:.3f}"
    )
    yield Check("R-hat", agree, words, f"below {limit:.3f}", _LONGER)
    if done.r_hat is not None:
        for name, count in (("bulk", done.bulk or 0.0), ("tail", done.tail or 0.0)):
            enough, wanted = count >= _EFFECTIVE, f"at least {_EFFECTIVE}"
            yield Check(f"effective draws, {name}", enough, f"{count:.0f}", wanted, _LONGER)


def _shown(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.3g}"
