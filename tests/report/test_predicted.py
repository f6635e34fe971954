"""Tables of states in, tables of stress out; pictures again; runs beside each other."""

import dataclasses
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas
import pytest

import steinmetz
from cases import CHEAP, present
from steinmetz import InputError
from steinmetz.api import Result
from steinmetz.cli import main
from steinmetz.report import figures

C10, C01 = 0.4, 0.08


def nominal(stretch: np.ndarray) -> np.ndarray:
    """P11 of a Mooney–Rivlin rubber in uniaxial tension."""
    return np.asarray(2 * (stretch - stretch**-2) * (C10 + C01 / stretch))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rubber")


@pytest.fixture(scope="module")
def rubber(folder: Path) -> Result:
    """A law of 15 rows from stretch 1.1 to 2.5, with 2 % noise."""
    stretch = np.linspace(1.1, 2.5, 15)
    noisy = nominal(stretch) * (1 + 0.02 * np.random.default_rng(1).standard_normal(15))
    rows = "".join(f"{a},{b}\n" for a, b in zip(stretch, noisy, strict=True))
    (folder / "pull.csv").write_text(f"stretch,P11 (MPa)\n{rows}")
    result = steinmetz.fit(folder / "pull.csv", "uniaxial", 0.02, changes=CHEAP)
    result.save(folder / "rubber")
    return result


@pytest.fixture(scope="module")
def smaller(rubber: Result, folder: Path) -> Result:
    """The law of one parameter instead."""
    result = rubber.select(1)
    result.save(folder / "smaller")
    return result


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> object:
    """The command line, in this process; returns its exit code."""
    monkeypatch.setattr(sys, "argv", ["steinmetz", *map(str, arguments)])
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code


def test_a_table_of_strains_becomes_a_table_of_stress(
    rubber: Result,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ask.csv").write_text("strain (%)\n5\n50\n100\n190\n")
    assert call(monkeypatch, "predict", folder / "rubber", "ask.csv") == 0
    said = capsys.readouterr().out
    assert "uniaxial, 4 rows, 1 extrapolated" in said
    assert "ask-predicted.csv" in said
    found = pandas.read_csv("ask-predicted.csv")
    ends = ("law", "median", "lower", "upper", "new_lower", "new_upper")
    assert [*found] == ["stretch", *(f"P11_{end} (MPa)" for end in ends), "extrapolated"]
    assert [*found["extrapolated"]] == ["no", "no", "no", "yes"]
    np.testing.assert_allclose(found["stretch"], [1.05, 1.5, 2.0, 2.9])
    here = rubber.predict("uniaxial", [[1.05], [1.5], [2.0], [2.9]])
    np.testing.assert_allclose(found["P11_law (MPa)"], here.law[:, 0], rtol=1e-8)
    low, high = here.band()
    np.testing.assert_allclose(found["P11_lower (MPa)"], low[:, 0], rtol=1e-8)
    np.testing.assert_allclose(found["P11_upper (MPa)"], high[:, 0], rtol=1e-8)
    width = found["P11_new_upper (MPa)"] - found["P11_new_lower (MPa)"]
    assert (width > high[:, 0] - low[:, 0]).all()
    inner = width[1] / (2 * 1.96 * 0.02 * nominal(np.array([1.5]))[0])
    assert 0.9 < inner < 1.6  # noise of 2 %, and what laws differ by
    assert call(monkeypatch, "predict", folder / "rubber", "ask.csv") == 2
    assert "there is a file ask-predicted.csv already" in capsys.readouterr().err


def test_what_was_measured_stands_beside_and_other_tests_extrapolate(rubber: Result) -> None:
    table = pandas.DataFrame(
        {
            "mode": ["uniaxial", "equibiaxial", "uniaxial", "ss"],
            "stretch": [1.5, 1.6, 2.0, None],
            "shear": [None, None, None, 0.5],
            "P11 (kPa)": [900.0, None, 1400.0, None],
        }
    )
    found = rubber.predict_table(table)
    assert [*found["mode"]] == ["uniaxial", "equibiaxial", "uniaxial", "simple_shear"]
    assert [*found["extrapolated"]] == [False, True, False, True]
    np.testing.assert_allclose(found["P11_measured"], [0.9, np.nan, 1.4, np.nan])
    assert found.attrs["unit"] == "MPa"
    law = rubber.predict("equibiaxial", [[1.6]]).law[0, 0]
    np.testing.assert_allclose(found["P11_law"][1], law)
    assert np.isnan(found["P11_law"][3])
    assert found["P12_law"].notna().tolist() == [False, False, False, True]


def test_rows_do_not_depend_on_their_neighbours(rubber: Result) -> None:
    stretch = np.linspace(1, 2.4, 400)
    many = rubber.predict_table(pandas.DataFrame({"stretch": stretch}))
    few = rubber.predict_table(pandas.DataFrame({"stretch": stretch[300:303]}))
    for name in ("P11_law", "P11_median", "P11_lower", "P11_upper"):
        np.testing.assert_allclose(many[name][300:303], few[name], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, float("nan")])
