"""Trim pruned laws one move at a time, each judged by a refit, from rich to bare.

A beam search: sizes are worked through from the largest down, laws of one size compete across
restarts, and the best of every size are kept.
"""

from typing import NamedTuple

import numpy as np

from steinmetz.data.quadratic import Quadratic
from steinmetz.potentials.graph import Form
from steinmetz.records import Report, silent
from steinmetz.sparsify.moves import Rules, drop, flipped, sideways, smaller
from steinmetz.sparsify.padded import Size
from steinmetz.sparsify.refit import Candidate, Objective, refit
from steinmetz.threads import in_threads

# Parameters up to which laws of a size compete, lose one parameter at a time and fit the smaller
# program.
_SMALL = 12
# A law above the small size loses this share of its excess at once.
_SHARE = 0.25
# Trials of one refit.
_STEPS = 24
# Refits in a row until a law counts as converged.
_POLISHES = 3
# Laws of a size, the best ones, in which sources and activations are exchanged.
_LEADERS = 3
# Enough for the default network; deeper ones compile once more.
_LEAST_DEPTH = 2


class Trimmed(NamedTuple):
    """The best shapes of every size, and by size and restart the lowest χ² that was reached."""

    best: list[Candidate]
    spread: dict[int, dict[int, float]]


class Refitter(NamedTuple):
    """Two compiled programs: one for laws up to the small size, one for richer ones.

    `rules` are those of the network; `batch` laws are refitted in one call.
    """

    small: Size
    rich: Size
    rules: Rules
    objective: Objective
    batch: int

    @classmethod
    def of(
        cls, starts: list[Candidate], rules: Rules, objective: Objective, batch: int
    ) -> "Refitter":
        """Programs for every law on the way down, as deep and mixed as the rules allow."""
        graphs = [start.law.network for start in starts]
        rich = Size.of(graphs)
        kinds = tuple(sorted({*rules.kinds, *rich.kinds}))
        depth = max(rules.depth, rich.depth, _LEAST_DEPTH)
        small = Size.small(graphs, _SMALL, depth)._replace(kinds=kinds)
        return cls(small, rich._replace(depth=depth, kinds=kinds), rules, objective, batch)

    def under(self, quadratic: Quadratic) -> "Refitter":
        """The same programs for residuals whose noise was judged anew."""
        return self._replace(objective=self.objective._replace(quadratic=quadratic))

    def fit(self, starts: list[Candidate], steps: int = _STEPS) -> list[Candidate]:
        """Refit all; what does not end in numbers, or fits neither program, is left out."""
        few = [start for start in starts if self.small.holds(start.law.network)]
        rest = [start for start in starts if not self.small.holds(start.law.network)]
        many = [start for start in rest if self.rich.holds(start.law.network)]
        return self._fit(few, self.small, steps) + self._fit(many, self.rich, steps)

    def _fit(self, starts: list[Candidate], size: Size, steps: int) -> list[Candidate]:
        """Refit by one program, in parts of one batch each, two parts at a time."""

        def refitted(part: list[Candidate]) -> list[Candidate]:
            return refit(part, size, self.objective, steps, self.batch)

        parts = [starts[first : first + self.batch] for first in range(0, len(starts), self.batch)]
        done = [refitted(part) for part in parts[:1]]  # compiles the program, if it is new
        done += in_threads(refitted, parts[1:])
        return [candidate for part in done for candidate in part]

    def polish(self, starts: list[Candidate]) -> list[Candidate]:
        """Refit to convergence."""
        candidates = self.fit(starts)
        for _ in range(_POLISHES - 1):
            candidates = self.fit(candidates)
        return candidates


def trim(
    starts: list[Candidate], refitter: Refitter, moves: int, beam: int, report: Report = silent
) -> Trimmed:
    """Refitted laws of every size from the starts down to one parameter.

    The best `beam` shapes of each size are kept and go on; each tries `moves` removals. Rich laws
    are first thinned to the small size, all at once in every round.
    """
    best: list[Candidate] = []
    spread: dict[int, dict[int, float]] = {}
    largest = max(start.law.network.size for start in starts)

    def fit(starts: list[Candidate]) -> list[Candidate]:
        fitted = refitter.fit(starts)
        for candidate in fitted:
            lowest, origin = spread.setdefault(candidate.active, {}), candidate.origin
            lowest[origin] = min(lowest.get(origin, np.inf), candidate.misfit)
        return fitted

    pool = fit(starts)
    while pool:
        active = max(candidate.active for candidate in pool)
        rest = [candidate for candidate in pool if candidate.active < min(active, _SMALL + 1)]
        peers = [candidate for candidate in pool if candidate.active >= min(active, _SMALL + 1)]
        if active <= _SMALL:
            peers = best_shapes(peers, beam)
            fitted = fit(_beside(peers, refitter.rules))
            rest += [candidate for candidate in fitted if candidate.active < active]
            peers += [candidate for candidate in fitted if candidate.active == active]
            peers = best_shapes(peers, beam)
        best += peers
        report("trimming", largest - active, largest - 1)
        pool = rest + fit([start for peer in peers for start in _below(peer, moves)])
    return Trimmed(best, spread)


def _below(candidate: Candidate, count: int) -> list[Candidate]:
    """Smaller laws to try next; rich laws lose several parameters at once."""
    law, size = candidate.law, candidate.active
    order = [int(index) for index in np.argsort(candidate.saliency[:size])]
    if size > _SMALL:
        thinned = drop(law, order[: max(1, round(_SHARE * (size - _SMALL)))])
        laws = [thinned] if thinned.graph.size else []
    else:
        laws = smaller(law, order, count)
    return [Candidate(other, candidate.origin) for other in laws]


def _beside(peers: list[Candidate], rules: Rules) -> list[Candidate]:
    """Laws that are not larger, from the best of a size: one per shape that none of them has.

    Each also from its mirror image, where it has one.
    """
    known = {peer.law.network.shape for peer in peers}
    others = {
        law.network.shape: Candidate(law, peer.origin)
        for peer in peers[:_LEADERS]
        for law in sideways(peer.law, rules)
    }
    starts = [start for shape, start in others.items() if shape not in known]
    mirrored = [(flipped(start.law), start.origin) for start in starts]
    return starts + [Candidate(law, origin) for law, origin in mirrored if law is not None]


def best_shapes(peers: list[Candidate], beam: int) -> list[Candidate]:
    """The best fits of one size, one per shape: a beam of copies of one law would be wasted."""
    best: dict[Form, Candidate] = {}
    for candidate in sorted(peers, key=lambda candidate: candidate.misfit):
        best.setdefault(candidate.law.network.shape, candidate)
    return list(best.values())[:beam]
