"""Data of a study: which rows are fitted, which are held out, and what is said about it."""

from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np
import pytest

import steinmetz
from cases import present
from steinmetz import InputError
from steinmetz.engine.problem import Problem, prepare
from steinmetz.engine.run import check_noise


@pytest.fixture
def tables(tmp_path: Path) -> list[Path]:
    """Two tests of 40 rows, the first with four numbered curves."""
    for name, curves in (("pull", True), ("bulge", False)):
        stretch = np.tile(np.linspace(1.05, 2, 10), 4)
        lines = ["stretch,P11" + (",curve" if curves else "")]
        for row, value in enumerate(stretch):
            lines.append(f"{value},{value - value**-2}" + (f",{row // 10}" if curves else ""))
        (tmp_path / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
    return [tmp_path / "pull.csv", tmp_path / "bulge.csv"]


def problem(tables: Sequence[Path], experiments: Sequence[str], **data: object) -> Problem:
    """What is fitted of some tables."""
    from steinmetz.studies.measured import jointly

    changes = {f"data.{name}": value for name, value in data.items()}
    return prepare(jax.random.key(0), jointly(tables, experiments, (0.05, 0.0), changes))


def test_segments_are_held_out_unless_asked_otherwise(tables: list[Path]) -> None:
    found = problem(tables[:1], ["uniaxial"])
    assert found.held_out_as == ["8 of 40 rows, in 4 segments of neighbours"]
    assert found.notes == []
    assert len(found.train.state) == 32
    rows = problem(tables[:1], ["uniaxial"], hold_out="rows")
    assert rows.held_out_as == ["8 of 40 rows, drawn one by one"]


def test_a_whole_curve_is_held_out(tables: list[Path]) -> None:
    found = problem(tables[:1], ["uniaxial"], hold_out="curves")
    assert len(present(found.held_out).state) == 10
    assert found.held_out_as[0].startswith("10 of 40 rows, curve ")


def test_a_whole_table_of_a_joint_fit_is_held_out(tables: list[Path]) -> None:
    second = tables[1]
    third = second.with_name("shear.csv")
    third.write_text(second.read_text(encoding="utf-8"), encoding="utf-8")
    names = ["equibiaxial", "pure_shear"]
    found = problem([second, third], names, hold_out="curves", held_out=0.5)
    assert sorted(len(block.train.state) for block in found.blocks) == [0, 40]
    assert len(found.train.state) == len(present(found.held_out).state) == 40
    assert "the whole table" in found.held_out_as[0]
    assert found.held_out_as[0].startswith(("bulge.csv: ", "shear.csv: "))


def test_the_far_end_is_beyond_the_range_of_the_fit(tables: list[Path]) -> None:
    found = problem(tables[:1], ["uniaxial"], hold_out="end")
    stretch = np.asarray(present(found.held_out).state)[:, 0]
    assert stretch.min() > np.asarray(found.train.state)[:, 0].max() - 1e-12
    assert not found.path.sampled[found.path.coordinate > 1.95].any()


def test_a_curve_without_a_number_and_an_unknown_way_are_refused(tables: list[Path]) -> None:
    text = tables[0].read_text(encoding="utf-8").splitlines()
    text[3] = text[3].rpartition(",")[0] + ","
    tables[0].write_text("\n".join(text), encoding="utf-8")
    with pytest.raises(InputError, match=r"line 4, column 'curve': empty"):
        problem(tables[:1], ["uniaxial"])
    with pytest.raises(InputError, match=r"data.hold_out = 'random' is not possible"):
        problem(tables[1:], ["uniaxial"], hold_out="random")


def test_one_state_is_noted() -> None:
    single = prepare(jax.random.key(0), steinmetz.study("hyperelasticity", {"data.count": 1}))
    assert any("one state" in note for note in single.notes)
    several = prepare(jax.random.key(0), steinmetz.study("hyperelasticity", {"data.count": 2}))
    assert several.notes == []


def test_a_network_has_no_estimated_noise() -> None:
    for changes in ({"noise.relative": "estimated"}, {"noise.tails": "student"}):
        study = steinmetz.study("hyperelasticity", {"potential.name": "icnn", **changes})
        with pytest.raises(steinmetz.InputError, match="is for laws composed of terms"):
            check_noise(study)
    check_noise(steinmetz.study("hyperelasticity", {"noise.relative": "estimated"}))
