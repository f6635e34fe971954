"""Tables as text: what is read, and where it says what is wrong."""

from pathlib import Path

import pytest

from steinmetz import InputError
from steinmetz.data import table
from steinmetz.data.complaints import Complaints
from steinmetz.data.table import Sheet


def read(tmp_path: Path, text: str, encoding: str = "utf-8") -> Sheet:
    file = tmp_path / "data.csv"
    file.write_bytes(text.encode(encoding))
    complaints = Complaints()
    sheet = table.read(file, complaints)
    complaints.raise_any()
    return sheet


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiters_comments_blank_lines_and_byte_order_mark(
    tmp_path: Path, delimiter: str
) -> None:
    text = "\ufeff# a comment\na,b\n\n1,2\n#no\n3e-1, \n".replace(",", delimiter)
    found = read(tmp_path, text)
    assert found.columns == ("a", "b")
    assert list(found.rows) == [["1", "2"], ["3e-1", ""]]
    assert found.lines == [4, 6]


def test_wide_text_of_spreadsheets_and_line_ends_of_old(tmp_path: Path) -> None:
    assert list(read(tmp_path, "a\tb\r\n1\t2\r\n", "utf-16").rows) == [["1", "2"]]
    assert read(tmp_path, "a,b\r1,2\r3,4\r").lines == [2, 3]


def test_decimal_commas_where_no_point_contradicts_them(tmp_path: Path) -> None:
    found = read(tmp_path, "a;b\n1,5;2\n-0,25;1e3\n")
    assert list(found.rows) == [["1.5", "2"], ["-0.25", "1e3"]]
    assert found.notes == ["decimal commas read as points"]
    assert list(read(tmp_path, "a;b\n1,5;2.5\n").rows) == [["1,5", "2.5"]]


def test_trailing_empty_columns_are_dropped(tmp_path: Path) -> None:
    found = read(tmp_path, "a,b,,\n1,2,,\n3,4,,,\n")
    assert found.columns == ("a", "b")
    assert list(found.rows) == [["1", "2"], ["3", "4"]]


def test_a_row_that_begins_with_an_error_of_a_spreadsheet_is_no_comment(tmp_path: Path) -> None:
    assert list(read(tmp_path, "a,b\n#N/A,2\n").rows) == [["#N/A", "2"]]


def test_comments_declare(tmp_path: Path) -> None:
    found = read(tmp_path, "# Unit: MPa\n# mode = uniaxial,,\n# of Tuesday\na,b\n1,2\n")
    assert found.declared == {"unit": "MPa", "mode": "uniaxial"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no header"),
        ("a,b\n", "no data rows"),
        ("1,2\n3,4\n", "must name the columns"),
        ("a,a\n1,2\n", "column 'a' appears twice"),
        ("a,b\n1,2,3\n", "line 2: 3 cells where the header names 2"),
        ("a,,b\n1,7,2\n", "column 2 has no name but holds values"),
        ("stretch P11\n1 2\n", "separate columns by comma"),
        ("a\0,b\n1,2\n", "NUL"),
    ],
)
def test_faults_are_named_with_their_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)


def test_binary_missing_and_directory(tmp_path: Path) -> None:
    (tmp_path / "binary.csv").write_bytes(bytes(range(128, 256)))
    for name, message in (("binary.csv", "UTF-8"), ("none.csv", "no such file")):
        with pytest.raises(InputError, match=message):
            table.read(tmp_path / name, Complaints())
    with pytest.raises(InputError, match="cannot read"):
        table.read(tmp_path, Complaints())


def test_written_and_read_back(tmp_path: Path) -> None:
    rows = [["a, b", 'say "x"'], ["0.1", ""]]
    table.write(tmp_path / "t.csv", list(enumerate(rows)))
    found = table.read(tmp_path / "t.csv", Complaints())
    assert [list(found.columns), *found.rows] == rows
