"""Files as lines of text cells: plain text, Excel and Parquet.

Excel and Parquet are read by pandas with packages that are not installed by default; what is
missing is named in one sentence.
"""

import functools
import importlib
import importlib.util
import io
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

from steinmetz import reading
from steinmetz.errors import InputError

if TYPE_CHECKING:
    import pandas

Grid: TypeAlias = Iterable[tuple[int, list[str]]]
"""Lines of cells with their numbers in the file."""
Lines: TypeAlias = Iterator[tuple[int, list[str]]]
"""The same, made one after the other."""

EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")
PARQUET = (".parquet", ".pq")
# Which package pandas reads an ending with.
_ENGINES = {
    **{".xlsx": "openpyxl", ".xlsm": "openpyxl", ".xls": "xlrd", ".ods": "odf"},
    **dict.fromkeys(PARQUET, "pyarrow"),
}
# Bytes above which a file is hardly a table, and rows of a data frame that are text at once.
_LARGEST, _AT_ONCE = 1_000_000_000, 20_000
_INSTALLED_BY = {"openpyxl": "steinmetz[tables]", "pyarrow": "steinmetz[tables]", "odf": "odfpy"}


def split_sheet(path: Path) -> tuple[Path, str]:
    """FILE.xlsx#sheet as a file and the name of a sheet; the name is empty where none is said."""
    head, hash_, sheet = str(path).rpartition("#")
    if hash_ and not path.exists() and Path(head).suffix.lower() in EXCEL:
        return Path(head), sheet
    return path, ""


def file_of(table: str) -> Path:
    """The file that a table lies in, whichever sheet of it is meant."""
    return split_sheet(Path(table))[0]


def is_spreadsheet(path: Path) -> bool:
    """Whether a file is one of Excel or LibreOffice, by its ending."""
    return split_sheet(path)[0].suffix.lower() in EXCEL


def text(path: Path) -> str:
    """The text of a file in UTF-8, or UTF-16 if it says so."""
    raw = reading.content(path, _LARGEST)
    wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        found = raw.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        words = "not a text file in UTF-8; save the table as CSV (UTF-8)"
        raise InputError(f"{path}: {words}") from None
    if "\0" in found:
        words = "not a text file (it holds NUL bytes); save the table as CSV (UTF-8)"
        raise InputError(f"{path}: {words}")
    return found


def spreadsheet(path: Path) -> Grid:
    """One sheet: the only one, or the one that FILE#sheet names."""
    file, wanted = split_sheet(path)
    _pandas(file)
    try:
        named = _sheets(reading.content(file), _ENGINES[file.suffix.lower()])
    except InputError:
        raise
    except Exception as error:
        raise InputError(_damaged(file, error)) from None
    if wanted and wanted not in named:
        words = f"there is no sheet '{wanted}' with cells in it; possible: {', '.join(named)}"
        raise InputError(f"{file}: {words}")
    if not wanted and len(named) > 1:
        first = next(iter(named))
        raise InputError(
            f"{file}: {len(named)} sheets ({', '.join(named)}); name one, such as "
            f"'{file.name}#{first}'"
        )
    if not named:
        raise InputError(f"{file}: every sheet is empty")
    return named[wanted] if wanted else next(iter(named.values()))


@functools.lru_cache(maxsize=4)
def _sheets(raw: bytes, package: str) -> dict[str, list[tuple[int, list[str]]]]:
    """Lines of every sheet that hold something; a file that is asked for again is not read again.

    One cell far below makes a million empty lines, with pandas in seconds and much memory.
    """
    with reading.little_memory(len(raw)):
        every = _by_openpyxl(raw) if package == "openpyxl" else _by_pandas(raw)
        return {name: lines for name, lines in every.items() if lines}


def _by_openpyxl(raw: bytes) -> dict[str, list[tuple[int, list[str]]]]:
    book = importlib.import_module("openpyxl").load_workbook(
        io.BytesIO(raw), read_only=True, data_only=True, keep_links=False
    )
    found = {}
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # what a file states of its size need not be true
        lines = []
        for number, row in enumerate(sheet.rows, start=1):
            cells = [_cell(_value(cell.data_type, cell.value)) for cell in row]
            if any(cells):
                lines.append((number, cells))
        width = max((len(cells) for _, cells in lines), default=0)
        found[sheet.title] = [(i, cells + [""] * (width - len(cells))) for i, cells in lines]
    return found


def _value(kind: str, value: object) -> object:
    """What a cell of a workbook holds; whole numbers are written without a point there."""
    if kind == "e":  # such as a division by zero
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _by_pandas(raw: bytes) -> dict[str, list[tuple[int, list[str]]]]:
    import pandas

    every = pandas.read_excel(io.BytesIO(raw), sheet_name=None, header=None, dtype=object)
    return {
        str(name): [
            (int(i) + 1, [_cell(cell) for cell in row])
            for i, row in zip(frame.index, frame.values.tolist(), strict=True)
        ]
        for name, frame in ((name, frame.dropna(how="all")) for name, frame in every.items())
    }


def parquet(path: Path) -> Grid:
    """Column names and rows of a Parquet file."""
    pandas, raw = _pandas(path), reading.content(path, _LARGEST)
    try:
        with reading.little_memory(len(raw)):
            frame = pandas.read_parquet(io.BytesIO(raw))
    except Exception as error:
        raise InputError(_damaged(path, error)) from None
    return grid(frame)


def grid(frame: "pandas.DataFrame") -> Lines:
    """A DataFrame as lines: its column names first."""
    yield 1, [str(name) for name in frame.columns]
    for first in range(0, len(frame), _AT_ONCE):
        some = frame.iloc[first : first + _AT_ONCE].astype(object).values.tolist()
        for number, row in enumerate(some, start=first + 2):
            yield number, [_cell(cell) for cell in row]


def _cell(value: object) -> str:
    """A cell as text that is read back exactly; what is missing is empty."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool | int | float):
        return repr(value)
    if hasattr(value, "item"):
        return _cell(value.item())
    text = str(value)
    return "" if text in ("<NA>", "NaT") else text


def _pandas(path: Path) -> ModuleType:
    """pandas, if it and what it reads this file with are installed."""
    package = _ENGINES[path.suffix.lower()]
    for needed in ("pandas", package):
        if importlib.util.find_spec(needed) is None:
            install = _INSTALLED_BY.get(package, package)
            raise InputError(
                f"{path}: reading {path.suffix} files needs the package {needed}; install it "
                f"(pip install '{install}'), or save the table as CSV"
            )
    return importlib.import_module("pandas")


def _damaged(path: Path, error: Exception) -> str:
    """One sentence about a file that another package could not read."""
    reason = reading.trouble(error)
    return f"{path}: the file cannot be read ({reason}); save the table as CSV"
