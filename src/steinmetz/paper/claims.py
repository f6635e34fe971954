"""Judge what the paper claims by what was measured: holds, does not hold, or undecided.

What the seeds show is found in `findings` and decided by `verdicts`; here it becomes a verdict. An
arm that has not converged decides nothing, and what is true by construction is not counted.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from steinmetz.paper import convergence
from steinmetz.paper.findings import KINDS, Finding
from steinmetz.paper.grids import Grid
from steinmetz.paper.records import Outcome, Record, Row, grouped
from steinmetz.paper.scores import SCORES, ScoreKey, named
from steinmetz.paper.statements import AnyCheck, ScoreCheck
from steinmetz.paper.verdicts import Decision

VerdictName = Literal[Decision, "by construction"]


class Verdict(BaseModel):
    """A claim and what became of it: an entry of `claims.json`.

    `id` is the figure, `words` are the paper's, `reading` and `score` are empty where there is only
    one. `threshold` is the bound (a factor, a difference or a number, by the kind of check; zero
    where only the side matters), `interval` the ends of the 95 % interval that was compared with it
    and None where there are too few seeds. `per_seed` has numbers by arm; `converged` says of every
    arm that samples whether it has.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    id: str
    claim: str
    words: str
    reading: str
    score: str
    kind: str
    verdict: VerdictName
    measured: str
    threshold: float
    interval: tuple[float, float] | None
    per_seed: dict[str, list[float | None]]
    converged: dict[str, bool]

    @property
    def counted(self) -> bool:
        """Whether the paper could have been wrong about it."""
        return self.verdict != "by construction"


def judge(outcome: Outcome[Record]) -> list[Verdict]:
    """All verdicts of a figure; a claim is judged in every reading and for every score of it."""
    found = []
    for check in outcome.grid.checks:
        rows = [row for row in outcome.rows if check.source in ("", row.grid)]
        groups = grouped(rows, lambda row: row.reading)
        wanted = {key: same for key, same in groups.items() if key in (check.readings or groups)}
        for reading, same in wanted.items():
            for score in check.scores if isinstance(check, ScoreCheck) else (None,):
                finding = KINDS[check.kind](check, score, same)
                states = _states(check, score, same, outcome.grid)
                shown = reading if len(groups) > 1 else ""
                found.append(_verdict(outcome.grid.id, check, score, shown, finding, states))
    return found


def _states(
    check: AnyCheck, score: ScoreKey | None, rows: Sequence[Row[Record]], grid: Grid
) -> dict[str, convergence.Health]:
    """Every sampled arm that a claim depends on, and the reference where it is about that."""
    used = [row for row in rows if row.arm in (check.arms or grid.arms)]
    if grid.axis is None:  # runs that were stopped early are no part of it
        used = [row for row in used if row.value is None]
    elif isinstance(check, ScoreCheck) and check.kind == "steady":
        used = [row for row in used if row.value in check.between]
    if score is not None and score.name not in SCORES:  # counts, R² and seconds are of no draws
        return {}
    states = convergence.by_arm(used, score)
    if score is not None and score.name == "w1_reference":
        states["reference"] = convergence.references(used)
    return states


def _verdict(
    figure: str, check: AnyCheck, score: ScoreKey | None, reading: str, finding: Finding,
    states: dict[str, convergence.Health],
) -> Verdict:  # fmt: skip
    """What was found, unless an arm has not converged or nothing could have come out otherwise."""
    lost = [arm for arm, health in states.items() if not health.converged]
    name: VerdictName = "undecided" if lost else finding.decision
    if check.by_design and finding.decision != "does not hold":
        name, lost = "by construction", []
    words = f" ({'; '.join(f'{arm} not converged' for arm in lost)})" if lost else ""
    _, *ends = finding.interval
    plain = {
        arm: [float(value) if np.isfinite(value) else None for value in values]
        for arm, values in finding.per_seed.items()
    }
    return Verdict(
        id=figure, claim=check.says, words=check.words, reading=reading, kind=check.kind,
        score="" if score is None else named(score), verdict=name,
        measured=finding.measured + words, threshold=check.value,
        interval=(ends[0], ends[1]) if np.all(np.isfinite(ends)) else None, per_seed=plain,
        converged={arm: health.converged for arm, health in states.items()},
    )  # fmt: skip
