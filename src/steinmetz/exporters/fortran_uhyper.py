"""A UHYPER in Fortran for Abaqus: slopes to the third order in modified invariants."""

from steinmetz.exporters.base import NOBODY, About
from steinmetz.exporters.program import comments, solver
from steinmetz.exporters.program.templates import filled
from steinmetz.exporters.program.trace import trace
from steinmetz.potentials.law import Law

SUFFIX = ".f"
_CONVENTIONS = [
    "UHYPER for Abaqus: U and its slopes in the modified invariants BI1 = I1 J^(-2/3), "
    "BI2 = I2 J^(-4/3) and J. UI2: 11, 22, JJ, 12, 1J, 2J; UI3: 11J, 22J, 12J, 1JJ, 2JJ, JJJ. "
    "U(2) is U less its value at BI1 = BI2 = 3. Use *HYPERELASTIC, USER."
]


def export(law: Law, about: About = NOBODY) -> str:
    """The routine, and what it calls."""
    formula = trace(law, "fortran_uhyper")
    declare, lines = solver.modified(formula)
    head = comments.head(law, about, formula, _CONVENTIONS)
    count = str(len(formula.parameters))
    top = filled("uhyper.f.txt", head=head, count=count, declare=declare, potential=lines)
    return solver.with_functions(top)
