"""Cook's membrane: values that others have found, on the same and on finer meshes."""

from collections.abc import Callable

import numpy as np
import pytest
from jaxtyping import Array

from cases import Formula, coupled, lame, split
from steinmetz.fe.body import Body
from steinmetz.fe.newton import Equilibrium
from steinmetz.fe.problems import Wanted, cook
from steinmetz.fe.substance import Substance
from steinmetz.records import Reference

REFERENCE = Reference((3.0, 3.0, 1.0))


def membrane(
    law: Callable[[Array, Array], Array], theta: tuple[float, float], wanted: Wanted
) -> dict[str, float]:
    """Displacements of Cook's membrane by name."""
    problem = cook(wanted)
    body = Body.of(problem.space, Substance.of(Formula(law), REFERENCE))
    nothing = np.zeros(problem.space.unknowns)
    state = Equilibrium.of(problem).loaded(body, np.array(theta), (0.0, nothing), 1.0)
    assert state is not None
    return {q.name: q.at(state.u, state.internal, 1.0) for q in problem.quantities}


@pytest.mark.parametrize(("cells", "tip"), [(2, 14.30), (4, 14.65), (8, 14.71), (16, 14.73)])
def test_tip_on_meshes_of_the_deal_ii_gallery(cells: int, tip: float) -> None:
    shear, poisson = 0.4225, 0.3
    bulk = 2 * shear * (1 + poisson) / (3 * (1 - 2 * poisson))
    found = membrane(split, (shear, bulk), Wanted(cells, 1 / 16))
    assert abs(found["tip y"] - tip) < 0.005
    assert abs(found["reaction y"] + 1) < 1e-8


def test_corner_extrapolated_to_the_value_of_mueller() -> None:
    """6.1469 at (48, 60) for E = 200, ν = 0.35; the corner converges as h^1.3."""
    found = [
        membrane(coupled, lame(200.0, 0.35), Wanted(cells, 4.0))["upper corner y"]
        for cells in (4, 8, 16)
    ]
    first, second = np.diff(found)
    limit = found[-1] + second**2 / (first - second)
    assert abs(limit - 6.1469) < 0.02


@pytest.mark.parametrize("cells", [8, pytest.param(16, marks=pytest.mark.long)])
def test_no_locking_where_the_volume_hardly_changes(cells: int) -> None:
    """6.9083 at (48, 60) for E = 240.565, ν = 0.4999; without the projection Q2 gives 6.52."""
    theta = lame(240.565, 0.4999)
    found = membrane(coupled, theta, Wanted(cells, 6.25, projected=True))
    assert abs(found["upper corner y"] / 6.9083 - 1) < 0.005
    locked = membrane(coupled, theta, Wanted(cells, 6.25))
    assert locked["upper corner y"] < 0.98 * 6.9083
