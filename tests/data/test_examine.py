"""What is odd about curves: found where it was put, silent where nothing is."""

import numpy as np
import pytest

from cases import Numbers
from steinmetz.data import branches, examine
from steinmetz.data.complaints import Complaints, Place
from steinmetz.data.examine import Curve
from steinmetz.errors import InputError

STRETCH = np.linspace(1, 2, 21)


def curve(stretch: Numbers, stress: Numbers) -> Curve:
    lines = np.arange(2, len(stretch) + 2)
    return Curve("stretch", "P11", np.log(stretch), stress, lines)


def neo(stretch: Numbers) -> Numbers:
    return np.asarray(stretch - stretch**-2)


def test_a_good_curve_is_not_odd() -> None:
    random = np.random.default_rng(0)
    for stretch in (STRETCH, np.linspace(0.6, 2.5, 40), np.linspace(1.02, 7.6, 24)):
        stress = neo(stretch) * (1 + 0.03 * random.normal(size=len(stretch)))
        assert examine.curve(curve(stretch, stress)) == []


def test_offset_at_rest() -> None:
    (note,) = examine.curve(curve(STRETCH, neo(STRETCH) + 0.2))
    assert "does not pass near the origin" in note
    assert "'P11' is 0.2 at rest" in note
    (note,) = examine.curve(curve(STRETCH[1:], neo(STRETCH[1:]) + 0.5))
    assert "does not pass near the origin" in note


def test_sign_of_stress() -> None:
    notes = examine.curve(curve(STRETCH, -neo(STRETCH)))
    assert ["sign opposite" in note for note in notes] == [True]
    strain_as_stretch = np.linspace(0.05, 0.9, 18)
    notes = examine.curve(curve(strain_as_stretch, neo(1 + strain_as_stretch)))
    assert any("a strain belongs into a column 'strain'" in note for note in notes)


def test_an_outlier_is_named_by_its_line() -> None:
    stress = neo(STRETCH)
    stress[10] *= 1.5
    (note,) = examine.curve(curve(STRETCH, stress))
    assert "line 12" in note
    assert "far off its neighbours" in note


def test_few_points() -> None:
    (note,) = examine.curve(curve(STRETCH[:3], neo(STRETCH[:3])))
    assert "3 different values" in note


def test_unloading_is_found_and_measured() -> None:
    there_and_back = np.concatenate([STRETCH, STRETCH[-2::-1]])
    stress = neo(there_and_back)
    stress[21:] *= 0.8
    back = branches.unloading(np.log(there_and_back))
    np.testing.assert_array_equal(np.flatnonzero(back), np.arange(21, 41))
    (note,) = examine.curve(curve(there_and_back, stress))
    assert "20 of 41 rows unload" in note
    assert "20 % of the largest stress apart" in note or "19 % of the largest stress apart" in note
    assert "--branch loading" in note


def test_compression_is_loading_too() -> None:
    away = np.concatenate([np.linspace(0, -0.5, 10), np.linspace(-0.45, 0.5, 20)])
    back = branches.unloading(away)
    assert not back[:10].any()
    assert back[10:19].all()
    assert not back[22:].any()


@pytest.mark.parametrize(
    "away",
    [
        np.tile(np.linspace(0, 1, 10), 4),  # a curve that starts again
        np.random.default_rng(0).uniform(0, 1, 50),  # rows in no order
        np.linspace(0, 1, 200) + 0.004 * np.random.default_rng(1).normal(size=200),  # jitter
        np.zeros(5),
        np.zeros(1),
    ],
)
def test_what_is_not_unloading(away: Numbers) -> None:
    assert not branches.unloading(away).any()


def test_repeated_rows() -> None:
    rows = np.array([[1.0, 0.0], [1.1, np.nan], [1.1, np.nan], [1.2, 0.3]])
    (note,) = examine.repeated(rows, np.arange(2, 6))
    assert note.startswith(
        "1 of 4 rows repeat an earlier one exactly (line 3 stands there 2 times)"
    )
    assert examine.repeated(rows[:2], np.arange(2, 4)) == []
    (note,) = examine.repeated(np.tile(rows[3], (100, 1)), np.arange(2, 102))
    assert "99 of 100 rows" in note
    assert "all rows are the same" in note


def test_complaints_are_counted_and_grouped() -> None:
    complaints = Complaints()
    complaints.raise_any()
    for line in range(2, 9):
        complaints.add(Place("a.csv", "P11"), f"'{line}x' is not a number", line, "number")
    with pytest.raises(InputError) as said:
        complaints.raise_any()
    assert str(said.value) == (
        "a.csv, line 2, column 'P11': '2x' is not a number (and in 6 further lines: 3, 4, 5, 6 …)"
    )
    for number in range(12):
        complaints.add(Place("a.csv"), f"fault {number}")
    with pytest.raises(InputError, match="13 things are wrong") as said:
        complaints.raise_any()
    lines = str(said.value).splitlines()
    assert len(lines) == 12
    assert lines[-1] == "  … and 3 more"
