"""Example tables: read as they are, in every mode, and fitted."""

from pathlib import Path

import jax
import numpy as np
import pytest

import steinmetz
from cases import CHEAP, present
from steinmetz import registry
from steinmetz.engine import blocks, problem
from steinmetz.engine.template import example
from steinmetz.studies import measured


@pytest.mark.parametrize("mode", registry.names("experiments"))
def test_an_example_is_understood_without_a_flag(tmp_path: Path, mode: str) -> None:
    file = tmp_path / "example.csv"
    file.write_text(example(mode), encoding="utf-8")
    study = measured.jointly([file], [None], (0.05, 0.0))
    (found,) = blocks.tables(study)
    assert (found.experiment.name, found.unit, found.missing) == (mode, "MPa", 0)
    assert found.notes == []
    assert len(found.table.lines) == 25
    made = problem.prepare(jax.random.key(0), study)
    assert made.unit == "MPa"
    assert made.train.cells + (0 if made.held_out is None else made.held_out.cells) > 0


def test_an_example_is_fitted(tmp_path: Path) -> None:
    """Mooney–Rivlin with little noise: the law comes out with its unit, and fits."""
    file = tmp_path / "pull.csv"
    file.write_text(example("uniaxial"), encoding="utf-8")
    result = steinmetz.fit(file, relative=0.02, changes=CHEAP)
    assert result.summary.data.unit == "MPa"
    assert present(result.scores.r2.train) > 0.999
    assert '"unit": "MPa"' in result.export("json")
    assert "(MPa)" in result.plot("path").axes[1].get_ylabel()
    result.save(tmp_path / "run")
    again = steinmetz.load(tmp_path / "run")
    np.testing.assert_array_equal(again.particles, result.particles)
    assert again.problem.unit == "MPa"


def test_a_long_table_travels_with_its_run(tmp_path: Path) -> None:
    """Two tests in one file, a strain in percent, a branch: the same after saving and loading."""
    rows = ["mode;strain (%);true_stress [kPa]"]
    for mode, power in (("uniaxial", 2), ("equibiaxial", 5)):
        for strain in (*range(0, 60, 5), *range(50, 0, -5)):
            stretch = 1 + strain / 100
            rows.append(f"{mode};{strain};{1000 * stretch * (stretch - stretch**-power)}")
    file = tmp_path / "long.csv"
    file.write_text("\n".join(rows), encoding="utf-8")
    result = steinmetz.fit(file, changes={**CHEAP, "data.branch": "loading"})
    assert [block.experiment.name for block in result.problem.blocks] == ["uniaxial", "equibiaxial"]
    notes = result.summary.data.notes
    assert "long.csv, uniaxial: 10 rows of unloading left out" in notes
    result.save(tmp_path / "run")
    file.unlink()
    again = steinmetz.load(tmp_path / "run")
    np.testing.assert_array_equal(again.problem.train.values, result.problem.train.values)
    assert len(again.problem.notes) == len(result.problem.notes)
