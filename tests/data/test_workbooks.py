"""Real workbooks of several sheets and real Parquet files, from the file to what is understood."""

from pathlib import Path

import numpy as np
import pandas
import pytest

import steinmetz
from steinmetz import InputError
from steinmetz.data import table
from steinmetz.data.complaints import Complaints
from steinmetz.engine.blocks import tables
from steinmetz.studies import measured

PULL: list[list[object]] = [["# mode: uniaxial"], ["Stretch", "P11", "remark"], ["-", "MPa"]]
PULL += [[1, 0, "rest"], [1.1, 0.25], [None, None], [1.2, "#N/A"], [1.3, 0.7]]
BULGE: list[list[object]] = [["mode", "strain (%)", "true stress (kPa)"]]
BULGE += [["equibiaxial", 0, 0], ["equibiaxial", 10, 550.0], ["equibiaxial", 20, 1200.0]]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A workbook of two tests, a sheet of notes and an empty one."""
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl reads Excel files")
    made = openpyxl.Workbook()
    made.active.title = "empty"
    notes: list[list[object]] = [["made in May"]]
    for name, rows in {"pull": PULL, "bulge": BULGE, "notes": notes}.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(tmp_path / "tests.xlsx")
    return tmp_path / "tests.xlsx"


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    """A Parquet file with types that a DataFrame may have."""
    pytest.importorskip("pyarrow", reason="pyarrow reads Parquet files")
    frame = pandas.DataFrame({
        "mode": pandas.Categorical(["uniaxial", "uniaxial", "pure_shear", "pure_shear"]),
        "stretch": np.array([1.1, 1.2, 1.25, 1.5], "float32"),
        "nominal_stress_MPa": pandas.array([1, None, 2, 3], dtype="Int64"),
    })  # fmt: skip
    frame.to_parquet(tmp_path / "tests.parquet")
    return tmp_path / "tests.parquet"


def test_a_sheet_of_several_must_be_named(book: Path) -> None:
    with pytest.raises(InputError, match=r"3 sheets \(pull, bulge, notes\); name one, such as"):
        table.read(book, Complaints())


def test_sheets_of_one_book_are_fitted_together(book: Path) -> None:
    sheets = [Path(f"{book}#pull"), Path(f"{book}#bulge")]
    study = measured.jointly(sheets, [None, None], (0.05, 0.0))
    pull, bulge = tables(study)
    assert [pull.experiment.name, bulge.experiment.name] == ["uniaxial", "equibiaxial"]
    assert pull.unit == bulge.unit == "MPa"
    np.testing.assert_array_equal(pull.table.column("P11"), [0, 0.25, np.nan, 0.7])
    np.testing.assert_array_equal(pull.table.lines, [4, 5, 7, 8])
    np.testing.assert_allclose(bulge.table.column("P11"), [0, 0.5, 1.0])
    assert "line 3 read as units" in pull.notes
    assert "columns not used: remark" in pull.notes


def test_the_command_reads_a_sheet(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(book.parent)
    found = steinmetz.check("tests.xlsx#bulge")
    assert "test        equibiaxial (incompressible)" in repr(found)
    with pytest.raises(InputError, match="there is no sheet 'push' with cells in it"):
        steinmetz.check("tests.xlsx#push")


def test_a_sheet_without_a_table_is_one_sentence(book: Path) -> None:
    with pytest.raises(InputError, match="notes"):
        steinmetz.check(f"{book}#notes", "uniaxial")


def test_columns_of_a_parquet_file_keep_their_values(columns: Path) -> None:
    study = measured.jointly([columns], [None], (0.05, 0.0))
    pull, shear = tables(study)
    np.testing.assert_array_equal(pull.table.column("stretch"), np.array([1.1, 1.2], "float32"))
    np.testing.assert_array_equal(pull.table.column("P11"), [1, np.nan])
    np.testing.assert_array_equal(shear.table.column("P11"), [2, 3])
    assert pull.unit == "MPa"


@pytest.mark.long
def test_a_run_takes_its_workbook_along(book: Path, tmp_path: Path) -> None:
    """The saved study finds the sheet again when the first file is gone."""
    cheap: dict[str, object] = {
        "infer.particles": 8,
        "infer.steps": 10,
        "potential.most": 1,
        "assess.across": False,
    }
    cheap |= {"assess.path_points": 12, "assess.certificate_states": 50, "data.measure": "cauchy"}
    result = steinmetz.fit(f"{book}#bulge", changes=cheap)
    result.save(tmp_path / "run")
    book.unlink()
    again = steinmetz.load(tmp_path / "run")
    np.testing.assert_array_equal(again.particles, result.particles)


def test_one_cell_far_below_is_a_line_like_any_other(book: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl reads Excel files")
    made = openpyxl.load_workbook(book)
    made["pull"].cell(200_000, 1).value = 1.5
    made["pull"].cell(200_000, 2).value = 0.9
    made.save(book)
    sheet = table.read(Path(f"{book}#pull"), Complaints())
    assert (len(sheet.lines), sheet.lines[-1]) == (6, 200_000)


def test_one_cell_in_the_last_corner_is_one_line_too_wide(tmp_path: Path) -> None:
    """Sixteen thousand million cells, if each were kept."""
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl reads Excel files")
    made = openpyxl.Workbook()
    made.active.append(["stretch", "P11"])
    made.active.cell(1_048_576, 16_384).value = 1
    made.save(tmp_path / "corner.xlsx")
    complaints = Complaints()
    assert table.read(tmp_path / "corner.xlsx", complaints).lines == []
    with pytest.raises(InputError, match="line 1048576: 16384 cells where the header names 2"):
        complaints.raise_any()


def test_errors_and_whole_numbers_of_cells(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl reads Excel files")
    made = openpyxl.Workbook()
    for row in (["stretch", "P11"], [1.0, "#DIV/0!"], [1.25, True], [2, "NA"]):
        made.active.append(row)
    made.save(tmp_path / "cells.xlsx")
    rows = list(table.read(tmp_path / "cells.xlsx", Complaints()).rows)
    assert rows == [["1", ""], ["1.25", "True"], ["2", "NA"]]
