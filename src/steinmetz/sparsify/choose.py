"""Choose one law of a table that has the best law of every size, say why, and store the table.

A table is what a person can choose from as well: every row is a law that was refitted, with what it
costs to be smaller.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from steinmetz.potentials.law import Law, rebuild, structure
from steinmetz.sparsify.refit import Candidate

# A larger law is taken if χ² falls by this factor with it: then it is not a better approximation
# but exact …
_EXACT = 1e-3
# … if it has at most so many parameters more …
_LARGER = 3
# … and χ²/n is below this: nothing is exact whose residuals are not also tiny beside the noise.
_TINY = 1e-4


class Choice(NamedTuple):
    """One row of the table: the best law with `active` parameters.

    `misfit` is its χ², `criterion` its BIC, `origin` the restart it came from, and `restarts` are
    the lowest χ² that each restart led to with this many parameters, in rising order.
    """

    active: int
    misfit: float
    criterion: float
    law: Law
    origin: int = 0
    restarts: tuple[float, ...] = ()


def tabulate(
    candidates: list[Candidate], count: int, reached: Mapping[int, tuple[float, ...]]
) -> list[Choice]:
    """The best law of each size with its Bayesian information criterion χ² + k log n (method §4).

    `count` is n, the number of observed cells; `reached` has the χ² of the restarts by size.
    """
    price, table = float(np.log(count)), []
    for active in sorted({candidate.active for candidate in candidates}):
        best = min((c for c in candidates if c.active == active), key=lambda c: c.misfit)
        criterion, restarts = best.misfit + active * price, reached.get(active, ())
        table.append(Choice(active, best.misfit, criterion, best.law, best.origin, restarts))
    return table


def choose(
    table: list[Choice], count: int, slack: float, target: int | None = None
) -> tuple[Choice, str]:
    """The smallest law whose BIC is within `slack` of the lowest, and the reason in words.

    A difference of 10 in BIC is odds of e⁵ : 1; a law that much worse is still taken if it is
    smaller. A target number of parameters goes before this rule, and so does a slightly larger law
    that is exact: clean data of a law that the network can express.
    """
    lowest = min(table, key=lambda row: row.criterion)
    if target is not None:
        chosen = min(table, key=lambda row: (abs(row.active - target), row.active))
        asked = "as asked" if chosen.active == target else f"nearest to the {target} asked for"
        return chosen, f"{chosen.active} parameters: {asked} (lowest BIC with {lowest.active})"
    chosen = next(row for row in table if row.criterion <= lowest.criterion + slack)
    within = min(_EXACT * chosen.misfit, _TINY * count)
    larger = (row for row in table if 0 < row.active - chosen.active <= _LARGER)
    exact = next((row for row in larger if row.misfit < within), None)
    if exact is not None:
        fall = f"χ² falls by {chosen.misfit / max(exact.misfit, 1e-300):.0e}"
        return exact, f"{exact.active} parameters: exact ({fall} from {chosen.active})"
    if chosen.active == lowest.active:
        return chosen, f"{chosen.active} parameters: lowest BIC ({lowest.criterion:.1f})"
    return chosen, (
        f"{chosen.active} parameters: BIC {chosen.criterion:.1f} is within {slack:g} of the "
        f"lowest, {lowest.criterion:.1f} with {lowest.active}"
    )


def to_plain(table: list[Choice]) -> list[dict[str, Any]]:
    """The table in plain types for JSON.

    Doubles survive it, so that `from_plain` gives the same table.
    """
    return [{**row._asdict(), "law": structure(row.law)} for row in table]


def from_plain(stored: list[dict[str, Any]]) -> list[Choice]:
    """A table from `to_plain`, rebuilt and checked, never executed.

    A wrong type or number raises ValueError, KeyError or TypeError.
    """
    return [
        Choice(
            int(row["active"]),
            float(row["misfit"]),
            float(row["criterion"]),
            rebuild(row["law"]),
            int(row["origin"]),
            tuple(float(misfit) for misfit in row["restarts"]),
        )
        for row in stored
    ]
