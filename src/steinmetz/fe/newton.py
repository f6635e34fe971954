"""Equilibrium of one draw: Newton's method with line search, and load steps that adapt."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from steinmetz.fe.body import Body, Forces, Theta, Vector
from steinmetz.fe.linear import Pattern
from steinmetz.fe.problem import Problem

# Times that a step is halved before the search along it ends.
_HALVINGS = 8
# Share of the slope along a step that must not be left at its end.
_SLACK = 0.9
# Load steps are not cut below this share of the load.
_SMALLEST = 1 / 512


class Settings(NamedTuple):
    """When equilibrium is reached: residual over the largest of loads and reactions."""

    tolerance: float = 1e-9
    iterations: int = 25


class State(NamedTuple):
    """Displacements in equilibrium, internal forces, and the iterations it took."""

    u: Vector
    internal: Vector
    iterations: int


class Equilibrium(NamedTuple):
    """What is to be solved: a problem with the pattern of its free unknowns."""

    problem: Problem
    pattern: Pattern
    settings: Settings = Settings()

    @classmethod
    def of(cls, problem: Problem, settings: Settings | None = None) -> "Equilibrium":
        """Free unknowns are those that are not prescribed."""
        space = problem.space
        free = np.setdiff1d(np.arange(space.unknowns), problem.fixed)
        return cls(problem, Pattern(space.rows, space.starts, free), settings or Settings())

    @property
    def free(self) -> Int[np.ndarray, "free"]:
        """Unknowns that are not prescribed."""
        return self.pattern.free

    def left(self, internal: Vector, load: float) -> Float[np.ndarray, "free"]:
        """The residual: internal less external forces."""
        return np.asarray((internal - load * self.problem.force)[self.free])

    def share(self, internal: Vector, load: float) -> float:
        """The residual over the forces that there are."""
        outer = np.linalg.norm(load * self.problem.force)
        inner = np.linalg.norm(internal[self.problem.fixed])
        size = max(float(outer), float(inner), 1e-30)
        return float(np.linalg.norm(self.left(internal, load))) / size

    def newton(self, body: Body, theta: Theta, start: Vector, load: float) -> State | None:
        """Equilibrium under a share of the load; None where it is not found."""
        u, found = start.copy(), body.forces(theta, start, matrix=True)
        for count in range(self.settings.iterations):
            if found is None:
                return None
            jump = self.problem.prescribed(load) - u[self.problem.fixed]
            still = not np.any(np.abs(jump) > 1e-14 * self.problem.space.mesh.size)
            if still and self.share(found.internal, load) <= self.settings.tolerance:
                return State(u, found.internal, count)
            moved = self._moved(body, theta, (u, found), (load, jump))
            if moved is None:
                return None
            u = moved
            found = body.forces(theta, u, matrix=True)
        return None

    def _moved(
        self, body: Body, theta: Theta, at: tuple[Vector, Forces], asked: tuple[float, np.ndarray]
    ) -> Vector | None:
        """One step: whole if prescribed displacements change, else as long as the search allows."""
        (u, found), (load, jump) = at, asked
        assert found.matrix is not None
        step = np.zeros_like(u)
        step[self.problem.fixed] = jump
        left = self.left(found.internal, load)
        pulled = self.pattern.times(found.matrix, step)[self.free] if jump.any() else 0.0
        inner = self.pattern.solve(found.matrix, -left - pulled)
        if inner is None:
            return None
        step[self.free] = inner
        if np.any(np.abs(jump) > 1e-14 * self.problem.space.mesh.size):
            return np.asarray(u + step)
        return self._searched(body, theta, (u, step), (load, left))

    def _searched(
        self, body: Body, theta: Theta, way: tuple[Vector, Vector], at: tuple[float, np.ndarray]
    ) -> Vector | None:
        """The longest of s = 1, ½, … with J > 0 where the energy does not overshoot."""
        (u, step), (load, left) = way, at
        slope, size = abs(step[self.free] @ left), np.linalg.norm(left)
        for halving in range(_HALVINGS):
            reached = u + 0.5**halving * step
            found = body.forces(theta, reached)
            if found is not None:
                now = self.left(found.internal, load)
                if abs(step[self.free] @ now) <= _SLACK * slope or np.linalg.norm(now) < size:
                    return reached
        return None

    def loaded(
        self, body: Body, theta: Theta, start: tuple[float, Vector], end: float
    ) -> State | None:
        """From equilibrium under one share of the load to another, in steps that adapt."""
        (load, u), step, iterations = start, end - start[0], 0
        while True:
            step = np.sign(step) * min(abs(step), abs(end - load))
            state = self.newton(body, theta, u, load + step)
            if state is None:
                step /= 2
                if abs(step) < _SMALLEST:
                    return None
                continue
            load, u, iterations = load + step, state.u, iterations + state.iterations
            if abs(end - load) < 1e-12:
                return state._replace(iterations=iterations)
            step *= 1.5 if state.iterations <= 6 else 1.0
