"""The table a law is chosen from, and taking another row of it."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import steinmetz
from cases import QUICK, present
from steinmetz import InputError
from steinmetz.api import Result
from steinmetz.assess import measures
from steinmetz.engine import carving
from steinmetz.report.summary import summarise


@pytest.fixture
def folder(quick_folder: Path, tmp_path: Path) -> Path:
    return shutil.copytree(quick_folder, tmp_path / "run")


def test_rows_judge_their_own_laws(quick: Result) -> None:
    """Each row's R² is that of its law, computed one by one."""
    path = quick.problem.path
    truth = present(quick.problem.truth).stress(quick.problem.material.reference, path.map)
    known = path.known(truth, path.sampled)
    for row, choice in zip(quick.table, quick.carved.table, strict=True):
        predicted = np.asarray(choice.law.stress(known.map))
        expected = measures.r2(predicted, np.asarray(known.values))
        assert row.r2.path_sampled == pytest.approx(expected, abs=1e-10)
        assert row.active == choice.law.graph.size
        assert row.admissible
        spread = present(row.spread)
        assert spread.best <= spread.median <= spread.worst
    assert [row.active for row in quick.table if row.picked] == [quick.law.graph.size]


def test_gain_is_the_fall_of_log_loss_per_parameter(quick: Result) -> None:
    first, second = quick.table[:2]
    assert first.gain is None
    fall = (np.log(first.loss) - np.log(second.loss)) / (second.active - first.active)
    assert second.gain == pytest.approx(fall, rel=1e-9)


def test_another_row_is_taken_without_refitting(quick: Result, folder: Path) -> None:
    other = next(
        row for row in quick.carved.table if row.active != quick.law.graph.size and row.active > 1
    )
    taken = steinmetz.select(folder, other.active)
    np.testing.assert_array_equal(taken.law.values, other.law.values)
    assert taken.law.graph == other.law.graph
    assert "selected from the table" in taken.carved.reason
    summary = steinmetz.save(taken, folder)
    assert summary.parameters.active == other.active
    back = steinmetz.select(folder, quick.law.graph.size)
    again, before = summarise(back), summarise(quick)
    assert again.posterior == before.posterior
    assert again.pareto == before.pareto


def test_missing_row_and_damaged_file_are_named(folder: Path) -> None:
    with pytest.raises(InputError, match="rows are numbered by their parameters: 1, "):
        steinmetz.select(folder, 77)
    stored = json.loads((folder / "carving.json").read_text())
    stored["table"][0]["law"]["units"] = ["__import__('os')"]
    (folder / "carving.json").write_text(json.dumps(stored))
    with pytest.raises(InputError, match="not a complete file"):
        steinmetz.select(folder, 1)
    (folder / "carving.json").write_text("{")
    with pytest.raises(InputError, match="not a JSON file"):
        steinmetz.select(folder, 1)


def test_changed_data_are_noticed(quick: Result, tmp_path: Path) -> None:
    """A table that was edited after the run does not belong to its laws any more."""
    path, train = tmp_path / "carving.json", quick.problem.train
    path.write_text(json.dumps(carving.to_dict(quick.carved)))
    assert carving.read(path, train).law.graph == quick.law.graph
    for other in (
        train._replace(values=train.values * 1.001),
        train._replace(values=train.values[:7]),
    ):
        with pytest.raises(InputError, match="data of this run have changed"):
            carving.read(path, other)


def test_target_count_is_taken_and_another_seed_gives_other_numbers(quick: Result) -> None:
    result = steinmetz.run(
        steinmetz.study("hyperelasticity", {**QUICK, "sparsify.parameters": 3, "seed": 1})
    )
    assert result.law.graph.size == 3
    assert "as asked" in result.carved.reason
    assert [row.loss for row in result.table] != [row.loss for row in quick.table]
