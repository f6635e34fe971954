"""Spreadsheets and Parquet: read where their packages are, and a sentence where they are not."""

import importlib.util
from pathlib import Path

import pandas
import pytest

from steinmetz import InputError
from steinmetz.data import formats, table
from steinmetz.data.complaints import Complaints


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that pandas asks for seems to be installed."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())


def book(monkeypatch: pytest.MonkeyPatch, file: Path, sheets: dict[str, pandas.DataFrame]) -> None:
    """A workbook with these sheets."""
    file.write_bytes(f"PK {' '.join(sheets)}".encode())  # each its own content
    monkeypatch.setattr(pandas, "read_excel", lambda *_, **__: sheets)


CELLS = pandas.DataFrame([["stretch", "P11 (MPa)"], [1.0, None], [1.5, 0.25]], dtype=object)
NOTHING = pandas.DataFrame()


@pytest.mark.usefixtures("installed")
def test_one_sheet_is_read_with_its_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.ods"
    book(monkeypatch, file, {"data": CELLS, "empty": NOTHING})
    found = table.read(file, Complaints())
    assert found.columns == ("stretch", "P11 (MPa)")
    assert list(found.rows) == [["1.0", ""], ["1.5", "0.25"]]
    assert found.lines == [2, 3]


@pytest.mark.usefixtures("installed")
def test_several_sheets_must_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.ods"
    book(monkeypatch, file, {"one": CELLS, "two": CELLS})
    with pytest.raises(InputError, match=r"2 sheets \(one, two\); name one, such as 'a.ods#one'"):
        table.read(file, Complaints())
    assert table.read(tmp_path / "a.ods#two", Complaints()).rows[1] == ["1.5", "0.25"]
    with pytest.raises(InputError, match="there is no sheet 'three'"):
        table.read(tmp_path / "a.ods#three", Complaints())
    assert formats.file_of(str(tmp_path / "a.ods#two")) == file


@pytest.mark.parametrize("name", ["a.xlsx", "a.parquet"])
def test_a_missing_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name).write_bytes(b"PK")
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: None)
    with pytest.raises(InputError, match=r"needs the package pandas; .*steinmetz\[tables\]"):
        table.read(tmp_path / name, Complaints())


@pytest.mark.parametrize(("name", "package"), [("a.xlsx", "openpyxl"), ("a.parquet", "pyarrow")])
def test_a_package_that_pandas_reads_with_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    (tmp_path / name).write_bytes(b"PK")
    monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n == package else object())
    with pytest.raises(InputError, match=rf"needs the package {package}; .*steinmetz\[tables\]"):
        table.read(tmp_path / name, Complaints())


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", ["a.xlsx", "a.parquet"])
def test_a_damaged_file_is_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04 not a book")
    with pytest.raises(InputError, match="cannot be read"):
        table.read(tmp_path / name, Complaints())


def test_a_frame_as_lines() -> None:
    frame = pandas.DataFrame({"mode": ["uniaxial", None], "P11": [0.1, float("nan")], "n": [1, 2]})
    assert list(formats.grid(frame)) == [
        (1, ["mode", "P11", "n"]),
        (2, ["uniaxial", "0.1", "1"]),
        (3, ["", "", "2"]),
    ]
