"""A UMAT in Fortran for Abaqus: Cauchy's stress and DDSDDE, with the constants as PROPS."""

from steinmetz.exporters.base import NOBODY, About
from steinmetz.exporters.program import comments, solver
from steinmetz.exporters.program.templates import filled
from steinmetz.exporters.program.trace import trace
from steinmetz.potentials.law import Law

SUFFIX = ".f"
_CONVENTIONS = [
    "UMAT for Abaqus/Standard: STRESS is Cauchy's, DDSDDE the modulus of the Jaumann rate of "
    "Kirchhoff's stress over J, in the order 11, 22, 33, 12, 13, 23, from DFGRD1 alone. Use "
    "*STEP, NLGEOM=YES. It is symmetric, needs no state variables and no *ORIENTATION. Solid, "
    "plane strain and axisymmetric elements; hybrid ones where K is large."
]


def export(law: Law, about: About = NOBODY) -> str:
    """The routine, and what it calls."""
    formula = trace(law, "fortran_umat")
    head = comments.head(law, about, formula, _CONVENTIONS)
    top = filled("umat.f.txt", head=head, count=str(len(formula.parameters)))
    return solver.with_tensors(top, formula, "cauchy.f.txt")
