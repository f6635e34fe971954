"""Complaints about tables: collected, then said all at once, each with its place and remedy."""

from typing import NamedTuple

from steinmetz.errors import InputError

# So many are printed; the rest are counted.
_MOST = 10
_LINES = 4


class Place(NamedTuple):
    """Where something is: a table, a column of it as written there, or neither."""

    source: str
    column: str = ""


class Complaint(NamedTuple):
    """One thing that is wrong in some lines of one column.

    `words` begin with what stands there in the first of the lines, and say what to do.
    """

    place: Place
    words: str
    lines: tuple[int, ...] = ()

    @property
    def sentence(self) -> str:
        """Place, fault and remedy."""
        where = [self.place.source] if self.place.source else []
        where += [f"line {self.lines[0]}"] if self.lines else []
        where += [f"column '{self.place.column}'"] if self.place.column else []
        more = self.lines[1:]
        also = ", ".join(map(str, more[:_LINES])) + (" …" if len(more) > _LINES else "")
        rest = f" (and in {_counted(len(more))}: {also})" if more else ""
        return f"{', '.join(where)}: {self.words}{rest}" if where else f"{self.words}{rest}"


def _counted(count: int) -> str:
    return "one further line" if count == 1 else f"{count} further lines"


class Complaints:
    """A list that is added to while tables are read, and raised at the end."""

    def __init__(self) -> None:
        self._found: dict[tuple[Place, str], tuple[str, list[int]]] = {}

    def __len__(self) -> int:
        return len(self._found)

    def add(self, place: Place, words: str, line: int | None = None, kind: str = "") -> None:
        """One more; what is of the same kind in the same column is said once for all its lines."""
        _, lines = self._found.setdefault((place, kind or words), (words, []))
        if line is not None:
            lines.append(line)

    def sentences(self) -> list[str]:
        """All of them."""
        found = self._found.items()
        return [Complaint(key[0], words, tuple(lines)).sentence for key, (words, lines) in found]

    def raise_any(self) -> None:
        """One error of one line for one complaint; else the first of them, a line each."""
        said = self.sentences()
        if len(said) == 1:
            raise InputError(said[0])
        if said:
            rest = [f"… and {len(said) - _MOST} more"] if len(said) > _MOST else []
            head = f"{len(said)} things are wrong with the data:"
            raise InputError("\n  ".join([head, *said[:_MOST], *rest]))
