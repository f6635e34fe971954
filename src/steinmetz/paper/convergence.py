"""Whether an arm did what its method is meant to do, in every seed: its own diagnostics.

A run that is not at the mode it starts from, not at rest or not mixed has *not converged*: what it
gives says nothing about its method, and no claim is decided by it. A run that has come to rest but
lost variance, is far from the posterior by the Stein discrepancy or cannot change between modes has
converged to something else: it is *biased*, which is what its method does and what the comparison
is about.
"""

from collections.abc import Sequence
from typing import NamedTuple

from steinmetz.infer import checks
from steinmetz.infer.checks import Inference
from steinmetz.paper.records import Record, Row, SampledPoint

# Checks of the draws against the posterior; all others say whether the method has done its work.
_OF_DRAWS = ("Stein discrepancy", "variance over Laplace's", "modes")
RULE = (
    "An arm has converged if all checks of its own pass in every seed (mode, rest, lost particles, "
    "R-hat, effective draws, divergences, acceptance); it is biased if it has, and the Stein "
    "discrepancy, the variance of its draws or the shares of several modes are off. "
    "No claim is decided by an arm that has not converged."
)


class Health(NamedTuple):
    """Names of the failed checks of one arm, over all its seeds."""

    unfinished: tuple[str, ...] = ()
    biased: tuple[str, ...] = ()

    @property
    def converged(self) -> bool:
        """Whether the method has done its work, right or wrong."""
        return not self.unfinished

    @property
    def state(self) -> str:
        """In a word or two."""
        return "not converged" if self.unfinished else "biased" if self.biased else "converged"


def health(runs: Sequence[Inference]) -> Health:
    """Of one arm, from every run of it."""
    every = (check for run in runs for check in checks.examine(run))
    failed = list(dict.fromkeys(check.name for check in every if not check.passed))
    return Health(
        tuple(name for name in failed if name not in _OF_DRAWS),
        tuple(name for name in failed if name in _OF_DRAWS),
    )


def by_arm(rows: Sequence[Row[Record]]) -> dict[str, Health]:
    """Every arm that samples, over all its rows."""
    runs: dict[str, list[Inference]] = {}
    for row in rows:
        if isinstance(row.result, SampledPoint):
            runs.setdefault(row.arm, []).append(row.result.inference)
    return {arm: health(each) for arm, each in runs.items()}


def references(rows: Sequence[Row[Record]]) -> Health:
    """The runs that W1 to NUTS refers to, all of them together."""
    found = [row.result.reference for row in rows if isinstance(row.result, SampledPoint)]
    return health([run for run in found if run is not None])