def test_a_level_is_a_probability(rubber: Result, level: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        rubber.predict_table(pandas.DataFrame({"stretch": [1.2]}), level=level)


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        ("shear\n0.2\n", [], "column 'stretch' is missing; needed are stretch (a strain"),
        ("stretch\n-1\n", [], "line 2, column 'stretch': a stretch must be positive"),
        ("stretch\n\n1.2\nx\n", [], "line 4, column 'stretch': 'x' is not a number"),
        ("stretch\n1.2\n", ["--experiment", "full_tensor"], "no free face"),
        ("stretch\n1.2\n", ["--experiment", "pull"], "there is no experiment 'pull'"),
        ("stretch\n1.2\n", ["--level", "2"], "between 0 and 1"),
        ("stretch\n1.2\n", ["--out", "ask.csv"], "that is the table itself"),
        ("stretch\n1.2\n", ["--out", "none/a.csv"], "there is no folder"),
    ],
)
def test_wrong_tables_are_refused_in_a_sentence(
    rubber: Result,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    more: list[str],
    message: str,
) -> None:
    assert rubber.problem.unit == "MPa"
    monkeypatch.chdir(tmp_path)
    Path("ask.csv").write_text(text)
    assert call(monkeypatch, "predict", folder / "rubber", "ask.csv", *more) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert os.listdir(tmp_path) == ["ask.csv"]


def test_report_draws_again_and_touches_nothing_else(
    rubber: Result,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = tmp_path / "run"
    shutil.copytree(folder / "rubber", run)
    (run / "figures" / "next.png").write_bytes(b"kept")
    drawn = sorted(path.name for path in (run / "figures").iterdir())
    numbers = (run / "summary.json").read_bytes()
    (run / "report.html").unlink()
    (run / "figures" / "path.png").unlink()
    assert call(monkeypatch, "report", run) == 0
    assert "again" in capsys.readouterr().out
    assert sorted(path.name for path in (run / "figures").iterdir()) == drawn
    assert (run / "figures" / "next.png").read_bytes() == b"kept"
    assert rubber.summary.law.partition("*")[0] in (run / "report.html").read_text()
    assert (run / "summary.json").read_bytes() == numbers
    assert os.listdir(tmp_path) == ["run"]


def test_a_report_that_fails_leaves_the_run_as_it_was(
    rubber: Result, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rubber.table
    run = tmp_path / "run"
    shutil.copytree(folder / "rubber", run)
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}

    def fails(outcome: object, folder: Path) -> None:
        (folder / "path.png").write_bytes(b"half")
        raise OSError("the disk is full")

    monkeypatch.setattr(figures, "draw", fails)
    with pytest.raises(OSError, match="full"):
        steinmetz.redraw(run)
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
    assert os.listdir(tmp_path) == ["run"]


def test_runs_beside_each_other(
    rubber: Result,
    smaller: Result,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    files = ("--out", "c.csv", "--picture", "c.png")
    assert call(monkeypatch, "compare", folder / "rubber", folder / "smaller", *files) == 0
    said = capsys.readouterr().out
    assert "BIC" in said
    assert "not compared" not in said
    found = pandas.read_csv("c.csv")
    assert [*found["run"]] == ["rubber", "smaller"]
    for place, result in enumerate((rubber, smaller)):
        picked = next(row for row in result.table if row.picked)
        assert found["parameters"][place] == result.law.graph.size
        np.testing.assert_allclose(found["bic"][place], picked.criterion)
        np.testing.assert_allclose(found["chi2"][place], picked.loss)
        np.testing.assert_allclose(found["r2_train"][place], present(result.scores.r2.train))
    assert Path("c.png").read_bytes().startswith(b"\x89PNG")


def test_bic_is_left_out_where_data_or_noise_differ(rubber: Result) -> None:
    train = rubber.problem.train
    moved = rubber.problem._replace(train=train._replace(values=1.01 * train.values))
    noise = rubber.study.noise.model_copy(update={"relative": 0.04})
    other = dataclasses.replace(rubber, problem=moved)
    louder = dataclasses.replace(rubber, study=rubber.study.model_copy(update={"noise": noise}))
    found = steinmetz.compare([rubber, other, louder])
    assert [line.bic for line in found.lines] == [None] * 3
    assert "other data than" in found.differences[0]
    assert "another noise than" in found.differences[1]
    (axis,) = found.plot().axes
    assert len(axis.get_lines()) == 3
    assert [*found.frame()["parameters"]] == [line.parameters for line in found.lines]
    assert "BIC is not compared" in repr(found)
    again = steinmetz.compare([rubber, other, rubber])
    assert [line.bic is None for line in again.lines] == [False, True, False]


def test_other_materials_and_single_runs_are_refused(rubber: Result) -> None:
    with pytest.raises(InputError, match="two runs or more"):
        steinmetz.compare([rubber])
    soft = rubber.study.material.model_copy(update={"incompressible": False})
    other = dataclasses.replace(rubber, study=rubber.study.model_copy(update={"material": soft}))
    with pytest.raises(InputError, match="laws of different materials cannot be compared"):
        steinmetz.compare([rubber, other])
