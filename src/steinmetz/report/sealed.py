"""Files of a run as they were written: `SHA256SUMS` names what each of them holds.

The file is one that `sha256sum --check` understands. NetCDF is read by a C library, which should
never see a file that was damaged, so those are compared before they are opened.
"""

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import xarray

from steinmetz import reading
from steinmetz.errors import InputError

SUMS = "SHA256SUMS"
# Bytes above which a file is hardly a posterior.
_LARGEST = 16_000_000_000


def sums(folder: Path) -> str:
    """A line for every file below a folder that a run is read back from."""
    kept = [path for path in sorted(folder.rglob("*")) if path.is_file() and _is_data(path, folder)]
    return "\n".join(f"{_digest(path)}  {path.relative_to(folder)}" for path in kept)


def _is_data(path: Path, folder: Path) -> bool:
    """Whether a file is neither drawn nor a page, which can be made again."""
    top = path.relative_to(folder).parts[0]
    return top not in ("figures", "report.html", SUMS)


def _digest(path: Path) -> str:
    return hashlib.sha256(reading.content(path, _LARGEST)).hexdigest()


@contextmanager
def opened(path: Path) -> Iterator[xarray.DataTree]:
    """The groups of a NetCDF file; what goes wrong with it inside is one sentence, too."""
    content = reading.content(path, _LARGEST)
    _check(path, hashlib.sha256(content).hexdigest())
    try:
        with xarray.open_datatree(io.BytesIO(content), engine="h5netcdf") as tree:
            yield tree
    except Exception as error:  # another library's: it does not say which
        words = (str(error) or type(error).__name__).splitlines()[0][:120]
        raise InputError(f"{path} is damaged ({words}); run the study again") from None


def _check(path: Path, digest: str) -> None:
    """Compare with the list of the folder."""
    listed = path.parent / SUMS
    if not listed.is_file():
        words = f"{SUMS} is missing, which says whether {path.name} is whole"
        raise InputError(f"{path.parent}: {words}; run the study again")
    lines = reading.content(listed).decode(errors="replace").splitlines()
    if f"{digest}  {path.name}" not in lines:
        words = f"its content is not that of {SUMS}"
        raise InputError(f"{path} is damaged ({words}); run the study again")
