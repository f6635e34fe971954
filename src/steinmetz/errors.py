"""The two exceptions a user is meant to read, and what is said of a disk."""

import re
from collections.abc import Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """Wrong input: one sentence that says what was asked, what was got and what is possible.

    The command line prints it and leaves with exit code 2. Everything that can raise it runs before
    a result directory is touched.
    """


class RunFailure(RuntimeError):
    """A run that could not give a result: one sentence with what to try. Exit code 1."""


@contextmanager
def about(place: object) -> Iterator[None]:
    """What is wrong in here is wrong at this place: a file, or a setting."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def unwritten(error: OSError) -> str:
    """Why something was not written, in the words of the system, and where if that is known."""
    hidden = re.search(r"error message = '([^']*)'", str(error))  # HDF5 hides it in a long text
    words = error.strerror or (hidden[1] if hidden else str(error).partition("\n")[0])
    return words.lower() + (f" ({error.filename})" if error.filename else "")
