"""Trim pruned laws one move at a time, each judged by a refit, and keep the whole path from rich to bare.

A beam search: sizes are worked through from the largest down, laws of one size compete across restarts.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from steinmetz.data.quadratic import Quadratic
from steinmetz.potentials.law import Law
from steinmetz.records import Report, silent
from steinmetz.sparsify.moves import (
    Rules,
    drop,
    droppable_units,
    exchanges,
    flipped,
    linearise,
    retyped,
)
from steinmetz.sparsify.refit import Size, refit

_SMALL = 12
_STEPS = 24
_STRAIGHTENED = 2
_EXCHANGED = 12
_LEADERS = 3
_POLISHES = 3
# A law above the small size loses this share of its excess at once.
_SHARE = 0.25
# Enough for the default network; deeper ones compile once more.
_LEAST_DEPTH = 2


class Candidate(NamedTuple):
    """A refitted law on the way down: χ², what removing each parameter would add to it, the restart it came from."""

    law: Law
    misfit: float
    saliency: np.ndarray
    origin: int

    @property
    def active(self) -> int:
        return self.law.graph.size


class Start(NamedTuple):
    """A law to refit, and the restart it came from."""

    law: Law
    origin: int


class Trimmed(NamedTuple):
    """The best shapes of every size, and the best χ² of every size that each restart led to."""

    best: list[Candidate]
    spread: dict[int, dict[int, float]]


class Refitter(NamedTuple):
    """Two compiled programs: one for laws up to the small size, one for richer ones."""

    small: Size
    rich: Size
    quadratic: Quadratic
    ridge: float
    batch: int

    def fit(self, starts: list[Start], steps: int = _STEPS) -> list[Candidate]:
        """Refit all; what does not end in numbers, or fits neither program, is left out."""
        few = [start for start in starts if self.small.holds(start.law.graph)]
        rest = [start for start in starts if not self.small.holds(start.law.graph)]
        many = [start for start in rest if self.rich.holds(start.law.graph)]
        return self._fit(few, self.small, steps) + self._fit(many, self.rich, steps)

    def _fit(self, starts: list[Start], size: Size, steps: int) -> list[Candidate]:
        def one(part: list[Start]) -> list[Candidate]:
            laws, fitted = refit(
                [s.law for s in part], size, self.quadratic, self.ridge, steps, self.batch
            )
            rows = zip(laws, fitted.misfit, fitted.saliency, part, strict=True)
            return [
                Candidate(law, float(m), s, start.origin)
                for law, m, s, start in rows
                if np.isfinite(m)
            ]

        parts = [starts[first : first + self.batch] for first in range(0, len(starts), self.batch)]
        if len(parts) < 2:
            return [candidate for part in parts for candidate in one(part)]
        found = one(parts[0])  # compiles the program, if it is new
        with ThreadPoolExecutor(2) as pool:
            return found + [candidate for part in pool.map(one, parts[1:]) for candidate in part]


def refitter(
    laws: list[Law], rules: Rules, quadratic: Quadratic, ridge: float, batch: int
) -> Refitter:
    """Programs that hold every law on the way down from `laws`, as deep and of as many kinds as the rules allow."""
    graphs = [law.graph for law in laws]
    kinds = tuple(sorted({*rules.kinds, *Size.of(graphs).kinds}))
    depth = max(rules.depth, Size.of(graphs).depth, _LEAST_DEPTH)
    small = Size.small(graphs, _SMALL, depth)._replace(kinds=kinds)
    return Refitter(
        small, Size.of(graphs)._replace(depth=depth, kinds=kinds), quadratic, ridge, batch
    )


def _moves(candidate: Candidate, count: int) -> list[Start]:
    """Smaller laws to try next; rich laws lose several parameters at once."""
    law = candidate.law
    order = [int(index) for index in np.argsort(candidate.saliency[: law.graph.size])]
    if law.graph.size > _SMALL:
        lost = max(1, round(_SHARE * (law.graph.size - _SMALL)))
        thinned = drop(law, order[:lost])
        return [Start(thinned, candidate.origin)] if thinned.graph.size else []
    smaller = [drop(law, [index]) for index in order[:count]]
    smaller += [drop(law, [], (edge,)) for edge in droppable_units(law.graph)]
    straightened = [linearise(law, unit) for unit in law.graph.units()]
    smaller += [small for small in straightened if small is not None][:_STRAIGHTENED]
    return [
        Start(small, candidate.origin) for small in smaller if 0 < small.graph.size < law.graph.size
    ]


def trim(
    starts: list[Start],
    refitter: Refitter,
    rules: Rules,
    moves: int,
    beam: int,
    report: Report = silent,
) -> Trimmed:
    """Refitted laws of every size from the starts down to one parameter, the best `beam` shapes of each size."""
    best: list[Candidate] = []
    spread: dict[int, dict[int, float]] = {}
    largest = max(start.law.graph.size for start in starts)

    def fit(starts: list[Start]) -> list[Candidate]:
        fitted = refitter.fit(starts)
        for candidate in fitted:
            by_origin = spread.setdefault(candidate.active, {})
            by_origin[candidate.origin] = min(
                by_origin.get(candidate.origin, np.inf), candidate.misfit
            )
        return fitted

    pool = _thin(fit(starts), fit, best, report, largest)
    while pool:
        active = max(candidate.active for candidate in pool)
        level = best_shapes([candidate for candidate in pool if candidate.active == active], beam)
        if active <= _EXCHANGED:
            leaders = level[:_LEADERS]
            other = [
                Start(law, c.origin)
                for c in leaders
                for law in exchanges(c.law, rules) + retyped(c.law, rules)
            ]
            fitted = fit(_both_ways(_new_shapes(other, level)))
            pool += [candidate for candidate in fitted if candidate.active < active]
            level = best_shapes(
                level + [candidate for candidate in fitted if candidate.active == active], beam
            )
        best += level
        report("trim", largest - active, largest - 1)
        pool = [candidate for candidate in pool if candidate.active < active]
        pool += fit([start for candidate in level for start in _moves(candidate, moves)])
    return Trimmed(best, spread)


def _thin(
    pool: list[Candidate],
    fit: Callable[[list[Start]], list[Candidate]],
    passed: list[Candidate],
    report: Report,
    largest: int,
) -> list[Candidate]:
    """Take rich laws down to the small size, all at once in every round."""
    while any(candidate.active > _SMALL for candidate in pool):
        rich = [candidate for candidate in pool if candidate.active > _SMALL]
        passed += rich
        report("trim", largest - max(candidate.active for candidate in rich), largest - 1)
        pool = [candidate for candidate in pool if candidate.active <= _SMALL]
        pool += fit([start for candidate in rich for start in _moves(candidate, 1)])
    return pool


def polish(candidates: list[Candidate], refitter: Refitter) -> list[Candidate]:
    """Refit to convergence with the programs that `trim` compiled."""
    for _ in range(_POLISHES):
        candidates = refitter.fit(
            [Start(candidate.law, candidate.origin) for candidate in candidates]
        )
    return candidates


def _both_ways(starts: list[Start]) -> list[Start]:
    """Every start, and its mirror image where it has one."""
    mirrored = [(flipped(start.law), start.origin) for start in starts]
    return starts + [Start(law, origin) for law, origin in mirrored if law is not None]


def _new_shapes(starts: list[Start], level: list[Candidate]) -> list[Start]:
    """Laws whose shape is not on the level yet, one per shape."""
    known = {candidate.law.graph.shape for candidate in level}
    fresh = {start.law.graph.shape: start for start in starts}
    return [start for shape, start in fresh.items() if shape not in known]


def best_shapes(level: list[Candidate], beam: int) -> list[Candidate]:
    """The best fits of one size, one per shape."""
    best: dict[tuple, Candidate] = {}
    for candidate in sorted(level, key=lambda candidate: candidate.misfit):
        best.setdefault(candidate.law.graph.shape, candidate)
    return list(best.values())[:beam]
