"""Checks of how a target was sampled: which apply, pass or fail, and what to do about it.

They see `Inference`, a record of plain numbers that is saved with a run, so that a finished run can
be judged alone. Which checks apply is said by the capabilities of its method.
"""

from collections.abc import Iterator
from typing import NamedTuple

from pydantic import Field

from steinmetz.infer.base import Capabilities
from steinmetz.infer.diagnostics import (
    FEWEST_SNAPSHOTS,
    Diagnostics,
    Draws,
    Number,
    between_particles,
    shown,
)
from steinmetz.laplace import MODE_SLOPE

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
# Nats that Laplace's approximation of a bent density may have too much, per parameter and at least.
_NATS, _FEW_NATS = 0.5, 2.0
# Changes of particles between modes from which the shares of the modes are known to a few percent.
_EXCHANGES = 100

_LONGER = "raise infer.steps, or infer.thin with it; with few parameters try infer.method=nuts"
# What to do where a check fails.
_ADVICE = {
    "finite particles": "a smaller infer.rate or prior.deviation; look at the data for outliers",
    "mode": "the start is no mode: the density may end at an edge, or be hardly curved; more data, "
    "a smaller prior.deviation or fewer parameters (--parameters) make it one",
    "modes": "the shares of the modes rest on Laplace's approximation; use infer.method=auto, "
    "whose particles change between modes, with more infer.steps",
    "at rest": "raise infer.steps, or set infer.batch to use all data",
    "Stein discrepancy": "the posterior is far from a Gaussian or not yet reached: raise "
    "infer.steps and infer.warm_up, or compare with infer.method=nuts",
    "variance over Laplace's": "use infer.method=auto, whose noise keeps the variance, or more "
    "particles",
    "R-hat": _LONGER,
    "effective draws, bulk": _LONGER,
    "effective draws, tail": _LONGER,
    "divergences": "raise infer.acceptance towards 0.99, or set infer.metric=dense",
    "whole likelihood": "raise infer.warm_up, or lower infer.effective: the draws are of a density "
    "in which data count for less",
    "evidence": "the particles missed the modes that are known: raise infer.moves and "
    "infer.warm_up, or compare with infer.method=auto",
    "accepted moves": "raise infer.warm_up, so that the size of the moves is found",
}


class Inference(Diagnostics):
    """How a target was sampled, and how well: the section `inference` of a summary.

    `particles` are those asked for, `frozen` the numbers of those lost, `direction` is what the
    method calls its distance from rest, `totals` are its counts over all usable particles, `facts`
    what it knew before its first step, or what its draws are judged by. `mode_slope` is the slope
    at the mode from which all started, in posterior deviations. `modes` are the shares of the draws
    at the modes that were found from so many `starts`, `exchanges` counts particles that were at
    another mode a snapshot later.
    """

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
    facts: dict[str, float] = Field({})
    mode_slope: Number = None
    starts: int = 1
    modes: tuple[float, ...] = (1.0,)
    exchanges: int = 0


class Check(NamedTuple):
    """`measured` and `wanted` are words with numbers; `advice` is for when it fails."""

    name: str
    passed: bool
    measured: str
    wanted: str
    advice: str


def examine(done: Inference) -> list[Check]:
    """All checks that apply to the method."""
    return [Check(*row, _ADVICE[row[0]]) for row in _rows(done)]


