"""Parts that routines for solvers in Fortran share."""

from steinmetz.exporters.program.contour import PARTS
from steinmetz.exporters.program.fortran import body, joined
from steinmetz.exporters.program.slopes import slope
from steinmetz.exporters.program.templates import filled
from steinmetz.exporters.program.trace import PAIRS, Formula, X

# Third slopes that Abaqus asks for, as places of second ones and a variable: 11J, 22J, 12J, 1JJ,
# 2JJ, JJJ.
_THIRD = ((0, 2), (1, 2), (3, 2), (4, 2), (5, 2), (2, 2))


def with_functions(top: str) -> str:
    """A routine with the functions that formulas call."""
    return joined(top, filled("functions.f.txt", **PARTS))


def with_tensors(top: str, formula: Formula, assembly: str) -> str:
    """A routine with the potential, and what makes stress and tangent of it."""
    names = ["PSI", *(f"D({n})" for n in (1, 2, 3)), *(f"DD({n})" for n in range(1, 7))]
    values = (formula.energy, *formula.slopes, *formula.curvatures)
    declare, lines = body(dict(zip(names, values, strict=True)))
    tensors = filled("tensors.f.txt", declare=declare, potential=lines)
    return with_functions(joined(top, filled(assembly), tensors))


def modified(formula: Formula) -> tuple[list[str], list[str]]:
    """Statements of U and its slopes to the third order in the modified invariants."""
    energy = formula.modified
    first = [slope(energy, x) for x in X]
    second = [slope(first[i], X[j]) for i, j in PAIRS]
    third = [slope(second[i], X[j]) for i, j in _THIRD]
    names = ["U(1)"]
    for name, count in (("UI1", 3), ("UI2", 6), ("UI3", 6)):
        names += [f"{name}({n})" for n in range(1, count + 1)]
    return body(dict(zip(names, (energy, *first, *second, *third), strict=True)))
