"""Every draw of a posterior in equilibrium, law by law, in pieces that know nothing of each other.

Of every law the draw of mean parameters is solved first, from that of the law before. Pieces of the
other draws start from it, in this process or elsewhere: what is finished is kept, and the same
whoever did it, because pieces are always cut alike.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from steinmetz.cache import Cache
from steinmetz.fe.body import Vector
from steinmetz.fe.newton import Equilibrium, State
from steinmetz.fe.work import Effort, Found, Group, Work
from steinmetz.records import Report, silent

# Draws of a piece.
_PIECE = 64


class Piece(NamedTuple):
    """Some draws of a law."""

    law: int
    first: int
    last: int

    @property
    def name(self) -> str:
        """Under which it is kept."""
        return f"law{self.law}-draws{self.first}-{self.last}"

    def solved(
        self,
        work: Work,
        middles: Sequence[State | None],
        shown: Callable[[int], None] = lambda done: None,
    ) -> Found:
        """Its draws under all loads."""
        return work.run(self.law, slice(self.first, self.last), middles, shown)


class Helpers(NamedTuple):
    """Where pieces are kept, and who solves those that are not there."""

    cache: Cache
    hand_out: Callable[[Sequence[Piece]], None]


def push(
    groups: Sequence[Group],
    equilibrium: Equilibrium,
    loads: Sequence[float],
    report: Report = silent,
    exact: bool = True,
    helpers: Helpers | None = None,
) -> Found:
    """Every draw of every law under growing loads; if not `exact`, by the sensitivity alone."""
    cache = None if helpers is None else helpers.cache
    works = [Work(group, equilibrium, tuple(loads), exact) for group in groups]
    middles = _middles(works, cache)
    pieces = [
        Piece(law, first, min(first + _PIECE, len(group.theta)))
        for law, group in enumerate(groups)
        for first in range(0, len(group.theta), _PIECE)
    ]
    if helpers is not None:
        helpers.hand_out([one for one in pieces if kept(helpers.cache, one) is None])
    total, done, parts = sum(len(group.theta) for group in groups) * len(loads), 0, list[Found]()
    for piece in pieces:

        def shown(count: int, before: int = done) -> None:
            report("finite elements", before + count, total)

        found = None if cache is None else kept(cache, piece)
        if found is None:
            found = piece.solved(works[piece.law], middles[piece.law], shown)
            if cache is not None:
                keep(cache, piece, found)
        parts.append(found)
        done += (piece.last - piece.first) * len(loads)
    return _joined(parts)


def _middles(works: Sequence[Work], cache: Cache | None) -> list[list[State | None]]:
    """The mean draw of every law under every load, as kept or started from the law before."""
    every: list[list[State | None]] = []
    near: list[Vector] | None = None
    for law, work in enumerate(works):
        found = None if cache is None else kept_middles(cache, law)
        if found is None:
            found = work.middles(near)
            if cache is not None:
                _keep_middles(cache, law, found)
        borne = [state.u for state in found if state is not None]
        near = borne if len(borne) == len(found) else near
        every.append(found)
    return every


def kept_middles(cache: Cache, law: int) -> list[State | None] | None:
    """The mean draw of a law under every load, if somebody has solved it."""
    stored = cache.get(f"law{law}")
    if stored is None:
        return None
    states = zip(stored["u"], stored["internal"], stored["iterations"].tolist(), strict=True)
    return [None if count < 0 else State(u, internal, count) for u, internal, count in states]


def _keep_middles(cache: Cache, law: int, found: Sequence[State | None]) -> None:
    """A load that the mean draw does not bear has −1 iterations."""
    size = next((len(state.u) for state in found if state is not None), 0)
    none = State(np.zeros(size), np.zeros(size), -1)
    states = [state or none for state in found]
    u, internal = (np.stack([state[part] for state in states]) for part in (0, 1))
    cache.put(f"law{law}", u=u, internal=internal, iterations=np.array([s[2] for s in states]))


def keep(cache: Cache, piece: Piece, found: Found) -> None:
    """A piece that is solved."""
    arrays = {name: np.asarray(value) for name, value in found._asdict().items()}
    cache.put(piece.name, **arrays)


def kept(cache: Cache, piece: Piece) -> Found | None:
    """A piece that somebody has solved."""
    stored = cache.get(piece.name)
    if stored is None:
        return None
    loads, effort = tuple(stored.pop("loads").tolist()), Effort(*stored.pop("effort").tolist())
    return Found(loads=loads, effort=effort, **stored)


def _joined(parts: Sequence[Found]) -> Found:
    """All laws together; pieces of one law have the same centre."""
    every = zip(*parts, strict=True)
    loads, u, linear, quantities, straight, owner, centres, effort = every
    laws = [part.owner[0] for part in parts]
    first = [at for at, law in enumerate(laws) if law not in laws[:at]]
    return Found(
        loads[0],
        np.concatenate(u),
        np.concatenate(linear),
        np.concatenate(quantities, axis=1),
        np.concatenate(straight, axis=1),
        np.concatenate(owner),
        np.concatenate([centres[at] for at in first]),
        Effort(*(sum(each) for each in zip(*effort, strict=True))),
    )
