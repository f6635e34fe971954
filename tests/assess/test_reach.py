"""Which states lie among the data."""

import numpy as np
import pytest

from steinmetz.assess.reach import reach


def invariants(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """I1 and I2 of principal stretches a, b and 1/(a b)."""
    squares = np.stack([a, b, 1 / (a * b)], axis=1) ** 2
    return np.stack([squares.sum(axis=1), (1 / squares).sum(axis=1)], axis=1)


def test_inside_and_outside_of_a_square_of_very_different_sides() -> None:
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1e6], [1.0, 1e6], [0.5, 5e5]])
    asked = np.array([[0.5, 1.0], [0.999, 9e5], [1.1, 5e5], [0.5, -1e5], [-0.1, 2e6]])
    assert reach(corners).covers(asked).tolist() == [True, True, False, False, False]


def test_a_corner_that_is_left_out_is_outside() -> None:
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert reach(triangle).covers(np.array([[0.4, 0.4], [0.9, 0.9]])).tolist() == [True, False]


def test_data_on_a_line_cover_the_line_alone() -> None:
    line = np.linspace(0, 1, 9)[:, None] * np.array([1.0, 1.0, 0.0])
    asked = np.array([[0.3, 0.3, 0.0], [0.3, 0.4, 0.0], [0.3, 0.3, 0.1], [1.2, 1.2, 0.0]])
    assert reach(line).covers(asked).tolist() == [True, False, False, False]


def test_many_inputs_are_judged_by_their_box() -> None:
    random = np.random.default_rng(0)
    cloud = random.uniform(-1, 1, (40, 6))
    covers = reach(cloud).covers
    assert covers(cloud).all()
    assert not covers(10 * cloud).all()


@pytest.mark.parametrize(("stretch", "inside"), [(1.3, True), (1.9, True), (2.2, False)])
def test_tension_and_equibiaxial_tension_reach_pure_shear(stretch: float, inside: bool) -> None:
    """Both curves are the border of all states, so what lies between them is covered."""
    course, one = np.linspace(1, 2, 200), np.ones(1)
    pull, bulge = invariants(course, course**-0.5), invariants(course, course)
    asked = invariants(stretch * one, one)
    short = bulge[bulge[:, 0] <= pull[:, 0].max()]
    assert reach(np.concatenate([pull, short])).covers(asked).tolist() == [inside]
    assert not reach(pull).covers(asked).any()
