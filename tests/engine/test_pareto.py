"""The table a law is chosen from, and taking another row of it."""

import json

import numpy as np
import pytest

import steinmetz
from engine.test_run import QUICK
from steinmetz import InputError
from steinmetz.assess import scores
from steinmetz.export import carving
from steinmetz.physics import observe
from steinmetz.report.summary import summarise


@pytest.fixture(scope="module")
def quick():
    return steinmetz.run(steinmetz.study("hyperelasticity", QUICK))


@pytest.fixture
def folder(quick, tmp_path):
    steinmetz.save(quick, tmp_path / "run")
    return tmp_path / "run"


def test_rows_judge_their_own_laws(quick):
    """Each row's scores are those of its law, computed one by one."""
    physics, path = quick.problem.physics, quick.problem.path
    at = observe.rig(physics, path.state[path.sampled], physics.default_components)
    truth = np.asarray(observe.clean_values(quick.problem.truth, physics.reference, at))
    for row, choice in zip(quick.pareto, quick.carved.table, strict=True):
        predicted = np.einsum("sci,si->sc", at.operator, choice.law.slopes(at.inputs))
        assert row.r2["path_sampled"] == pytest.approx(scores.r2(predicted, truth), abs=1e-10)
        assert row.active == choice.law.graph.size
        assert row.admissible
        assert row.spread["best"] <= row.spread["median"] <= row.spread["worst"]
    assert [row.active for row in quick.pareto if row.picked] == [quick.law.graph.size]


def test_score_is_the_fall_of_log_loss_per_parameter(quick):
    first, second = quick.pareto[:2]
    assert first.score is None
    fall = (np.log(first.loss) - np.log(second.loss)) / (second.active - first.active)
    assert second.score == pytest.approx(fall, rel=1e-9)


def test_another_row_is_taken_without_refitting(quick, folder):
    other = next(
        row for row in quick.carved.table if row.active != quick.law.graph.size and row.active > 1
    )
    taken = steinmetz.select(folder, other.active)
    np.testing.assert_array_equal(taken.law.values, other.law.values)
    assert taken.law.graph == other.law.graph
    assert "selected from the table" in taken.carved.reason
    summary = steinmetz.save(taken, folder)
    assert summary["parameters"]["active"] == other.active
    back = steinmetz.select(folder, quick.law.graph.size)
    again, before = summarise(back), summarise(quick)
    assert again["posterior"] == before["posterior"]
    assert again["pareto"] == before["pareto"]


def test_missing_row_and_damaged_file_are_named(folder):
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


def test_changed_data_are_noticed(quick, tmp_path):
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


def test_target_count_is_taken_and_another_seed_gives_other_numbers(quick):
    result = steinmetz.run(
        steinmetz.study("hyperelasticity", {**QUICK, "sparsify.parameters": 3, "seed": 1})
    )
    assert result.law.graph.size == 3
    assert "as asked" in result.carved.reason
    assert [row.loss for row in result.pareto] != [row.loss for row in quick.pareto]
