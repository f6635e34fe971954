"""Data sets whose truth is known: the same again, of a law or of a draw, and its derivatives."""

from pathlib import Path

import numpy as np
import pytest

from cases import present
from steinmetz.calibrate import cases
from steinmetz.calibrate.cases import Case
from steinmetz.errors import InputError


def test_changes_of_a_linear_law_add_up_to_its_stress(mooney: Case) -> None:
    """Each is in units of its parameter, so all of them together double the stress."""
    changes = present(mooney.changes)
    np.testing.assert_allclose(changes.train.sum(axis=0), mooney.clean, atol=1e-9)
    np.testing.assert_allclose(changes.path.sum(axis=0), mooney.truth, atol=1e-9)


def test_changes_are_difference_quotients() -> None:
    """Gent's: one of the parameters is inside a logarithm."""
    task = cases.of_law("gent", 0.1, 0, {"data.count": 3})
    found, step = present(cases.case(task).changes), 1e-4
    names = ["Jm", "theta1", "theta2", "theta3"]
    sides = []
    for sign in (1, -1):
        value = 77.931 * (1 + sign * step)
        moved = cases.of_law("gent", 0.1, 0, {"data.count": 3, "data.parameters.Jm": value})
        sides.append(cases.case(moved).truth)
    expected = (sides[0] - sides[1]) / (2 * step)
    np.testing.assert_allclose(found.path[names.index("Jm")], expected, rtol=1e-3, atol=1e-7)


def test_a_draw_of_a_run_is_the_same_again_and_another_one_is_not(finished: Path) -> None:
    first, again, other = (cases.case(cases.of_run(finished, n)) for n in (0, 0, 1))
    np.testing.assert_array_equal(first.problem.train.values, again.problem.train.values)
    assert not np.allclose(first.truth, other.truth, rtol=1e-4)
    assert first.clean.shape == first.problem.train.values.shape  # data of the run, and new ones
    assert present(first.changes).train.shape[1:] == first.clean.shape
    assert present(first.changes).path.shape[1:] == first.truth.shape


def test_changes_of_a_draw_with_linear_parameters_add_up(finished: Path) -> None:
    """Terms whose constants are not free are linear in all parameters."""
    pool = cases._pool(finished)
    linear = [not any(t.free for t in part.law.terms.terms) for part in pool.bands.parts]
    order = np.random.default_rng(pool.study.seed).permutation(cases.POOL)
    number = next(n for n, draw in enumerate(order) if linear[pool.bands.owner[draw]])
    known = cases.case(cases.of_run(finished, number))
    np.testing.assert_allclose(present(known.changes).path.sum(axis=0), known.truth, atol=1e-9)


def test_content_is_of_law_settings_and_number(finished: Path) -> None:
    every = [
        cases.of_law("gent", 0.1, 0, {}),
        cases.of_law("gent", 0.1, 1, {}),
        cases.of_law("gent", 0.05, 0, {}),
        cases.of_law("yeoh", 0.1, 0, {}),
        cases.of_run(finished, 0),
        cases.of_run(finished, 1),
    ]
    assert len({str(sorted(task.content.items())) for task in every}) == len(every)
    assert len({task.label for task in every}) == len(every)


def test_what_cannot_be_calibrated_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a network; use potential"):
        cases.of_law("gent", 0.1, 0, {"potential.name": "icnn"})
    with pytest.raises(InputError, match="no finished run there"):
        cases.of_run(tmp_path, 0)
