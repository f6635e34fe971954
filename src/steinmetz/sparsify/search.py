"""From pruned networks to a table of laws: trimmed by a search, or as they were trained.

Everything here is in natural units. The finished table of a search is kept in the cache, because a
search is the longest part of carving that does not depend on what is chosen in the end.
"""

import json
from typing import NamedTuple

import numpy as np

from steinmetz.cache import Cache
from steinmetz.data.quadratic import misfit
from steinmetz.errors import RunFailure
from steinmetz.potentials.law import Law
from steinmetz.potentials.units import NaturalUnits
from steinmetz.records import Report
from steinmetz.shapes import Cells
from steinmetz.sparsify.base import Settings
from steinmetz.sparsify.choose import Choice, choose, from_plain, tabulate, to_plain
from steinmetz.sparsify.moves import Rules, drop
from steinmetz.sparsify.refit import Candidate, Objective
from steinmetz.sparsify.trim import Refitter, trim

# Times that the chosen law is refitted under the noise judged at its own prediction.
_REWEIGHTINGS = 3
# Rows of the table beyond the chosen one that are kept and refitted to convergence.
_BEYOND = 8
# Laws refitted in one call of a compiled program.
_BATCH = 32
# The name under which a finished table is kept.
_PIECE = "table"


class Selection(NamedTuple):
    """A table of laws in natural units, the number of parameters that was chosen, and why.

    `prediction` is that of the chosen law, in the unit of the data: the noise is judged by it.
    """

    table: list[Choice]
    chosen: int
    reason: str
    prediction: Cells


class Search(NamedTuple):
    """What a search works with.

    The data in natural units, what refits minimise, and what network and settings allow.
    """

    units: NaturalUnits
    objective: Objective
    rules: Rules
    settings: Settings

    def choose(self, table: list[Choice]) -> tuple[Choice, str]:
        """The row that the settings ask for, and why."""
        settings, count = self.settings, self.units.observations.cells
        return choose(table, count, settings.bic_slack, settings.parameters)


def searched(
    starts: list[Candidate], search: Search, report: Report, cache: Cache | None
) -> Selection:
    """Trim, choose, refit the chosen law while its noise is judged anew, then the whole table.

    The noise of a datum depends on the prediction, so the law is fitted and judged in turn; all
    rows are then compared under the noise of the chosen one.
    """
    units, count = search.units, search.units.observations.cells
    most = search.settings.max_parameters
    cut = [start._replace(law=_cut(start.law, most)) for start in starts]
    starts = [start for start in cut if start.active > 0]
    if not starts:
        raise RunFailure(
            "nothing is left of the networks after cutting them; raise sparsify.max_parameters or "
            "sparsify.penalty"
        )
    refitter = Refitter.of(starts, search.rules, search.objective, _BATCH)
    table = _kept(cache)
    if table is None:
        table = _trimmed(starts, refitter, search, report)
        _keep(cache, table)
    chosen, _ = search.choose(table)
    law = chosen.law
    for _ in range(_REWEIGHTINGS):
        refitter = refitter.under(units.weighted(units.predict(law)))
        law = next((c.law for c in refitter.polish([Candidate(law, 0)])), law)
    prediction = units.predict(law)
    rows = [row for row in table if row.active <= chosen.active + _BEYOND]
    last = [Candidate(law if row is chosen else row.law, row.origin) for row in rows]
    polished = refitter.under(units.weighted(prediction)).polish(last)
    table = tabulate(polished, count, {row.active: row.restarts for row in rows})
    final, reason = search.choose(table)
    return Selection(table, final.active, reason, prediction)


def _cut(law: Law, most: int) -> Law:
    """Drop the smallest weights of a law that is too rich to refit.

    In natural units all weights are comparable.
    """
    excess = law.graph.size - most
    if excess <= 0:
        return law
    return drop(law, [int(index) for index in np.argsort(np.abs(np.asarray(law.values)))[:excess]])


def _trimmed(
    starts: list[Candidate], refitter: Refitter, search: Search, report: Report
) -> list[Choice]:
    """The table of a beam search, if any refit succeeds."""
    settings = search.settings
    best, spread = trim(starts, refitter, settings.candidates, settings.beam, report)
    if not best:
        raise RunFailure(
            "no refit stayed finite; check the data for outliers, or raise noise.floor"
        )
    reached = {size: tuple(sorted(lowest.values())) for size, lowest in spread.items()}
    return tabulate(best, search.units.observations.cells, reached)


def as_trained(starts: list[Candidate], search: Search) -> Selection:
    """Every restart's law as it was trained, without a search: what the paper does.

    Laws of one size compete by χ², sizes by the same rule as after a search.
    """
    quadratic, laws = search.objective.quadratic, []
    for start in starts:
        chi = float(misfit(quadratic, start.law.slopes(quadratic.inputs)))
        laws.append(start._replace(misfit=chi))
    sizes = {law.active for law in laws}
    reached = {n: tuple(sorted(law.misfit for law in laws if law.active == n)) for n in sizes}
    table = tabulate(laws, search.units.observations.cells, reached)
    chosen, reason = search.choose(table)
    return Selection(table, chosen.active, reason, search.units.predict(chosen.law))


def _keep(cache: Cache | None, table: list[Choice]) -> None:
    """Keep the table of a search as text in plain types."""
    if cache is not None:
        text = json.dumps(to_plain(table))
        cache.put(_PIECE, text=np.frombuffer(text.encode(), np.uint8))


def _kept(cache: Cache | None) -> list[Choice] | None:
    """The table of a search that was finished earlier; a damaged one is searched again."""
    piece = None if cache is None else cache.get(_PIECE)
    if piece is None:
        return None
    try:
        return from_plain(json.loads(piece["text"].tobytes().decode()))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        return None
