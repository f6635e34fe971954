"""Measured tables as observations, every complaint with its place."""

from pathlib import Path
from typing import Protocol

import numpy as np
import pytest

from steinmetz import InputError
from steinmetz.data import noise
from steinmetz.experiments import base as experiments
from steinmetz.experiments import door, measured
from steinmetz.experiments.base import Experiment
from steinmetz.materials import isotropic
from steinmetz.materials.base import Material
from steinmetz.records import Observations

STATE = "F11,F12,F13,F21,F22,F23,F31,F32,F33"
ROW = "1.1,0,0,0,1,0,0,0,1"


class Measure(Protocol):
    """Read a table as the experiment has it: observations, and what is noted of it."""

    def __call__(
        self,
        text: str,
        config: noise.Config | None = None,
        material: Material = ...,
        experiment: Experiment = ...,
    ) -> tuple[Observations, list[str]]: ...


@pytest.fixture
def measure(tmp_path: Path, material: Material, full_tensor: Experiment) -> Measure:
    def measure(
        text: str,
        config: noise.Config | None = None,
        material: Material = material,
        experiment: Experiment = full_tensor,
    ) -> tuple[Observations, list[str]]:
        file = tmp_path / "data.csv"
        file.write_text(text, encoding="utf-8")
        (clean,) = door.read(material, [door.Wanted(file, experiment)])
        read = measured.observations(material, experiment, clean.table, config or noise.Config())
        return read.observations, clean.notes + read.notes

    return measure


def test_empty_cells_are_missing_and_not_zero(measure: Measure) -> None:
    data, notes = measure(f"{STATE},S11,S12\n{ROW},0.3,\n{ROW},,0.1\n")
    np.testing.assert_array_equal(np.asarray(data.observed), [[True, False], [False, True]])
    assert data.cells == 2
    assert notes == [
        "one cell of 'S11' (line 3) without a value; missing is not zero",
        "one cell of 'S12' (line 2) without a value; missing is not zero",
    ]


def test_measures_may_be_mixed_and_extra_columns_are_noted(measure: Measure) -> None:
    data, notes = measure(f"{STATE},P11,sigma22,time\n{ROW},0.3,0.1,7\n")
    assert data.components == ("P11", "sigma22")
    assert notes == ["columns not used: time"]


def test_noise_column_replaces_the_setting(measure: Measure) -> None:
    text = f"{STATE},S11,S22,sd_S11\n{ROW},0.3,0.1,0.02\n"
    data, _ = measure(text, noise.Config(relative=0.1, absolute=0.5))
    np.testing.assert_allclose(data.absolute, [[0.02, 0.5]])
    np.testing.assert_allclose(data.relative, [[0.0, 0.1]])


def test_rows_without_stress_are_left_out_and_noted(measure: Measure) -> None:
    data, notes = measure(f"{STATE},S11\n{ROW},0.3\n{ROW},\n")
    assert len(data.state) == 1
    assert notes[-1] == "1 rows without any stress value left out (line 3)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{STATE}\n{ROW}\n", "no stress column"),
        ("F11,S11\n1,2\n", "column 'F12' is missing"),
        (
            f"{STATE},S11\n-1.1,0,0,0,1,0,0,0,1,0.3\n",
            "line 2, column 'F11…F33': det F = -1.1 must be positive",
        ),
        (f"{STATE},S11\n1.1,,0,0,1,0,0,0,1,0.3\n", "line 2, column 'F12': empty"),
        (f"{STATE},S12,S21\n{ROW},0.3,0.4\n", "line 2: columns 'S21' and 'S12' differ"),
        (f"{STATE},S11,sd_S11\n{ROW},0.3,-1\n", "column 'sd_S11': a standard deviation must be"),
        (f"{STATE},S11\n{ROW},0\n", "nothing to fit"),
    ],
)
def test_wrong_tables_are_refused_with_their_place(
    measure: Measure, text: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        measure(text)


def test_transposed_twin_that_agrees_counts_once(measure: Measure) -> None:
    data, _ = measure(f"{STATE},S12,S21\n{ROW},0.3,0.3\n")
    assert data.components == ("S12",)


def test_stretches_of_a_test_are_read_and_checked(measure: Measure) -> None:
    rubber = isotropic.build(isotropic.Config(incompressible=True))
    pull = experiments.build(experiments.load("uniaxial").Config(name="uniaxial"))
    data, _ = measure("stretch,P11\n1.1,0.3\n2,0.9\n", None, rubber, pull)
    np.testing.assert_allclose(data.state[1], np.diag([2, 2**-0.5, 2**-0.5]).ravel())
    with pytest.raises(InputError, match="line 3, column 'stretch': a stretch must be positive"):
        measure("stretch,P11\n1.1,0.3\n0,0.9\n", None, rubber, pull)
