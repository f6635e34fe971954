"""The CSV reader: what it takes, and where it says what is wrong."""

from pathlib import Path

import numpy as np
import pytest

from steinmetz import InputError
from steinmetz.data import table
from steinmetz.data.table import Table


def read(tmp_path: Path, text: str, encoding: str = "utf-8") -> Table:
    file = tmp_path / "data.csv"
    file.write_bytes(text.encode(encoding))
    return table.read(file)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiters_comments_blank_lines_and_byte_order_mark(
    tmp_path: Path, delimiter: str
) -> None:
    text = "\ufeff# a comment\na,b\n\n1,2\n#no\n3e-1, \n".replace(",", delimiter)
    found = read(tmp_path, text)
    assert found.columns == ("a", "b")
    np.testing.assert_array_equal(found.values, [[1, 2], [0.3, np.nan]])
    np.testing.assert_array_equal(found.lines, [4, 6])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no header"),
        ("a,b\n", "no data rows"),
        ("1,2\n3,4\n", "must name the columns"),
        ("a,a\n1,2\n", "column 'a' appears twice"),
        ("a,b\n1,2,3\n", "line 2: 3 cells where the header names 2"),
        ("a,b\n1,2\n1,two\n", "line 3, column 'b': 'two' is not a number"),
        ("a,b\n1,inf\n", "line 2, column 'b': 'inf' is not finite"),
        ("a,b\n1,1_0\n", "column 'b': '1_0' is not a number"),
        ("a\0,b\n1,2\n", "NUL"),
    ],
)
def test_faults_are_named_with_their_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)


def test_binary_missing_and_directory(tmp_path: Path) -> None:
    (tmp_path / "binary.csv").write_bytes(bytes(range(128, 256)))
    with pytest.raises(InputError, match="UTF-8"):
        table.read(tmp_path / "binary.csv")
    with pytest.raises(InputError, match="no such file"):
        table.read(tmp_path / "none.csv")
    with pytest.raises(InputError, match="cannot read"):
        table.read(tmp_path)
