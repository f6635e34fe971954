"""Whiten, start, run, examine: how any target is sampled by any method (method §5)."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from steinmetz import host
from steinmetz.errors import RunFailure
from steinmetz.infer import diagnostics, driver
from steinmetz.infer.base import Choice, Settings, Target, build, whiten
from steinmetz.infer.checks import Check, Inference, examine, settled
from steinmetz.infer.modes import Modes
from steinmetz.records import Report, silent

# Particles that keep moving start so many times wider than Laplace's approximation: R-hat sees what
# they have not left behind.
_SPREAD = 1.5


@dataclass(frozen=True, eq=False, repr=False)
class Samples:
    """Draws of all usable particles (or chains), and how they were found.

    `draws` are in the target's own coordinates: those of the first snapshot, then of the second,
    and so on. `white` are the same in coordinates in which the Laplace approximation is round, by
    snapshot and particle. `settings` are those of the method that ran, `reason` says why it was
    taken; `modes` are those that were known, `facts` what the method knew before its
    first step, or its draws are judged by.
    `halfway` are the places of a flow after half of its steps, in coordinates as of `white`.
    """

    draws: Float[np.ndarray, "draws dimension"]
    white: Float[np.ndarray, "snapshots particles dimension"]
    run: driver.Run
    diagnostics: diagnostics.Diagnostics
    settings: Settings
    reason: str
    modes: Modes
    facts: dict[str, float]
    halfway: Float[np.ndarray, "particles dimension"] | None = None

    @property
    def method(self) -> str:
        """The method that ran."""
        return self.settings.method

    @property
    def shape(self) -> tuple[int, int]:
        """Snapshots, and usable particles in each."""
        return self.white.shape[0], self.white.shape[1]

    @property
    def inference(self) -> Inference:
        """How the draws were found, and how good they are, in plain numbers."""
        run, at = self.run, self.modes.nearest(self.draws).reshape(self.shape)
        count = np.bincount(at.ravel(), minlength=self.modes.count)
        return Inference(
            method=self.method,
            reason=self.reason,
            capabilities=self.settings.capabilities,
            particles=run.alive.size,
            snapshots=self.shape[0],
            draws=len(self.draws),
            frozen=tuple(run.frozen),
            steps=int(run.marks[-1]),
            direction=run.direction[-1],
            stopped=run.reason,
            totals={name: float(values[run.alive].sum()) for name, values in run.facts.items()},
            facts=self.facts,
            mode_slope=None if self.modes.slope is None else float(self.modes.slope),
            starts=self.modes.starts,
            modes=tuple((count / count.sum()).tolist()),
            exchanges=int(np.sum(at[1:] != at[:-1])),
            **vars(self.diagnostics),
        )

    @property
    def checks(self) -> list[Check]:
        """Every check that applies to the method: pass or fail, and what to do about it."""
        return examine(self.inference)

    def __repr__(self) -> str:
        """Two lines: how many draws of what, and how good they are."""
        (count, size), results = self.draws.shape, self.checks
        failed = ", ".join(check.name for check in results if not check.passed)
        verdict = f"FAIL: {failed}" if failed else f"pass: all {len(results)} checks"
        return (
            f"{type(self).__name__}: {count} draws × {size} parameters by {self.method}\n"
            f"  {self.diagnostics}; {verdict}"
        )


def sample(
    key: Array,
    target: Target,
    modes: Modes,
    choice: Choice,
    report: Report = silent,
    checkpoints: driver.Checkpoints | None = None,
) -> Samples:
    """Draws from a target whose modes are known, by the chosen method.

    Particles start from Laplace's approximations there, those that keep moving from wider ones.
    With `settings.whiten` the sampler sees the target in coordinates v in which the most probable
    mode is round, else in the target's own u = centre + root v; diagnostics are always taken in v.
    Raises `RunFailure` where more than a tenth of the particles were lost.
    """
    settings, laplace = choice.settings, modes.main
    start_key, run_key, check_key = host.split(key, 3)
    several = modes if modes.count > 1 else None
    target = target._replace(modes=several)
    white, spread = whiten(target, laplace), _SPREAD if settings.capabilities.snapshots else 1.0
    position = modes.seen_from(laplace).draw(start_key, settings.width, spread, white.log_density)
    own = target._replace(root=laplace.root, centre=laplace.centre)
    seen = white if settings.whiten else own
    start = position if settings.whiten else laplace.forward_all(position)
    sampler = build(seen, settings)
    groups = settings.capabilities.groups
    schedule = settings.schedule._replace(
        extensions=settings.extensions, settled=lambda draws: settled(draws, groups)
    )
    run = driver.run(run_key, sampler, start, schedule, report, checkpoints)
    if run.failed:
        advice = "try a smaller infer.rate or prior.deviation, or look at the data for outliers"
        raise RunFailure(f"inference stopped: {run.reason}; {advice}")
    kept = jnp.asarray(run.usable.reshape(-1, len(laplace.centre)))
    v = kept if settings.whiten else laplace.inverse(kept)
    u = laplace.forward_all(kept) if settings.whiten else kept
    by_snapshot = np.asarray(v).reshape(run.usable.shape)
    halfway = None
    if run.halfway is not None:
        there = jnp.asarray(run.halfway[run.alive])
        halfway = np.asarray(there if settings.whiten else laplace.inverse(there))
    measured = diagnostics.examine(check_key, white, by_snapshot, groups)
    facts = sampler.facts | (_met(target, modes) if settings.capabilities.bridges else {})
    how = settings, choice.reason, modes, facts
    return Samples(np.asarray(u), by_snapshot, run, measured, *how, halfway)


def _met(target: Target, modes: Modes) -> dict[str, float]:
    """Evidence of the known modes: that of draws which came by degrees must not be far below."""
    known, size = modes.log_evidence(target.log_density), modes.centres.shape[1]
    return {"evidence of modes": known, "dimension": float(size)}
