"""Draws through a problem: each as if it were solved alone, whatever brought it there."""

import numpy as np
import pytest

from cases import REFERENCE, Formula, coupled, split
from steinmetz.fe.body import Body
from steinmetz.fe.draws import push
from steinmetz.fe.fields import Statistics, fields
from steinmetz.fe.newton import Equilibrium
from steinmetz.fe.problem import Problem
from steinmetz.fe.problems import Wanted, cook
from steinmetz.fe.substance import Substance
from steinmetz.fe.work import Found, Group
from steinmetz.potentials.mechanics import Term, Terms
from steinmetz.records import Reference

LAWS = (
    Substance.of(Formula(split), Reference((3.0, 3.0, 1.0))),
    Substance.of(
        Terms(
            ("I1", "I2", "J"), (Term("norm", (3.0, 0.0), True), Term("volume square", (0.0, 0.0)))
        ),
        REFERENCE,
    ),
)


def groups(spread: float, draws: int = 6) -> list[Group]:
    random = np.random.default_rng(0)
    centres = (np.array([0.42, 0.9]), np.array([0.2, 0.5]))
    return [
        Group(law, centre * np.exp(spread * random.standard_normal((draws, 2))))
        for law, centre in zip(LAWS, centres, strict=True)
    ]


def alone(problem: Problem, every: list[Group]) -> np.ndarray:
    """Every draw solved from the unloaded body."""
    found, equilibrium = [], Equilibrium.of(problem)
    for group in every:
        body = Body.of(problem.space, group.substance)
        for theta in group.theta:
            start = (0.0, np.zeros(problem.space.unknowns))
            state = equilibrium.loaded(body, theta, start, 1.0)
            assert state is not None
            found.append(state.u)
    return np.stack(found)


def pushed(spread: float, loads: tuple[float, ...], exact: bool = True) -> tuple[Problem, Found]:
    problem = cook(Wanted(3, 0.05))
    return problem, push(groups(spread), Equilibrium.of(problem), loads, exact=exact)


@pytest.mark.parametrize(("spread", "loads"), [(0.02, (0.5, 1.0)), (0.6, (1.0,))])
def test_draws_are_those_solved_alone(spread: float, loads: tuple[float, ...]) -> None:
    """Near the mean by chord steps; far from it by Newton's method, to the same solution."""
    problem, found = pushed(spread, loads)
    assert found.solved.all()
    assert np.abs(found.u - alone(problem, groups(spread))).max() < 1e-6
    assert (found.effort.newton + found.effort.loaded > 0) == (spread > 0.1)


def test_linearised_error_falls_with_the_square_of_the_spread() -> None:
    away = []
    for spread in (0.02, 0.01):
        _, found = pushed(spread, (1.0,))
        away.append(np.abs(found.quantities - found.linear_quantities).max())
    assert 3.2 < away[0] / away[1] < 5


def test_linearised_alone_is_the_prediction() -> None:
    _, exact = pushed(0.02, (0.5, 1.0))
    _, linear = pushed(0.02, (0.5, 1.0), exact=False)
    assert np.allclose(linear.quantities, exact.linear_quantities, rtol=1e-9)
    assert np.allclose(linear.u, exact.linear, atol=1e-9)


def test_draws_that_find_no_equilibrium_are_named() -> None:
    """A law without stiffness against volume collapses; the others do not suffer."""
    problem = cook(Wanted(2, 0.05))
    theta = np.array([[0.42, 0.9], [0.42, 0.91], [1e-9, 1e-9]])
    group = Group(Substance.of(Formula(coupled), Reference((3.0, 3.0, 1.0))), theta)
    found = push([group], Equilibrium.of(problem), (1.0,))
    assert found.solved.tolist() == [True, True, False]
    few = fields(problem, [group], found, 0.9, limit=1e-6)
    assert len(few.most) == 2
    assert few.anywhere == 1.0


def test_statistics_of_draws() -> None:
    band = Statistics.of(np.arange(101.0)[:, None], 0.9)
    found = [float(part[0]) for part in band]
    assert np.allclose(found, [50, np.sqrt((101**2 - 1) / 12), 5, 50, 95])
