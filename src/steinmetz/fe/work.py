"""The draws of one law in equilibrium, from the solution of its mean draw and its sensitivity.

With the factors of the tangent K of the draw of mean parameters θ̄, the sensitivity
du/dθ = −K⁻¹ ∂f/∂θ costs one right-hand side per parameter, and tells every other draw where to
start: u(θ̄) + du/dθ (θ − θ̄). Steps with the same factors (chord steps) make it exact; a draw that
they do not bring nearer goes on with Newton's method, and if that fails, too, from the unloaded
body in small steps. What still fails is counted and named.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from steinmetz.fe.body import Body, Theta, Vector
from steinmetz.fe.newton import Equilibrium, State
from steinmetz.fe.substance import Draws, Substance
from steinmetz.threads import in_threads

# Chord steps at most, and the share of the residual that one must not leave.
_CHORDS, _LEFT = 25, 0.5
# Draws that one thread takes at a time.
_PIECE = 8

Fields = Float[np.ndarray, "draws all"]


class Group(NamedTuple):
    """Draws of one law."""

    substance: Substance
    theta: Draws


class Effort(NamedTuple):
    """How draws were solved, over all load steps, and steps per draw."""

    chord: int
    newton: int
    loaded: int
    steps: int


class Found(NamedTuple):
    """All draws at the full load, law by law; not a number where equilibrium was not found.

    `linear` is what the sensitivity alone says of displacements; `quantities` and
    `linear_quantities` are those of the problem, at every share of the load.
    """

    loads: tuple[float, ...]
    u: Fields
    linear: Fields
    quantities: Float[np.ndarray, "loads draws quantities"]
    linear_quantities: Float[np.ndarray, "loads draws quantities"]
    owner: Int[np.ndarray, "draws"]
    centres: Float[np.ndarray, "laws all"]
    effort: Effort

    @property
    def solved(self) -> Bool[np.ndarray, "draws"]:
        """Draws that reached the full load."""
        return np.asarray(np.isfinite(self.quantities).all(axis=(0, 2)))


class _Centre(NamedTuple):
    """The mean draw of a law under a load, and how it changes with θ."""

    state: State
    solve: Callable[[np.ndarray], np.ndarray]
    moves: Float[np.ndarray, "all parameters"]
    forces: Float[np.ndarray, "all parameters"]


class _Task(NamedTuple):
    """One draw under a load: where it starts, and where it was before."""

    theta: Theta
    start: Vector
    before: tuple[float, Vector] | None


class _Solved(NamedTuple):
    """Its equilibrium, if it was found, by which way, and the steps it took."""

    state: State | None
    way: str
    steps: int


def _later(shown: Callable[[int], None], before: int, done: int) -> None:
    """Progress under one load, as that under all."""
    shown(before + done)


def _last(middles: Sequence[State | None], size: int) -> Float[np.ndarray, "1 all"]:
    """The mean draw under the largest load that it bears."""
    borne = [state.u for state in middles if state is not None]
    return (borne[-1] if borne else np.zeros(size))[None]


class Work:
    """The draws of one law, load by load."""

    def __init__(
        self, group: Group, equilibrium: Equilibrium, loads: tuple[float, ...], exact: bool = True
    ) -> None:
        """If not `exact`, draws are those of the sensitivity alone."""
        self.body = Body.of(equilibrium.problem.space, group.substance)
        self.group, self.equilibrium, self.loads = group, equilibrium, loads
        self.mean, self.exact, self.begun = group.theta.mean(axis=0), exact, False

    def middles(self, near: Sequence[Vector] | None) -> list[State | None]:
        """The mean draw under every load; `near` are solutions of another law, to start from."""
        found: list[State | None] = []
        last, u = 0.0, np.zeros(self.body.space.unknowns)
        for step, load in enumerate(self.loads):
            state = None
            if near is not None:
                state = self.equilibrium.newton(self.body, self.mean, near[step], load)
            if state is None:
                state = self.equilibrium.loaded(self.body, self.mean, (last, u), load)
            found.append(state)
            last, u = load, u if state is None else state.u
        return found

    def run(
        self,
        number: int,
        rows: slice,
        middles: Sequence[State | None],
        shown: Callable[[int], None],
    ) -> Found:
        """Some draws of law `number` under all loads; a draw that is lost stays lost."""
        theta, size = self.group.theta[rows], self.body.space.unknowns
        count, kinds = len(theta), len(self.equilibrium.problem.quantities)
        u, linear = np.zeros((count, size)), np.zeros((count, size))
        values = np.full((len(self.loads), count, kinds), np.nan)
        straight, last = values.copy(), 0.0
        ways = {"chord": 0, "newton": 0, "loaded": 0, "none": 0}
        steps = 0
        for step, load in enumerate(self.loads):
            centre = self._centre(middles[step])
            tasks, linear = self._tasks(theta, centre, (u, linear), last)
            wanted = tasks if self.exact or centre is None else []
            solved = self._all(wanted, centre, load, partial(_later, shown, step * count))
            if wanted:
                values[step] = [self._values(each.state, load) for each in solved]
                lost = np.full(size, np.nan)
                u = np.stack([lost if s.state is None else s.state.u for s in solved])
            else:
                u = linear
            if centre is not None:
                straight[step] = self._straight(theta, centre, load)
                values[step] = values[step] if wanted else straight[step]
            for each in solved:
                ways[each.way] += 1
                steps += each.steps
            last = load
        effort = Effort(ways["chord"], ways["newton"], ways["loaded"], steps)
        owner = np.full(count, number)
        return Found(self.loads, u, linear, values, straight, owner, _last(middles, size), effort)

    def _centre(self, state: State | None) -> _Centre | None:
        """The mean draw under a load, with the factors of its tangent and its sensitivity."""
        found = None if state is None else self.body.forces(self.mean, state.u, matrix=True)
        if state is None or found is None or found.matrix is None:
            return None
        solve = self.equilibrium.pattern.factor(found.matrix)
        if solve is None:
            return None
        direct, free = self.body.sensitivity(self.mean, state.u), self.equilibrium.free
        moves = np.zeros_like(direct)
        moves[free] = -solve(direct[free])
        pulled = [self.equilibrium.pattern.times(found.matrix, column) for column in moves.T]
        return _Centre(state, solve, moves, direct + np.stack(pulled, axis=1))

    def _tasks(
        self, every: Draws, centre: _Centre | None, before: tuple[Fields, Fields], last: float
    ) -> tuple[list[_Task], Fields]:
        """Where every draw starts: by the sensitivity, with the error this made a load before."""
        u, linear = before
        known: list[tuple[float, Vector] | None] = [
            (last, each) if np.isfinite(each).all() else None for each in u
        ]
        if centre is None:
            ahead, starts = np.full(u.shape, np.nan), u
        else:
            ahead = centre.state.u + (every - self.mean) @ centre.moves.T
            error = np.where(np.isfinite(u - linear), u - linear, 0.0)
            starts = ahead + error
        tasks = [
            _Task(theta, start, place)
            for theta, start, place in zip(every, starts, known, strict=True)
        ]
        return tasks, ahead

    def _all(
        self, tasks: list[_Task], centre: _Centre | None, load: float, shown: Callable[[int], None]
    ) -> list[_Solved]:
        """Two threads, some draws at a time; the first of all alone, since it compiles."""
        done = 0

        def work(piece: list[_Task]) -> list[_Solved]:
            nonlocal done
            solved = [self._one(task, centre, load) for task in piece]
            done += len(piece)
            return solved

        alone = [] if self.begun else tasks[:1]
        self.begun, found = self.begun or bool(tasks), work(alone)
        pieces = [tasks[at : at + _PIECE] for at in range(len(alone), len(tasks), _PIECE)]
        for part in in_threads(work, pieces, lambda: shown(done)):
            found += part
        return found

    def _one(self, task: _Task, centre: _Centre | None, load: float) -> _Solved:
        """Chord steps, then Newton's method, then small load steps."""
        if task.before is None:
            return _Solved(None, "none", 0)
        start = task.start
        if centre is not None:
            start, state = self._chords(task, centre, load)
            if state is not None:
                return _Solved(state, "chord", state.iterations)
            state = self.equilibrium.newton(self.body, task.theta, start, load)
            if state is not None:
                return _Solved(state, "newton", state.iterations)
        for origin in (task.before, (0.0, np.zeros_like(start))):
            state = self.equilibrium.loaded(self.body, task.theta, origin, load)
            if state is not None:
                return _Solved(state, "loaded", state.iterations)
        return _Solved(None, "none", 0)

    def _chords(self, task: _Task, centre: _Centre, load: float) -> tuple[Vector, State | None]:
        """The nearest that steps with the factors of the mean draw come, and whether it is done."""
        equilibrium, u, last = self.equilibrium, task.start.copy(), np.inf
        u[equilibrium.problem.fixed] = equilibrium.problem.prescribed(load)
        best = u
        for count in range(_CHORDS):
            found = self.body.forces(task.theta, u)
            share = np.inf if found is None else equilibrium.share(found.internal, load)
            if found is None or share > _LEFT * last:
                return best, None
            if share <= equilibrium.settings.tolerance:
                return u, State(u, found.internal, count)
            best, last, u = u, share, u.copy()
            left = equilibrium.left(found.internal, load)
            u[equilibrium.free] -= centre.solve(left[:, None])[:, 0]
        return best, None

    def _values(self, state: State | None, load: float) -> list[float]:
        """The quantities of one draw."""
        every = self.equilibrium.problem.quantities
        if state is None:
            return [np.nan] * len(every)
        return [each.at(state.u, state.internal, load) for each in every]

    def _straight(self, theta: Draws, centre: _Centre, load: float) -> np.ndarray:
        """The quantities of draws by the sensitivity alone."""
        columns, away = [], theta - self.mean
        for each in self.equilibrium.problem.quantities:
            slopes = centre.forces if each.of_forces else centre.moves
            middle = each.at(centre.state.u, centre.state.internal, load)
            columns.append(middle + away @ (each.weights(load) @ slopes))
        return np.stack(columns, axis=1)
