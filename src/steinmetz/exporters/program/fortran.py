"""Statements in Fortran, in fixed form."""

from collections.abc import Iterator, Mapping

from steinmetz.exporters.program.language import Language, statements
from steinmetz.exporters.program.nodes import Node

# Columns of statements in fixed form.
_FIRST, _LAST = 7, 72
_INVARIANTS = {"I1": "XI1", "I2": "XI2", "J": "AJ"}


def _number(value: float) -> str:
    """A number in double precision."""
    mantissa, _, exponent = repr(float(value)).partition("e")
    return f"{mantissa}D{int(exponent or 0)}"


def _symbol(name: str) -> str:
    return f"C({int(name[1:]) + 1})" if name.startswith("p") else _INVARIANTS[name]


FORTRAN = Language(
    number=_number,
    calls={
        "exp": "SMEXP({0})",
        "log": "LOG({0})",
        "sqrt": "SQRT({0})",
        "softplus": "SMSOFT({0})",
        "logistic": "SMLOGI({0})",
        "less": "{0} .LT. {1}",
        "where": "MERGE({1}, {2}, {0})",
        "least": "MIN({0}, {1})",
        "most": "MAX({0}, {1})",
        "integral": "SMINTE({order}, {0}, {1}, {2}, {3})",
    },
    power="{0}**{1}",
    assign="{name} = {value}",
    symbol=_symbol,
)


def body(outputs: Mapping[str, Node]) -> tuple[list[str], list[str]]:
    """Declarations of the steps between, and the statements."""
    lines = statements(outputs, FORTRAN)
    names = [line.split(" = ")[0] for line in lines[: -len(outputs)]]
    rows = [names[start : start + 8] for start in range(0, len(names), 8)]
    declared = [f"DOUBLE PRECISION {', '.join(row)}" for row in rows]
    spread = [[part for line in each for part in _broken(line)] for each in (declared, lines)]
    return spread[0], spread[1]


def _broken(line: str) -> Iterator[str]:
    """A statement over as many lines as it needs, broken at blanks where there are some."""
    width = _LAST - _FIRST + 1
    start = " " * 6
    while len(line) > width:
        cut = line.rfind(" ", width // 2, width) + 1 or width
        yield f"{start}{line[:cut]}".rstrip()
        line, start = line[cut:], " " * 5 + "&"
    yield start + line


def joined(*parts: str) -> str:
    """Parts of a file one after the other."""
    return "\n".join(parts).strip()
