"""Choose one law of a table that has the best law of every size, and say why."""

from typing import NamedTuple

import numpy as np

from steinmetz.potentials.law import Law
from steinmetz.sparsify.trim import Candidate

# A law a little larger is taken if χ² falls by this factor with it: then it is not a better approximation but exact.
_EXACT, _LARGER = 1e-3, 3
# Nothing is exact whose residuals are not also tiny beside the noise.
_TINY = 1e-4


class Choice(NamedTuple):
    """One row of the table: the best law of its size, χ², BIC, its restart, and the best χ² each restart led to."""

    active: int
    misfit: float
    criterion: float
    law: Law
    origin: int = 0
    restarts: tuple[float, ...] = ()


def tabulate(
    candidates: list[Candidate], count: int, spread: dict[int, dict[int, float]]
) -> list[Choice]:
    """The best law of each size with its Bayesian information criterion χ² + k log n."""
    price, table = float(np.log(count)), []
    for active in sorted({candidate.active for candidate in candidates}):
        best = min((c for c in candidates if c.active == active), key=lambda c: c.misfit)
        restarts = tuple(sorted(spread.get(active, {}).values()))
        table.append(
            Choice(
                active, best.misfit, best.misfit + active * price, best.law, best.origin, restarts
            )
        )
    return table


def choose(
    table: list[Choice], count: int, evidence: float, target: int | None = None
) -> tuple[Choice, str]:
    """The smallest law whose BIC is within `evidence` of the lowest; a target number of parameters goes before it."""
    lowest = min(table, key=lambda row: row.criterion)
    if target is not None:
        chosen = min(table, key=lambda row: (abs(row.active - target), row.active))
        asked = "as asked" if chosen.active == target else f"nearest to the {target} asked for"
        return chosen, f"{chosen.active} parameters: {asked} (lowest BIC with {lowest.active})"
    chosen = next(row for row in table if row.criterion <= lowest.criterion + evidence)
    exact = [
        row
        for row in table
        if chosen.active < row.active <= chosen.active + _LARGER
        and row.misfit < min(_EXACT * chosen.misfit, _TINY * count)
    ]
    if exact:
        fall = chosen.misfit / max(exact[0].misfit, 1e-300)
        return exact[
            0
        ], f"{exact[0].active} parameters: exact (χ² falls by {fall:.0e} from {chosen.active})"
    if chosen.active == lowest.active:
        return chosen, f"{chosen.active} parameters: lowest BIC ({lowest.criterion:.1f})"
    return chosen, (
        f"{chosen.active} parameters: BIC {chosen.criterion:.1f} is within {evidence:g} of the lowest, "
        f"{lowest.criterion:.1f} with {lowest.active}"
    )
