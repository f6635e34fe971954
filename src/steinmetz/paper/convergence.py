"""Whether an arm did what its method is meant to do, in every seed: its own diagnostics.

A run that is not at the mode it starts from, not at rest or not mixed has *not converged*: what it
gives says nothing about its method, and no claim is decided by it. A run that has come to rest but
lost variance, is far from the posterior by the Stein discrepancy or cannot change between modes has
converged to something else: it is *biased*, which is what its method does and what the comparison
is about.

Claims compare push-forwards, so rest and mixing are asked of these: weights of a network may change
places for ever without a trace in the stress.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from steinmetz.infer import checks
from steinmetz.infer.checks import Mixing
from steinmetz.infer.diagnostics import FEWEST_SNAPSHOTS, between_particles
from steinmetz.paper.records import Record, Row, SampledPoint, Sampling
from steinmetz.paper.scores import ScoreKey, component_kind

# Checks of the draws against the posterior; all others say whether the method has done its work.
_OF_DRAWS = ("Stein discrepancy", "variance over Laplace's", "modes")
# Checks of parameters that are asked of the push-forward instead; where they fail it is said.
_OF_PARAMETERS = ("R-hat", "effective draws, bulk", "effective draws, tail", "at rest")
# Share of a W1 that a flow may have moved in the second half of its steps.
MOVED = 0.1
# Scores that claims compare; a flow that is not at rest is judged by what it moved beside them.
_COMPARED = ("w1_noisy", "w1_clean", "w1_reference")
# Points of the path at which the mixing of the push-forward is measured.
_PLACES = 12
RULE = (
    "An arm has converged if, in every seed, its mode is one, no particle was lost, moves were "
    "accepted as they should and none diverged, particles that come from the prior have all of the "
    "likelihood and have met the mode that is known, and what claims compare, the push-forward "
    "along the path, has settled: of chains and moving particles its R-hat and effective draws "
    "pass; a flow is at rest, or W1 between its push-forwards halfway and at the end is at most "
    f"{MOVED:g} of the W1 that a claim compares. It is biased if it has converged, and the Stein "
    "discrepancy, the variance of its draws or the shares of several modes are off; a reference "
    "must also know the shares of its modes. No claim about W1 or coverage is decided by an arm or "
    "a reference that has not converged. Parameters that are not at rest or not mixed are named "
    "all the same."
)


class Health(NamedTuple):
    """Names of the failed checks of one arm, over all its seeds.

    Those of `parameters` are asked of the push-forward instead, and are only named.
    """

    unfinished: tuple[str, ...] = ()
    biased: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()

    @property
    def converged(self) -> bool:
        """Whether the method has done its work, right or wrong."""
        return not self.unfinished

    @property
    def state(self) -> str:
        """In a word or two."""
        return "not converged" if self.unfinished else "biased" if self.biased else "converged"

    @property
    def failed(self) -> str:
        """All of them in words."""
        named = [f"{name} of parameters" for name in self.parameters]
        return ", ".join((*self.unfinished, *self.biased, *named)) or "none"


def mixing(pushed: np.ndarray, shape: tuple[int, int], groups: int) -> Mixing | None:
    """R-hat and effective draws of the push-forward, the worst over places of the path.

    `pushed` is draws × points × components, `shape` (snapshots, particles). None where there are
    too few snapshots to tell, as of a flow.
    """
    if shape[0] < FEWEST_SNAPSHOTS or shape[0] * shape[1] < 2:
        return None
    places = np.unique(np.linspace(0, pushed.shape[1] - 1, _PLACES).astype(int))
    some = pushed[:, places].reshape(*shape, -1)
    varies = np.ptp(some, axis=(0, 1)) > 0
    return Mixing(**between_particles(some[:, :, varies], groups)) if varies.any() else None


def health(points: Sequence[SampledPoint], score: ScoreKey | None = None) -> Health:
    """Of one arm, from every run of it, for a claim about one score or for all it may compare."""
    return _health([name for point in points for name in _failed(point, score)])


def by_arm(rows: Sequence[Row[Record]], score: ScoreKey | None = None) -> dict[str, Health]:
    """Every arm that samples, over all its rows."""
    runs: dict[str, list[SampledPoint]] = {}
    for row in rows:
        if isinstance(row.result, SampledPoint):
            runs.setdefault(row.arm, []).append(row.result)
    return {arm: health(each, score) for arm, each in runs.items()}


def references(rows: Sequence[Row[Record]]) -> Health:
    """The runs that W1 to the reference refers to, all of them together."""
    found = [row.result.reference for row in rows if isinstance(row.result, SampledPoint)]
    every = _health([name for run in found if run is not None for name in _of_run(run)])
    asked = every.biased + every.parameters
    unknown = tuple(name for name in asked if name in ("modes", "at rest"))
    missing = ("none there",) if any(run is None for run in found) else ()
    return every._replace(unfinished=every.unfinished + unknown + missing)


def _health(failed: Sequence[str]) -> Health:
    """Failed checks by what they are about; those of the push-forward begin with its name."""
    names = list(dict.fromkeys(failed))
    kinds = _OF_DRAWS, _OF_PARAMETERS
    biased, parameters = (tuple(name for name in names if name in kind) for kind in kinds)
    done = tuple(name for name in names if name not in _OF_DRAWS + _OF_PARAMETERS)
    return Health(done, biased, parameters)


def _failed(point: SampledPoint, score: ScoreKey | None) -> Iterator[str]:
    """Names of the failed checks of one point."""
    yield from _of_run(Sampling(point.inference, point.mixing))
    resting = "at rest" in _names(point)
    if point.inference.capabilities.rests and not resting and not _settled(point, score):
        yield "still moving"


def _names(point: SampledPoint) -> list[str]:
    """Checks of parameters that pass."""
    return [check.name for check in checks.examine(point.inference) if check.passed]


def _of_run(run: Sampling) -> Iterator[str]:
    """Failed checks of a run, and those of its push-forward."""
    yield from (check.name for check in checks.examine(run.inference) if not check.passed)
    if run.inference.capabilities.snapshots:
        done = run.inference
        rows = checks.mixed(run.mixing or Mixing(), done.particles, done.snapshots)
        yield from (f"push-forward: {name}" for name, passed, *_ in rows if not passed)


def _settled(point: SampledPoint, score: ScoreKey | None) -> bool:
    """Whether a flow moved little in the second half of its steps, beside what a claim compares."""
    kinds = dict.fromkeys(("all", *map(component_kind, point.moving)))
    asked = [score] if score is not None and score.name in _COMPARED else [
        ScoreKey(name, kind) for name in _COMPARED for kind in kinds
    ]  # fmt: skip
    for key in asked:
        moved, compared = point.scores.get(key._replace(name="w1_halfway")), point.scores.get(key)
        if compared is not None and (moved is None or moved.value > MOVED * compared.value):
            return False
    return True