def _rows(done: Inference) -> Iterator[tuple[str, bool, str, str]]:
    """Name, verdict, what was measured and what was wanted."""
    can, lost = done.capabilities, len(done.frozen)
    yield "finite particles", lost == 0, f"{lost} of {done.particles} frozen", "none"
    if done.mode_slope is not None:
        slope, wanted = f"slope {done.mode_slope:.2g} deviations", f"at most {MODE_SLOPE}"
        yield "mode", done.mode_slope <= MODE_SLOPE, slope, wanted
    if done.starts > 1 and not can.bridges:  # which weighs all that it meets
        yield _modes(done)
    if can.rests:
        rest = done.direction is not None and done.direction < _REST
        yield "at rest", rest, f"direction {shown(done.direction)}", f"below {_REST}"
    limit = _DISCREPANCY * (done.expected or 0.0)
    near = done.discrepancy is not None and done.discrepancy <= limit
    yield "Stein discrepancy", near, f"KSD {shown(done.discrepancy)}", f"at most {limit:.3g}"
    (low, high), mean, least = done.variance, done.mean_variance, _COLLAPSED / 2
    wide = mean is not None and low is not None and mean >= _COLLAPSED and low >= least
    spread = f"{shown(low)} to {shown(high)}, mean {shown(mean)}"
    wanted = f"mean at least {_COLLAPSED}, all at least {least}"
    yield "variance over Laplace's", wide, spread, wanted
    if can.snapshots:
        found = Mixing(done.r_hat, done.bulk, done.tail)
        yield from mixed(found, done.particles, done.snapshots)
    if can.divergences:
        count = int(done.totals["divergent"])
        yield "divergences", count == 0, str(count), "0"
    if can.bridges:
        missing = done.totals["missing"]
        yield "whole likelihood", missing == 0, f"{missing:.2g} missing", "none"
        yield _evidence(done)
    if can.acceptance is not None and done.totals["tried"] > 0:
        share, (low, high) = done.totals["accepted"] / done.totals["tried"], can.acceptance
        yield "accepted moves", low <= share <= high, f"{share:.2f}", f"{low} to {high}"


def _modes(done: Inference) -> tuple[str, bool, str, str]:
    """One mode, or several between which particles change often enough to know their shares."""
    wanted = f"one, or at least {_EXCHANGES} changes between them"
    if len(done.modes) == 1:
        return "modes", True, f"one from {done.starts} starts", wanted
    shares = ", ".join(f"{share:.0%}" for share in done.modes)
    measured = f"{len(done.modes)} with shares {shares}; {done.exchanges} changes"
    return "modes", done.exchanges >= _EXCHANGES, measured, wanted


def _evidence(done: Inference) -> tuple[str, bool, str, str]:
    """Whether the particles have met what is known of the density: its modes, by Laplace.

    Laplace's approximation of a bent density may have too much (docs/samplers.md).
    """
    known, found = done.facts["evidence of modes"], done.totals["evidence"]
    least = known - max(_FEW_NATS, _NATS * done.facts["dimension"])
    return "evidence", found >= least, f"log evidence {found:.4g}", f"at least {least:.4g}"


def _r_hat_limit(particles: int, snapshots: int) -> float:
    """What R-hat must be below, with three of its standard errors for independent draws."""
    error: float = max(particles, 1) ** -0.5 / max(snapshots, 1)
    return _R_HAT + 3 * error


def settled(draws: Draws, groups: int) -> bool:
    """Whether R-hat and effective draws of moving particles suffice, or can never do so.

    Few draws can never be 400 effective ones: then a fifth of them suffices.
    """
    snapshots, particles, _ = draws.shape
    if snapshots < FEWEST_SNAPSHOTS or snapshots * particles < 2:
        return True
    found, enough = between_particles(draws, groups), min(_EFFECTIVE, snapshots * particles / 5)
    mixed = found["r_hat"] < _r_hat_limit(particles, snapshots)
    return mixed and min(found["bulk"], found["tail"]) >= enough


class Mixing(NamedTuple):
    """R-hat and effective draws of quantities that moving particles have: the worst of them."""

    r_hat: Number = None
    bulk: Number = None
    tail: Number = None


def mixed(found: Mixing, particles: int, snapshots: int) -> Iterator[tuple[str, bool, str, str]]:
    """R-hat between particles, or between groups of coupled ones, and effective draws.

    The limit of R-hat has three of its standard errors for independent draws: of 2m halves of n/2
    draws each, R-hat² = 1 + (F − 1)/(n/2).
    """
    limit = _r_hat_limit(particles, snapshots)
    if found.r_hat is None:
        yield "R-hat", False, f"unknown with {snapshots} snapshots", f"below {limit:.3f}"
        return
    yield "R-hat", found.r_hat < limit, f"{found.r_hat:.3f}", f"below {limit:.3f}"
    for name, number in (("bulk", found.bulk or 0.0), ("tail", found.tail or 0.0)):
        enough, wanted = number >= _EFFECTIVE, f"at least {_EFFECTIVE}"
        yield f"effective draws, {name}", enough, f"{number:.0f}", wanted
